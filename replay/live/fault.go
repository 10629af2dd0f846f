package live

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"kitescope/internal/redact"
)

// Kind is what a FaultError comes down to.
type Kind uint8

// The kinds of faults.
const (
	Failed      Kind = iota // the server says no, for a reason of its own
	Unreachable             // no connection, or it was lost
	TimedOut                // no answer within the deadline
	Denied                  // credentials, rights, TLS
	NotFound                // no such database, collection, field, column
	NotLoaded               // the collection, or a part of it
	Limited                 // rate limit, quota, full queues
	Mismatch                // what was asked does not fit what is there
	Garbled                 // this is not the server it should be, or its answer does not hold together
	Bounded                 // a bound that the user set
)

func (k Kind) String() string {
	names := [...]string{
		"failed", "unreachable", "timed out", "denied", "not found", "not loaded", "limited", "mismatch", "garbled", "bounded",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// FaultError is why there is no answer: one line without credentials and without what differs from one request to the next, so that
// faults can be counted by their text.
type FaultError struct {
	Kind   Kind
	Reason string
	// Advice is what a person can try next: a sentence in lower case without a full stop, "" for none.
	Advice string
}

func (f *FaultError) Error() string { return f.Reason }

// Hint implements hints.Hinter.
func (f *FaultError) Hint() string { return f.Advice }

// fault makes a FaultError of a reason, and of a hint with its arguments.
func fault(kind Kind, reason, hint string, args ...any) *FaultError {
	return &FaultError{kind, reason, fmt.Sprintf(hint, args...)}
}

// faultf makes a FaultError of a hint, and of a reason with its arguments.
func faultf(kind Kind, hint, reason string, args ...any) *FaultError {
	return &FaultError{kind, line(fmt.Sprintf(reason, args...), longest), hint}
}

// about puts before a fault's reason what was being done.
func about(what string, err error) error {
	if f, ok := errors.AsType[*FaultError](err); ok {
		return &FaultError{f.Kind, line(what+": "+f.Reason, 2*longest), f.Advice}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// longest is how many bytes of a server's words are told.
const longest = 240

// varying is what differs between one message and the next of the same cause: ids, timestamps, addresses of goroutines, times.
var varying = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`0x[0-9a-fA-F]+|\b[0-9a-f]{16,}\b|\d{5,}|\d+(\.\d+)?(ns|µs|ms|s)\b`)
})

// said makes one line of a server's words, the same for the same cause.
func said(text string) string { return line(varying().ReplaceAllString(text, "#"), longest) }

// line is text without control characters and without secrets, in one line of at most so many bytes. All that a server says
// goes through it, which may be its own configuration.
func line(text string, most int) string {
	if len(text) > 8*most {
		text = text[:8*most]
	}
	text = redact.Text(text)
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if len(text) <= most {
		return text
	}
	cut := most - len("...")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}

// ended is the error of a caller who gave up, nil while he waits: that is no fault of the server. A deadline of the caller is
// one of the request.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return nil
}

// late is the fault of a deadline that passed, which the caller may have set: then its length differs from request to request.
func late(ctx context.Context, deadline time.Duration) *FaultError {
	const advice = "raise the deadline to wait longer"
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= 0 {
		return fault(TimedOut, "no answer within the deadline", advice)
	}
	return faultf(TimedOut, advice, "no answer within %s", deadline)
}

// dialFault says why no connection came about, by the words of net: grpc hands on no others. nil if message says nothing of that.
func dialFault(message, host string) *FaultError {
	switch {
	case contains(message, "no such host"):
		return faultf(Unreachable, "check the address", "no such host: %s", host)
	case contains(message, "connection refused"):
		return faultf(Unreachable, "check the port, and that the server is running", "connect %s: connection refused", host)
	case contains(message, "no such file"):
		return faultf(Unreachable, "check the socket folder, and that the server is running", "connect %s: no socket there", host)
	case contains(message, "no route to host", "network is unreachable"):
		return faultf(Unreachable, "check the address and the route", "connect %s: no route to host", host)
	case contains(message, "Error while dialing", "dial tcp") && contains(message, "i/o timeout", "deadline exceeded"):
		return faultf(Unreachable, "check the address and firewalls", "connect %s: no connection in time", host)
	}
	return nil
}

// tlsFault says why there is no TLS, by the words of crypto/tls: grpc and pgconn hand on no others. nil if that is not the trouble.
func tlsFault(message, host string) *FaultError {
	_, why, _ := strings.Cut(message, "tls: ")
	switch {
	case strings.Contains(message, "first record does not look like a TLS handshake"):
		return faultf(Denied, "turn TLS off, or use the TLS port", "%s does not speak TLS", host)
	case strings.Contains(message, "x509: "), strings.Contains(message, "failed to verify certificate"):
		_, why, _ = strings.Cut(message, "x509: ")
		return faultf(Denied, "give the CA that signed it, or the server name it is issued for",
			"the certificate of %s is not valid: %s", host, strings.TrimSuffix(why, "\""))
	case strings.Contains(message, "remote error: tls: "):
		return faultf(Denied, "the server may require a client certificate", "%s refuses the TLS handshake: %s", host, strings.TrimSuffix(why, "\""))
	case strings.Contains(message, "authentication handshake failed"):
		_, why, _ = strings.Cut(message, "authentication handshake failed: ")
		return faultf(Denied, "check that the server has TLS on this port", "no TLS with %s: %s", host, strings.TrimSuffix(why, "\""))
	}
	return nil
}
