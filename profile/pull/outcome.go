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
	// retryable is true if the same request may succeed at once over another connection.
	retryable bool
}

func (f *failure) Error() string { return f.reason }

func newFailure(outcome Outcome, format string, args ...any) *failure {
	return &failure{outcome: outcome, reason: fmt.Sprintf(format, args...)}
}

func (f *failure) withHint(format string, args ...any) *failure {
	f.hint = fmt.Sprintf(format, args...)
	return f
}

// outcomeError is an error of a dialer that provides its outcome.
type outcomeError interface {
	error
	Word() string
}

// connectFailure returns the failure for an error of connecting, including TLS.
func connectFailure(err error, timeout time.Duration) *failure {
	var known *failure
	var own outcomeError
	var dns *net.DNSError
	var verify *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return newFailure(Interrupted, "stopped before a connection was made")
	case errors.As(err, &own):
		return newFailure(outcomeOfWord(own.Word()), "%v", own)
	case errors.As(err, &verify):
		return newFailure(Denied, "the server's certificate is not valid: %v", verify.Err).
			withHint("give its CA with --ca, or skip verification with --insecure")
	case errors.As(err, &notTLS):
		return newFailure(Denied, "the server does not speak TLS").withHint("use http:// instead of https://")
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls"):
		return newFailure(Denied, "the server refuses the TLS handshake: %v", err).
			withHint("it may require a client certificate: --cert and --key")
	case errors.As(err, &dns) && dns.IsNotFound:
		return newFailure(Unreachable, "no such host: %s", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return newFailure(Refused, "nothing is listening on the port: connection refused")
	case isTimeout(err):
		return newFailure(Unreachable, "no connection within %s", timeout)
	case isCut(err):
		return newFailure(CutOff, "the server closed the connection at once")
	}
	return newFailure(Unreachable, "%v", err)
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

// responseFailure returns the failure for a missing or incomplete response.
func responseFailure(err error, timeout time.Duration) *failure {
	var known *failure
	var own outcomeError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return newFailure(Interrupted, "stopped before the response was complete")
	case errors.As(err, &own), strings.Contains(err.Error(), "remote error: tls"):
		// TLS 1.3 reports a missing client certificate only here
		return connectFailure(err, timeout)
	case isTimeout(err):
		return newFailure(TimedOut, "no complete response within %s", timeout)
	case isCut(err):
		return newFailure(CutOff, "the server closed the connection before the response was complete")
	case strings.Contains(err.Error(), "malformed"):
		return newFailure(NoProfile, "not an HTTP server")
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return newFailure(Denied, "the server does not speak TLS").withHint("use http:// instead of https://")
	}
	return newFailure(Failed, "%v", err)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}
