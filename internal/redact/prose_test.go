package redact_test

import (
	"strings"
	"testing"

	"kitescope/internal/redact"
)

// TestProseFindsSecretsByName in the forms in which servers print their configuration. What is left is what tells the reader
// what went wrong.
func TestProseFindsSecretsByName(t *testing.T) {
	for _, text := range []string{
		`password: HIDDEN`, `password = "HIDDEN"`, `token=HIDDEN`, `saslPassword: 'HIDDEN two words HIDDEN'`, `"secretAccessKey": "HIDDEN HIDDEN"`,
		`kms: secretAccessKey="HIDDEN"`, `kms: secretAccessKey="HIDDEN HIDDEN"`, `{\"password\":\"HIDDEN HIDDEN\"}`, `{\"password\": \"HID\\\"DEN HIDDEN\"}`,
		`password: "HID\"DEN HIDDEN"`, `password: "HIDDEN and it was cut HIDDEN`, `Authorization: Bearer HIDDEN`, `Authorization: "Bearer HIDDEN"`,
		`http://root:HIDDEN@minio:9000/a`, `password : HIDDEN`, "apiKey\t=\tHIDDEN",
	} {
		got := redact.Prose("cannot open it: " + text + " (and so on)")
		if strings.Contains(got, "HIDDEN") || strings.Contains(got, "DEN HID") || !strings.HasPrefix(got, "cannot open it: ") {
			t.Errorf("%s becomes %s", text, got)
		}
	}
	for _, text := range []string{
		"context deadline exceeded", "etcdserver: invalid auth token", "dial tcp 10.0.0.1:2379: connection refused",
		`collection "a: b" not found`, "key: value, and 12:30:59", "see https://milvus.io/docs",
	} {
		if got := redact.Prose(text); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}
