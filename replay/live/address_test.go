package live

import (
	"errors"
	"strings"
	"testing"
	"unicode"
)

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ text, kind, host, user, password, database, shown string }{
		{"127.0.0.1:22000", "milvus", "127.0.0.1:22000", "", "", "", "milvus://127.0.0.1:22000"},
		{"milvus://h", "milvus", "h:19530", "", "", "", "milvus://h:19530"},
		{"milvus://root:p%40ss@h:1/db", "milvus", "h:1", "root", "p@ss", "db", "milvus://h:1/db"},
		{"root:pw@h:1", "milvus", "h:1", "root", "pw", "", "milvus://h:1"},
		{"milvus://[::1]:5/", "milvus", "[::1]:5", "", "", "", "milvus://[::1]:5"},
		{"POSTGRES://u:s@h/db?sslmode=disable", "pgvector", "h:5432", "u", "s", "db", "postgres://h:5432/db"},
		{"postgresql://h", "pgvector", "h:5432", "", "", "", "postgres://h:5432"},
		{"postgresql://u:@/db?host=/run/pg", "pgvector", "/run/pg", "u", "", "db", "postgres:///run/pg/db"},
	} {
		a, k, err := parseAddress(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if k.name != c.kind || a.host != c.host || a.user != c.user || a.password != c.password ||
			a.database != c.database || a.redacted() != c.shown {
			t.Errorf("%s: %s %+v shown as %s, want %+v", c.text, k.name, a, a.redacted(), c)
		}
	}
}

func TestInvalidAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "names no host",
		"milvus://":                    "names no host",
		"milvus://u:secret@":           "names no host",
		"milvus://u:secret@h:port":     "does not parse",
		"milvus://u:sec\x00ret@h":      "does not parse",
		"milvus://u:secret@h/a/b":      "more than a database",
		"mysql://u:secret@h":           "unknown scheme mysql://",
		"postgres://u:secret@/db?x=1":  "names no host",
		"milvus://u:secret@/?host=/x":  "names no host",
		"milvus://u:secret@h#fragment": "does not parse",
		"root:secret://x@h":            "unknown scheme",
		"root:12/secret@h:1":           "has an @ after the host",
		"root:12/?secret@h:1":          "has an @ after the host",
		"postgres://u:1@h/db?host=x":   "names several servers",
		"postgres://u:1@h/db?port=7":   "names several servers",
		"postgres:///db?host=/a,b":     "names several servers",
	} {
		_, err := Open(t.Context(), text, Options{Collection: "c"})
		var f *FaultError
		if !errors.As(err, &f) || !strings.Contains(f.Reason, want) || f.Hint() == "" ||
			strings.Contains(f.Reason+f.Hint(), "secret") {
			t.Errorf("%q: %+v, want %q", text, err, want)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"127.0.0.1:1", "milvus://a:b@c:1/d", "postgres://a@/b?host=/c", "x://", "milvus://[::1", "%zz://",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, k, err := parseAddress(text)
		if err == nil && (a.host == "" || k == nil) {
			t.Errorf("%q is the address of nothing", text)
		}
		if err != nil && strings.ContainsFunc(err.Error(), unicode.IsControl) {
			t.Errorf("%q: control characters in %q", text, err)
		}
	})
}
