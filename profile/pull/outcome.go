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

// Outcome is how a pull ended: one of the words below. They are different troubles with
// different remedies.
type Outcome string

// The outcomes.
const (
	// OK: the profile is there, decodes, and is kept. It may hold no sample: then a note says so.
	OK Outcome = "ok"
	// NotAsked: nothing tells where the process's HTTP server is.
	NotAsked Outcome = "not asked"
	// Unreachable: no route, no such host, no connection in time.
	Unreachable Outcome = "unreachable"
	// Refused: the host answers and nothing listens on the port.
	Refused Outcome = "refused"
	// TimedOut: connected, and no whole answer within the window and the deadline.
	TimedOut Outcome = "timed out"
	// Denied: credentials or a certificate are missing or wrong.
	Denied Outcome = "denied"
	// NotFound: this server has no such profile there.
	NotFound Outcome = "not found"
	// Redirected: the server sends elsewhere. It is not followed, as credentials would go along.
	Redirected Outcome = "redirected"
	// Busy: another profile of the kind was being taken, for longer than was waited.
	Busy Outcome = "busy"
	// NoProfile: an answer that is none: a page for people, text, bytes that do not decode.
	NoProfile Outcome = "no profile"
	// TooLarge: the answer is larger than the limit.
	TooLarge Outcome = "too large"
	// CutOff: the connection was closed before the answer was complete.
	CutOff Outcome = "cut off"
	// Failed: the server answered with an error of its own.
	Failed Outcome = "failed"
	// Interrupted: we were stopped first.
	Interrupted Outcome = "interrupted"
)

// failure is why a pull has no profile.
type failure struct {
	outcome Outcome
	reason  string
	// hint is what to try next, "" if nothing is known to help.
	hint string
	// again: the same request may succeed at once, over another connection.
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

// worded is an error of a dialer that knows the word of its outcome.
type worded interface {
	error
	Word() string
}

// connectFailure says why no connection came about, TLS included.
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
		return failed(Denied, "the server's certificate does not hold: %v", verify.Err).hinted("name its authority with --ca, or look with --insecure")
	case errors.As(err, &notTLS):
		return failed(Denied, "the server does not speak TLS").hinted("use http:// instead of https://")
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls"):
		return failed(Denied, "the server refuses the TLS handshake: %v", err).hinted("it may want a client certificate: --cert and --key")
	case errors.As(err, &dns) && dns.IsNotFound:
		return failed(Unreachable, "no such host: %s", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(Refused, "nothing listens there: connection refused")
	case isTimeout(err):
		return failed(Unreachable, "no connection within %s", patience)
	case isCut(err):
		return failed(CutOff, "the server closed the connection at once")
	}
	return failed(Unreachable, "%v", err)
}

// outcomeOfWord takes over the words that say the same where processes are asked over gRPC.
func outcomeOfWord(word string) Outcome {
	switch o := Outcome(word); o {
	case NotAsked, Unreachable, Refused, TimedOut, Denied, CutOff:
		return o
	default:
		return Unreachable
	}
}

// answerFailure says why an answer did not come, or not to its end.
func answerFailure(err error, patience time.Duration) *failure {
	var known *failure
	var own worded
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return failed(Interrupted, "stopped before the answer was complete")
	case errors.As(err, &own), strings.Contains(err.Error(), "remote error: tls"): // TLS 1.3 tells who wants a certificate only here
		return connectFailure(err, patience)
	case isTimeout(err):
		return failed(TimedOut, "no whole answer within %s", patience)
	case isCut(err):
		return failed(CutOff, "the server closed the connection before the answer was complete")
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
