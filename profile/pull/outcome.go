package pull

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// Outcome is the result of a pull. Each outcome calls for a different remedy.
type Outcome string

// The outcomes.
const (
	// OK means that the profile decodes and is saved. A profile without samples has a note.
	OK Outcome = "ok"
	// NotAsked means that nothing was requested: the address of the HTTP server is unknown, or the time for the
	// process was over.
	NotAsked Outcome = "not asked"
	// Unreachable means that the host was not found, has no route, or was not connected in time.
	Unreachable Outcome = "unreachable"
	// Refused means that the host responds but nothing listens on the port.
	Refused Outcome = "refused"
	// TimedOut means that the connection was made, but the response was not complete within the window and the
	// timeout.
	TimedOut Outcome = "timed out"
	// Denied means that credentials or a certificate are missing or wrong.
	Denied Outcome = "denied"
	// NotFound means that the server has no such profile at the URL.
	NotFound Outcome = "not found"
	// Redirected means that the server redirects. Redirects are not followed, because credentials would be sent along.
	Redirected Outcome = "redirected"
	// Busy means that another profile of the kind was running for longer than BusyWait.
	Busy Outcome = "busy"
	// NoProfile means that the response is not a profile: an HTML page, text, or bytes that do not decode.
	NoProfile Outcome = "no profile"
	// TooLarge means that the response is larger than the limit.
	TooLarge Outcome = "too large"
	// CutOff means that the connection was closed before the response was complete.
	CutOff Outcome = "cut off"
	// Failed means that the server responded with an error.
	Failed Outcome = "failed"
	// Interrupted means that the pull was canceled.
	Interrupted Outcome = "interrupted"
)

// failure is the reason why a pull has no profile.
type failure struct {
	outcome Outcome
	reason  string
	// hint is an instruction for the user; "" if nothing is known to help.
	hint string
	// again is true if the same request may succeed at once over another connection.
	again bool
}

func (f *failure) Error() string { return f.reason }

func failed(outcome Outcome, format string, args ...any) *failure {
	return &failure{outcome: outcome, reason: fmt.Sprintf(format, args...)}
}

func (f *failure) hinted(format string, args ...any) *failure {
	f.hint = fmt.Sprintf(format, args...)
	return f
}

// worded is an error of a dialer that provides its outcome.
type worded interface {
	error
	Word() string
}

// connectFailure returns the failure for an error of connecting, including TLS.
func connectFailure(err error, patience time.Duration) *failure {
	var known *failure
	var own worded
	var dns *net.DNSError
	var verify *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return failed(Interrupted, "stopped before a connection was made")
	case errors.As(err, &own):
		return failed(outcomeOfWord(own.Word()), "%v", own)
	case errors.As(err, &verify):
		return failed(Denied, "the server's certificate is not valid: %v", verify.Err).
			hinted("give its CA with --ca, or skip verification with --insecure")
	case errors.As(err, &notTLS):
		return failed(Denied, "the server does not speak TLS").hinted("use http:// instead of https://")
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls"):
		return failed(Denied, "the server refuses the TLS handshake: %v", err).
			hinted("it may require a client certificate: --cert and --key")
	case errors.As(err, &dns) && dns.IsNotFound:
		return failed(Unreachable, "no such host: %s", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(Refused, "nothing is listening on the port: connection refused")
	case isTimeout(err):
		return failed(Unreachable, "no connection within %s", patience)
	case isCut(err):
		return failed(CutOff, "the server closed the connection at once")
	}
	return failed(Unreachable, "%v", err)
}

// outcomeOfWord maps an outcome word of gRPC requests to an Outcome; other words become Unreachable.
func outcomeOfWord(word string) Outcome {
	switch o := Outcome(word); o {
	case NotAsked, Unreachable, Refused, TimedOut, Denied, CutOff:
		return o
	default:
		return Unreachable
	}
}

// answerFailure returns the failure for a missing or incomplete response.
func answerFailure(err error, patience time.Duration) *failure {
	var known *failure
	var own worded
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return failed(Interrupted, "stopped before the response was complete")
	case errors.As(err, &own), strings.Contains(err.Error(), "remote error: tls"): // TLS 1.3 reports a missing client certificate only here
		return connectFailure(err, patience)
	case isTimeout(err):
		return failed(TimedOut, "no complete response within %s", patience)
	case isCut(err):
		return failed(CutOff, "the server closed the connection before the response was complete")
	case strings.Contains(err.Error(), "malformed"):
		return failed(NoProfile, "not an HTTP server")
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return failed(Denied, "the server does not speak TLS").hinted("use http:// instead of https://")
	}
	return failed(Failed, "%v", err)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
