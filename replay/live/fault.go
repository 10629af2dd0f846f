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

// Kind is the category of a FaultError.
type Kind uint8

// The kinds of faults.
const (
	Failed      Kind = iota // the server reports an error of its own
	Unreachable             // no connection, or it was lost
	TimedOut                // no response within the deadline
	Denied                  // credentials, privileges, TLS
	NotFound                // no such database, collection, field, column
	NotLoaded               // the collection or some partitions
	Limited                 // rate limit, quota, full queues
	Mismatch                // the request does not fit the collection or server
	Garbled                 // not the expected server, or its answer is inconsistent
	Bounded                 // a limit set by the user
)

func (k Kind) String() string {
	names := [...]string{
		"failed", "unreachable", "timed out", "denied", "not found", "not loaded", "limited", "mismatch", "garbled",
		"bounded",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// FaultError is the reason for a missing answer: one line without credentials and without text that differs between
// requests, so that faults can be counted by their text.
type FaultError struct {
	Kind   Kind
	Reason string
	// Advice is an instruction for the user, in lower case without a full stop; "" if there is no advice.
	Advice string
}

func (f *FaultError) Error() string { return f.Reason }

// Hint implements hints.Hinter.
func (f *FaultError) Hint() string { return f.Advice }

// fault returns a FaultError with a reason and a formatted hint.
func fault(kind Kind, reason, hint string, args ...any) *FaultError {
	return &FaultError{kind, reason, fmt.Sprintf(hint, args...)}
}

// faultf returns a FaultError with a hint and a formatted reason.
func faultf(kind Kind, hint, reason string, args ...any) *FaultError {
	return &FaultError{kind, line(fmt.Sprintf(reason, args...), maxMessage), hint}
}

// withContext prefixes the reason of a fault with its context.
func withContext(what string, err error) error {
	if f, ok := errors.AsType[*FaultError](err); ok {
		return &FaultError{f.Kind, line(what+": "+f.Reason, 2*maxMessage), f.Advice}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// maxMessage is the maximum length of a server message in errors, in bytes.
const maxMessage = 240

// variableText matches text that differs between messages of the same cause: ids, timestamps, addresses of goroutines,
// durations.
var variableText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`0x[0-9a-fA-F]+|\b[0-9a-f]{16,}\b|\d{5,}|\d+(\.\d+)?(ns|µs|ms|s)\b`)
})

// normalize returns a server message as one line that is the same for the same cause.
func normalize(text string) string {
	return line(variableText().ReplaceAllString(text, "#"), maxMessage)
}

// line returns text as one line of at most the given number of bytes, without control characters and secrets. All
// messages of a server pass through it, because they may contain its configuration.
func line(text string, limit int) string {
	if len(text) > 8*limit {
		text = text[:8*limit]
	}
	text = redact.Text(text)
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if len(text) <= limit {
		return text
	}
	cut := limit - len("...")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}

// callerError returns the error of the caller's context if the caller canceled, which is not a fault of the server. It
// returns nil if the context's deadline passed, because that is a deadline of the request.
func callerError(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return nil
}

// timeoutFault returns the fault of a deadline that passed. If it was the caller's deadline, the reason omits the
// duration, because it differs between requests.
func timeoutFault(ctx context.Context, deadline time.Duration) *FaultError {
	const advice = "raise the deadline to wait longer"
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= 0 {
		return fault(TimedOut, "no response within the deadline", advice)
	}
	return faultf(TimedOut, advice, "no response within %s", deadline)
}

// dialFault returns the reason why a connection failed, based on the message of package net, because grpc returns no
// wrapped error. It returns nil if message has another cause.
func dialFault(message, host string) *FaultError {
	switch {
	case contains(message, "no such host"):
		return faultf(Unreachable, "check the address", "no such host: %s", host)
	case contains(message, "connection refused"):
		return faultf(Unreachable, "check the port, and that the server is running", "connect %s: connection refused",
			host)
	case contains(message, "no such file"):
		return faultf(Unreachable, "check the socket folder, and that the server is running",
			"connect %s: no socket there", host)
	case contains(message, "no route to host", "network is unreachable"):
		return faultf(Unreachable, "check the address and the route", "connect %s: no route to host", host)
	case contains(message, "Error while dialing", "dial tcp") && contains(message, "i/o timeout", "deadline exceeded"):
		return faultf(Unreachable, "check the address and firewalls", "connect %s: no connection in time", host)
	}
	return nil
}

// tlsFault returns the reason why TLS failed, based on the message of crypto/tls, because grpc and pgconn return no
// wrapped error. It returns nil if message has another cause.
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
		return faultf(Denied, "the server may require a client certificate", "%s refuses the TLS handshake: %s", host,
			strings.TrimSuffix(why, "\""))
	case strings.Contains(message, "authentication handshake failed"):
		_, why, _ = strings.Cut(message, "authentication handshake failed: ")
		return faultf(Denied, "check that the server has TLS on this port", "no TLS with %s: %s", host,
			strings.TrimSuffix(why, "\""))
	}
	return nil
}
