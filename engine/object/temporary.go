package object

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/minio/minio-go/v7"
)

// Temporary reports whether an error of a Store may be gone when the same is asked again: a timeout, a connection that was refused
// or cut, a server that is overloaded or throttles (S3's SlowDown, status 429 and 5xx). What is not there, is not allowed or was
// cancelled is not. Whether the caller's own context has ended is for the caller to see: its deadline looks like any other.
func Temporary(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return false
	}
	if e, ok := errors.AsType[*s3Error](err); ok {
		return e.temporary
	}
	for _, passing := range []error{
		context.DeadlineExceeded, os.ErrDeadlineExceeded, io.ErrUnexpectedEOF,
		syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EAGAIN, syscall.EINTR,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.IsTemporary || e.IsTimeout
	}
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// temporary is Temporary for what the client of S3 says. Codes: S3's API reference, "List of error codes".
func temporary(err error, r minio.ErrorResponse) bool {
	switch r.Code {
	case "SlowDown", "SlowDownRead", "SlowDownWrite", "Throttling", "ThrottlingException", "TooManyRequests", "RequestLimitExceeded",
		"RequestThrottled", "BandwidthLimitExceeded", "InternalError", "ServiceUnavailable", "Busy", "RequestTimeout", "IncompleteBody":
		return true
	case "":
		// A connection that ends without an answer, or before the first byte of one, is the end of a stream.
		return errors.Is(err, io.EOF) || Temporary(err)
	}
	return r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusRequestTimeout || r.StatusCode >= http.StatusInternalServerError
}
