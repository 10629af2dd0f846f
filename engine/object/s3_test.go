package object

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseS3(t *testing.T) {
	for place, want := range map[string]S3{
		"s3://bucket":                                    {Bucket: "bucket"},
		"s3://bucket/files/a/?region=eu-1":               {Bucket: "bucket", Prefix: "files/a", Region: "eu-1"},
		"s3://b/files?endpoint=127.0.0.1:9000&tls=false": {Bucket: "b", Prefix: "files", Endpoint: "127.0.0.1:9000", Plain: true},
		"s3://b?endpoint=minio.example.com&tls=true":     {Bucket: "b", Endpoint: "minio.example.com"},
	} {
		got, err := ParseS3(place)
		if err != nil {
			t.Errorf("%s: %v", place, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", place, d)
		}
	}
	for _, place := range []string{"s3://", "s3:///files", "s3://b?tls=maybe", "s3://b?key=1", "s3://b#x", "https://b", "s3://user:hunter2@b/x", "s3://us er:hunter2@b\x7f"} {
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
	if _, err := OpenS3(t.Context(), S3{Endpoint: "key:hunter2@host", Bucket: "b"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an endpoint with credentials: %v", err)
	}
}
