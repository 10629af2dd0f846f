package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kitescope/inspect/model"
)

// failure is an error with an outcome: the reason why a call has no response.
type failure struct {
	outcome model.Outcome
	reason  string
}

func (f *failure) Error() string { return f.reason }

func newFailure(outcome model.Outcome, format string, args ...any) *failure {
	return &failure{outcome, oneLine(fmt.Sprintf(format, args...))}
}

// dialFailure returns the failure for a connection that was not made.
func dialFailure(err error, timeout time.Duration) *failure {
	var known *failure
	var dns *net.DNSError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &dns) && dns.IsNotFound:
		return newFailure(model.Unreachable, "no such host: %s", dns.Name)
	case errors.As(err, &dns) && isTimeout(err):
		return unresolved(dns.Name, timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return newFailure(model.Refused, "%v", err)
	case isTimeout(err):
		return newFailure(model.Unreachable, "no connection within %s", timeout)
	}
	return newFailure(model.Unreachable, "%v", err)
}

// unresolved returns the failure for a host name that was not resolved in time.
func unresolved(host string, timeout time.Duration) *failure {
	return newFailure(model.Unreachable, "the host name %s was not resolved within %s", host, timeout)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// handshakeFailure returns the failure for a TLS handshake.
func handshakeFailure(err error, timeout time.Duration) *failure {
	var notTLS tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &notTLS):
		return newFailure(model.Denied, "the server does not speak TLS")
	case errors.As(err, &verify), errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		return newFailure(model.Denied, "the server's certificate is not valid: %v", err)
	case isAlert(err):
		return newFailure(model.Denied, "the server refuses the TLS handshake: %v", err)
	case isTimeout(err):
		return newFailure(model.TimedOut, "no response to the TLS handshake within %s", timeout)
	case isCut(err):
		return newFailure(model.CutOff, "the server closed the connection during the TLS handshake")
	}
	return newFailure(model.Denied, "TLS handshake: %v", err)
}

// isAlert reports whether the server sent a TLS alert.
func isAlert(err error) bool {
	var alert tls.AlertError
	return errors.As(err, &alert) || strings.Contains(err.Error(), "remote error: tls")
}

func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE)
}

// callFailure returns the failure for a gRPC call over an established connection.
func callFailure(err error, timeout time.Duration, limit int64) *failure {
	s := status.Convert(err)
	message := s.Message()
	if f := milvusFailure(message); f != nil {
		return f
	}
	switch s.Code() {
	case codes.DeadlineExceeded:
		return newFailure(model.TimedOut, "no response within %s", timeout)
	case codes.Unimplemented:
		if strings.Contains(message, "unexpected HTTP status code") {
			return newFailure(model.Garbled, "not a gRPC server: %s", message)
		}
		return newFailure(model.Unimplemented, "%s", message)
	case codes.Unauthenticated, codes.PermissionDenied:
		return newFailure(model.Denied, "%s", message)
	case codes.ResourceExhausted:
		if size, ok := sizeOf(message); ok {
			return tooLarge(size, limit)
		}
	case codes.Unavailable:
		if strings.Contains(message, "unexpected HTTP status code") {
			return newFailure(model.Garbled, "not a gRPC server: %s", message)
		}
		return lostFailure(message)
	case codes.Internal:
		return internalFailure(message)
	default:
		if strings.Contains(message, "unexpected HTTP status code") || strings.Contains(message, "malformed header") {
			return newFailure(model.Garbled, "not a gRPC server: %s", message)
		}
	}
	return newFailure(model.Failed, "%s: %s", s.Code(), message)
}

// internalFailure returns the failure for an error that grpc reports as internal. Only the text distinguishes
// the causes.
func internalFailure(message string) *failure {
	for _, sign := range []string{"EOF", "RST_STREAM", "connection reset", "closing", "server closed the stream"} {
		if strings.Contains(message, sign) {
			return lostFailure(message)
		}
	}
	return newFailure(model.Garbled, "not a response of Milvus: %s", message)
}

// lostFailure returns the failure for a connection that ended before the response did, for which grpc has many texts.
func lostFailure(message string) *failure {
	if _, cause, ok := strings.Cut(message, "error reading from server: "); ok {
		message = cause
	}
	return newFailure(model.CutOff, "the connection ended before the answer was complete: %s", message)
}

// sizeOf parses the size from grpc's refusal of a message that is too large (rpc_util.go: recvMsg). grpc
// refuses it before reading it.
func sizeOf(message string) (size int64, ok bool) {
	const sign = "received message larger than max"
	_, rest, ok := strings.Cut(message, sign)
	if !ok {
		return 0, false
	}
	var limit int64
	if n, err := fmt.Sscanf(rest, " (%d vs. %d", &size, &limit); n != 2 || err != nil {
		return 0, true
	}
	return size, true
}

// tooLarge returns the failure for a response over the limit. Size 0 means unknown.
func tooLarge(size, limit int64) *failure {
	if size <= 0 {
		return newFailure(model.TooLarge, "the answer is larger than the limit of %s", mebibytes(limit))
	}
	return newFailure(model.TooLarge, "the answer has %s, the limit is %s", mebibytes(size), mebibytes(limit))
}

func mebibytes(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%.4g MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// milvusFailure returns the failure for texts of Milvus's own interceptors and handlers, in a gRPC error or a
// status: pkg/util/interceptor (cluster_interceptor.go, server_id_interceptor.go; "server ID mismatch" in 2.2)
// and pkg/util/merr.
func milvusFailure(text string) *failure {
	switch {
	case strings.Contains(text, "cross cluster routing"):
		return newFailure(model.OtherCluster, "%s", explain(model.OtherCluster, text))
	case strings.Contains(text, "node not match"), strings.Contains(text, "server ID mismatch"):
		return newFailure(model.Stale, "%s", explain(model.Stale, text))
	}
	return nil
}

// explain prefixes a Milvus error with its meaning, because the order of the expected and the actual name or
// id in it varies.
func explain(outcome model.Outcome, text string) string {
	var says string
	switch outcome {
	case model.Stale:
		says = "another process has this address now"
	case model.OtherCluster:
		says = "a process of another cluster has this address"
		if name := reportedCluster(text); name != "" {
			says = fmt.Sprintf("a process of cluster %q has this address", name)
		}
	default:
		return text
	}
	if strings.HasPrefix(text, says) {
		return text
	}
	return says + ": " + text
}
