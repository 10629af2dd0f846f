package redact_test

import (
	"strings"
	"testing"

	"kitescope/internal/redact"
	"kitescope/internal/redact/redacttest"
)

// TestPlants: no kind of secret is left in a text, alone, in an error or in JSON, and Text is done after one pass.
func TestPlants(t *testing.T) {
	var plants []redacttest.Plant
	for seed := range uint64(20) {
		plants = append(plants, redacttest.Plants(seed)...)
	}
	if len(plants) < 20*60 {
		t.Fatalf("only %d kinds", len(plants)/20)
	}
	for _, p := range plants {
		for where, text := range map[string]string{
			"alone": p.Text, "error": "cannot open it: " + p.Text, "behind": "a = b, " + p.Text + "\nand more", "in quotes": `value "` + p.Text + `" is wrong`,
		} {
			got := redact.Text(text)
			if strings.Contains(got, p.Secret) || !strings.Contains(got, redact.Redacted) {
				t.Errorf("%s, %s: %q becomes %q", p.Kind, where, text, got)
			}
			if again := redact.Text(got); again != got {
				t.Errorf("%s, %s: %q becomes %q", p.Kind, where, got, again)
			}
			if !redact.Holds([]byte(text)) {
				t.Errorf("%s, %s: not suspect", p.Kind, where)
			}
		}
	}
}

// TestTextLeavesTheRest of the texts that servers and metadata have.
func TestTextLeavesTheRest(t *testing.T) {
	for _, text := range []string{
		"context deadline exceeded", "etcdserver: invalid auth token", "dial tcp 10.0.0.1:2379: connection refused",
		`collection "a: b" not found`, "key: value, and 12:30:59", "see https://milvus.io/docs", "http://host:9000/a@b", "http://host:9000,http://host2:9000",
		"basic authentication failed", "the bearer has no role", "by-dev-rootcoord-dml_0_447362910221v0", "files/insert_log/447/448/449/100/450",
		"milvusdb/milvus:v2.3.5", "docker.io/milvusdb/milvus:v2.3.5@sha256:aa", "joe@example.com", `analyzer_params: {"tokenizer": "standard"}`, "max_tokens: 512",
		"authorizationEnabled: true", "passed=3, author: Ada", "task-1 basic - done", "significant: yes", "key_managed_by=user",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// TestTextFindsSecretsByName in the forms in which servers print their configuration. The rest tells the reader what went wrong.
func TestTextFindsSecretsByName(t *testing.T) {
	for _, text := range []string{
		`password: HIDDEN`, `password = "HIDDEN"`, `token=HIDDEN`, `saslPassword: 'HIDDEN two words HIDDEN'`, `"secretAccessKey": "HIDDEN HIDDEN"`,
		`kms: secretAccessKey="HIDDEN"`, `kms: secretAccessKey="HIDDEN HIDDEN"`, `{\"password\":\"HIDDEN HIDDEN\"}`, `{\"password\": \"HID\\\"DEN HIDDEN\"}`,
		`password: "HID\"DEN HIDDEN"`, `password: "HIDDEN and it was cut HIDDEN`, `Authorization: Bearer HIDDEN`, `Authorization: "Bearer HIDDEN"`,
		`http://root:HIDDEN@minio:9000/a`, `password : HIDDEN`, "apiKey\t=\tHIDDEN", `password: (HIDDEN)`,
	} {
		got := redact.Text("cannot open it: " + text + " (and so on)")
		if strings.Contains(got, "HIDDEN") || strings.Contains(got, "DEN HID") || !strings.HasPrefix(got, "cannot open it: ") {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// FuzzText: a secret by its name is not left, whatever stands around it, and a second pass finds nothing.
func FuzzText(f *testing.F) {
	for _, p := range redacttest.Plants(2) {
		f.Add(p.Text, " ")
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const planted = "0sentinel0value0"
		got := redact.Text(before + "\n- password=" + planted + "\n" + after)
		if strings.Contains(got, planted) {
			t.Errorf("left: %q", got)
		}
	})
}
