package object

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/minio/minio-go/v7"
)

func TestErrorsHaveNoSecrets(t *testing.T) {
	b := &bucket{name: "b", endpoint: "e"}
	const planted = `cannot reach kms: secretAccessKey="PLANTED-a", password: PLANTED-b, token=PLANTED-c, http://root:PLANTED-d@kms:9000/`
	for _, err := range []error{
		minio.ErrorResponse{Code: "InternalError", Message: planted, StatusCode: 500}, errors.New(planted),
	} {
		if text := b.wrap("read", "k", err).Error(); strings.Contains(text, "PLANTED") ||
			!strings.Contains(text, "cannot reach kms") {
			t.Errorf("told: %s", text)
		}
	}
}

// TestCutBodies checks that a read continues after its connection ends early, but only a limited number of
// times.
func TestCutBodies(t *testing.T) {
	const content = "0123456789"
	for _, c := range []struct {
		each, wantCalls int
		want            string
	}{{10, 1, "2345678"}, {3, 3, "2345678"}, {2, 3, "234567"}, {0, 1, ""}} {
		calls := 0
		b := &bucket{
			name: "b", endpoint: "e",
			get: func(
				_ context.Context, _, _ string, o minio.GetObjectOptions,
			) (io.ReadCloser, minio.ObjectInfo, http.Header, error) {
				calls++
				var from, to int
				if _, err := fmt.Sscanf(o.Header().Get("Range"), "bytes=%d-%d", &from, &to); err != nil {
					t.Fatal(err)
				}
				return io.NopCloser(strings.NewReader(content[from:min(from+c.each, to+1)])), minio.ObjectInfo{}, nil,
					nil
			},
		}
		p := bytes.Repeat([]byte("-"), 7)
		n, err := (&object{bucket: b, ctx: t.Context(), key: "k", etag: "e", size: 10}).ReadAt(p, 2)
		if string(p[:n]) != c.want || (err == nil) != (n == 7) || calls != c.wantCalls {
			t.Errorf("%d bytes a connection: %q in %d requests, %v", c.each, p[:n], calls, err)
		}
	}
}

func TestParseS3(t *testing.T) {
	for place, want := range map[string]S3{
		"s3://bucket":                      {Bucket: "bucket"},
		"s3://bucket/files/a/?region=eu-1": {Bucket: "bucket", Prefix: "files/a", Region: "eu-1"},
		"s3://b/files?endpoint=127.0.0.1:9000&tls=false": {
			Bucket: "b", Prefix: "files", Endpoint: "127.0.0.1:9000", Insecure: true,
		},
		"s3://b?endpoint=minio.example.com&tls=true": {Bucket: "b", Endpoint: "minio.example.com"},
	} {
		got, err := ParseS3(place)
		if err != nil {
			t.Errorf("%s: %v", place, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", place, d)
		}
	}
	for _, place := range []string{
		"s3://", "s3:///files", "s3://b?tls=maybe", "s3://b?key=1", "s3://b#x", "https://b", "s3://user:hunter2@b/x",
		"s3://us er:hunter2@b\x7f",
	} {
		_, err := ParseS3(place)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	c := S3{Bucket: "b", Keys: Keys{Access: "access", Secret: "hunter2", Session: "hunter3"}}
	j, _ := json.Marshal(c)
	for _, s := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v %q %x", c, c, c.Keys, c.Keys.Secret), string(j)} {
		if strings.Contains(s, "hunter") || strings.Contains(s, fmt.Sprintf("%x", "hunter2")) {
			t.Errorf("a secret in %s", s)
		}
	}
	if _, err := OpenS3(t.Context(), S3{Endpoint: "key:hunter2@host", Bucket: "b"}); err == nil ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an endpoint with credentials: %v", err)
	}
}
