package redact_test

import (
	"cmp"
	"strings"
	"testing"

	"kitescope/internal/redact"
	"kitescope/internal/redact/redacttest"
)

// TestPlants checks that Text removes every kind of secret: alone, in an error, after other text, and in quotes. A
// second pass must not change the result.
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
			"alone": p.Text, "error": "cannot open it: " + p.Text, "behind": "a = b, " + p.Text + "\nand more",
			"in quotes": `value "` + p.Text + `" is wrong`,
		} {
			got := redact.Text(text)
			if strings.Contains(got, p.Secret) || !strings.Contains(got, redact.Redacted) {
				t.Errorf("%s, %s: %q becomes %q", p.Kind, where, text, got)
			}
			if again := redact.Text(got); again != got {
				t.Errorf("%s, %s: %q becomes %q", p.Kind, where, got, again)
			}
			if !redact.HoldsSecret([]byte(text)) {
				t.Errorf("%s, %s: not suspect", p.Kind, where)
			}
		}
	}
}

// TestTextLeavesTheRest checks that Text does not change harmless texts of servers and metadata.
func TestTextLeavesTheRest(t *testing.T) {
	for _, text := range []string{
		"context deadline exceeded", "etcdserver: invalid auth token", "dial tcp 10.0.0.1:2379: connection refused",
		`collection "a: b" not found`, "key: value, and 12:30:59", "see https://milvus.io/docs", "http://host:9000/a@b",
		"http://host:9000,http://host2:9000", "basic authentication failed", "the bearer has no role",
		"by-dev-rootcoord-dml_0_447362910221v0", "files/insert_log/447/448/449/100/450", "milvusdb/milvus:v2.3.5",
		"docker.io/milvusdb/milvus:v2.3.5@sha256:aa", "joe@example.com", `analyzer_params: {"tokenizer": "standard"}`,
		"max_tokens: 512", "authorizationEnabled: true", "passed=3, author: Ada", "task-1 basic - done",
		"significant: yes", "key_managed_by=user", "hf_embeddings_minilm", "ASIA_customer_vectors",
		"npm_packages_index_v2", "dapi_documents_2026_v1", "sk-prod-milvus-querynode-0.milvus:21123",
		"sk-prod-milvus-querynode-7f8b9c6d4-x2x9z", "milvus-ASIA-SOUTHEAST1-querynode-0", "ASIA-SOUTHEAST-milvus-data",
		"basic HNSW index, Bearer Token2", "by-dev-rootcoord-dml_0_455000000000000200v0",
		"Prod1-RootCoord-DML_0_455000000000000200v0", "v2.6.1-5d41402abc4b2a76b9719d911017c592ae1234ff",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"2F1B2C3D-0c55-4a01-9f86-d081884c7d65", "IVF_SQ8_HNSW_PQ4_Index_ofDocs", "L2NormalizedBM25Embeddings2026",
		"the token is expired", "password is wrong", "fd00:1234:5678:9abc:def0::1",
		"[$time_now] <$user_name: $user_addr>",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// TestTextFindsSecretsByName checks the formats in which servers print their configuration. The rest of the text
// stays, because it explains the failure.
func TestTextFindsSecretsByName(t *testing.T) {
	for _, text := range []string{
		`password: HIDDEN`, `password = "HIDDEN"`, `token=HIDDEN`, `saslPassword: 'HIDDEN two words HIDDEN'`,
		`"secretAccessKey": "HIDDEN HIDDEN"`, `kms: secretAccessKey="HIDDEN"`,
		`kms: secretAccessKey="HIDDEN HIDDEN"`, `{\"password\":\"HIDDEN HIDDEN\"}`,
		`{\"password\": \"HID\\\"DEN HIDDEN\"}`, `password: "HID\"DEN HIDDEN"`,
		`password: "HIDDEN and it was cut HIDDEN`, `Authorization: Bearer HIDDEN`, `Authorization: "Bearer HIDDEN"`,
		`http://root:HIDDEN@minio:9000/a`, `password : HIDDEN`, "apiKey\t=\tHIDDEN", `password: (HIDDEN)`,
	} {
		got := redact.Text("cannot open it: " + text + " (and so on)")
		if strings.Contains(got, "HIDDEN") || strings.Contains(got, "DEN HID") ||
			!strings.HasPrefix(got, "cannot open it: ") {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}

// TestSettings checks that unknown names only show values that cannot be secrets, and that known names show all
// values but secrets.
func TestSettings(t *testing.T) {
	for _, x := range [][3]string{
		{"x.a", "true", ""},
		{"x.a", "1h30m", ""},
		{"x.a", "2 GB", ""},
		{"x.a", "-1", ""},
		{"x.a", "10%", ""},
		{"x.a", "1, 2,3", ""},
		{"x.a", "1e-5", ""},
		{"x.a", "", ""},
		{"x.a", "5d41402b9d12e7b8", redact.Redacted},
		{"x.a", "4h7k2m9p3t6g8d", redact.Redacted},
		{"x.a", "12345678901234567890", redact.Redacted},
		{"x.a", "Zq9 password=sesame", redact.Redacted},
		{"x.a", "https://sts/AbCdZq9/?sig=sesame", redact.Redacted},
		{"x.a", "u:sesame@h:1", redact.Redacted},
		{"minio.bucketName", "ASIA-SOUTHEAST-milvus-data", ""},
		{"minio.address", "sk-prod-minio-0.minio:9000", ""},
		{"etcd.endpoints", "u:pw@h:2379", redact.Redacted + "@h:2379"},
		{"knowhere.HNSW.build.M", "18", ""},
		{"knowhere/HNSW/build/metric_type", "COSINE", ""},
		{"knowhere.HNSW.build.note", "sesame", redact.Redacted},
		{
			"proxy.accessLog.formatters.base.format",
			"[$time_now] [ACCESS] <$user_name: $user_addr> $method_name [status: $method_status]", "",
		},
		{"proxy.accessLog.formatters.base.format", "Zq9SecretOpaque78", redact.Redacted},
	} {
		if want := cmp.Or(x[2], x[1]); redact.Setting(x[0], x[1]) != want {
			t.Errorf("%s = %s becomes %s, want %s", x[0], x[1], redact.Setting(x[0], x[1]), want)
		}
	}
	for _, x := range [][3]string{
		{"mmap.enabled", "true", ""},
		{"collection.ttl.seconds", "3600", ""},
		{"index_type", "HNSW", ""},
		{"params", `{"M":16}`, ""},
		{"analyzer_params", `{"tokenizer":"standard"}`, ""},
		{"params", `{"api_key":"x"}`, `{"api_key":"<redacted>"}`},
		{"owner", "sesame", redact.Redacted},
		{"model_name", "hf_embeddings_minilm", ""},
		{"note", "3 sesame", redact.Redacted},
	} {
		if want := cmp.Or(x[2], x[1]); redact.Property(x[0], x[1]) != want {
			t.Errorf("%s = %s becomes %s, want %s", x[0], x[1], redact.Property(x[0], x[1]), want)
		}
	}
	for _, name := range []string{"AKIAIOSFODNN7EXAMPLE", "hf_embeddings_minilm"} {
		for _, key := range []string{"collection_name", "HostName", "alias", "channel_names", "Address"} {
			if got := redact.Pair(key, name); got != name {
				t.Errorf("%s %s becomes %s", key, name, got)
			}
		}
	}
}

// FuzzText checks that Text removes a secret with a secret name, whatever text surrounds it.
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
