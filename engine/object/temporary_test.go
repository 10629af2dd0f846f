package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/minio/minio-go/v7"
)

func TestTemporary(t *testing.T) {
	b := &bucket{name: "b", endpoint: "e"}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"none":              {nil, false},
		"cancelled":         {context.Canceled, false},
		"deadline":          {fmt.Errorf("GET: %w", context.DeadlineExceeded), true},
		"not there":         {notThere("x"), false},
		"not allowed":       {&fs.PathError{Op: "open", Err: syscall.EACCES}, false},
		"full disk":         {syscall.ENOSPC, false},
		"reset":             {&url.Error{Op: "Get", Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, true},
		"cut":               {fmt.Errorf("body: %w", io.ErrUnexpectedEOF), true},
		"end of a file":     {io.EOF, false},
		"no such host":      {&net.DNSError{IsNotFound: true}, false},
		"no name server":    {&net.DNSError{IsTemporary: true}, true},
		"S3 SlowDown":       {b.wrap("read", "k", minio.ErrorResponse{Code: "SlowDown", StatusCode: 503}), true},
		"S3 status 429":     {b.wrap("read", "k", minio.ErrorResponse{Code: "Other", StatusCode: 429}), true},
		"S3 status 502":     {b.wrap("read", "k", minio.ErrorResponse{Code: "502 Bad Gateway", StatusCode: 502}), true},
		"S3 reset":          {b.wrap("read", "k", &url.Error{Op: "Get", Err: syscall.ECONNRESET}), true},
		"S3 closed":         {b.wrap("read", "k", &url.Error{Op: "Get", Err: io.EOF}), true},
		"S3 cancelled":      {b.wrap("read", "k", &url.Error{Op: "Get", Err: context.Canceled}), false},
		"S3 no key":         {b.wrap("read", "k", minio.ErrorResponse{Code: minio.NoSuchKey, StatusCode: 404}), false},
		"S3 denied":         {b.wrap("read", "k", minio.ErrorResponse{Code: "AccessDenied", StatusCode: 403}), false},
		"S3 another object": {fmt.Errorf("wrapped: %w", b.wrap("read", "k", minio.ErrorResponse{Code: "PreconditionFailed", StatusCode: 412})), false},
		"S3 other":          {b.wrap("read", "k", errors.New("x509: unknown authority")), false},
	} {
		if got := Temporary(c.err); got != c.want {
			t.Errorf("%s: %v is %v", name, c.err, got)
		}
	}
}

func TestErrorsOfStoresSayNoSecrets(t *testing.T) {
	b := &bucket{name: "b", endpoint: "e"}
	const planted = `cannot reach kms: secretAccessKey="PLANTED-a", password: PLANTED-b, token=PLANTED-c, http://root:PLANTED-d@kms:9000/`
	for _, err := range []error{minio.ErrorResponse{Code: "InternalError", Message: planted, StatusCode: 500}, errors.New(planted)} {
		if text := b.wrap("read", "k", err).Error(); strings.Contains(text, "PLANTED") || !strings.Contains(text, "cannot reach kms") {
			t.Errorf("told: %s", text)
		}
	}
}
