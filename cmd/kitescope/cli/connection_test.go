package cli

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestConnection checks the precedence of the cluster: flags, environment, configuration file.
func TestConnection(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	writeFile(t, config,
		"current: lab\ncontexts:\n  lab: {from: lab.db}\n  prod: {from: etcd://prod:2379, user: viewer, root: "+
			"by-dev}\n")
	for _, c := range []struct {
		name      string
		flags     GlobalFlags
		env       map[string]string
		from, err string
	}{
		{"the default", GlobalFlags{}, nil, "lab.db", ""},
		{"a context", GlobalFlags{Context: "prod"}, nil, "etcd://prod:2379", ""},
		{"environment before the default", GlobalFlags{}, map[string]string{"KITESCOPE_FROM": "x.db"}, "x.db", ""},
		{
			"a context of the environment",
			GlobalFlags{},
			map[string]string{"KITESCOPE_CONTEXT": "prod"},
			"etcd://prod:2379", "",
		},
		{
			"a flag before the environment",
			GlobalFlags{From: "y.db"},
			map[string]string{"KITESCOPE_FROM": "x.db", "KITESCOPE_CONTEXT": "prod"},
			"y.db", "",
		},
		{
			"a context flag before the environment",
			GlobalFlags{Context: "lab"},
			map[string]string{"KITESCOPE_FROM": "x.db"},
			"lab.db", "",
		},
		{"no such context", GlobalFlags{Context: "nope"}, nil, "", `no context "nope"`},
		{
			"a broken file that is not wanted",
			GlobalFlags{From: "y.db"},
			map[string]string{"KITESCOPE_CONFIG": "connection_test.go"},
			"y.db", "",
		},
		{
			"a broken file",
			GlobalFlags{},
			map[string]string{"KITESCOPE_CONFIG": "connection_test.go"},
			"",
			"read configuration",
		},
		{"no time", GlobalFlags{From: "y.db", timeout: -1}, nil, "", "--timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{"KITESCOPE_CONFIG": config}
			maps.Copy(env, c.env)
			if c.flags.timeout == 0 {
				c.flags.timeout = time.Second
			}
			a := &App{Streams: &Streams{Getenv: func(name string) string { return env[name] }}, Flags: c.flags}
			got, err := a.Connection()
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil || got.From != c.from {
				t.Errorf("from %q, error %v; want %q", got.From, err, c.from)
			}
		})
	}
}

// TestPassword checks that the user is not prompted if the password is not needed or is stored.
func TestPassword(t *testing.T) {
	dir := t.TempDir()
	byFlag, byContext := filepath.Join(dir, "flag"), filepath.Join(dir, "context")
	writeFile(t, byFlag, "from flag\r\n")
	writeFile(t, byContext, "from context\n")
	live := ContextSpec{From: "etcd://h:1", User: "u"}
	stored := live
	stored.PasswordEnv, stored.PasswordFile = "OTHER", byContext
	for _, c := range []struct {
		name string
		spec ContextSpec
		flag string
		env  map[string]string
		want string
	}{
		{"no user", ContextSpec{From: "etcd://h:1"}, "", nil, ""},
		{"a file", ContextSpec{From: "x.db", User: "u"}, "", nil, ""},
		{"a file by scheme", ContextSpec{From: "file://x.db", User: "u"}, "", nil, ""},
		{"standard input", ContextSpec{From: "-", User: "u"}, "", nil, ""},
		{"prompt", live, "", nil, "typed"},
		{"environment", live, "", map[string]string{"KITESCOPE_ETCD_PASSWORD": "env"}, "env"},
		{
			"flag first", stored, byFlag,
			map[string]string{"KITESCOPE_ETCD_PASSWORD": "env", "OTHER": "other"},
			"from flag",
		},
		{
			"environment before context", stored, "",
			map[string]string{"KITESCOPE_ETCD_PASSWORD": "env", "OTHER": "other"},
			"env",
		},
		{"the context's variable", stored, "", map[string]string{"OTHER": "other"}, "other"},
		{"the context's file", stored, "", nil, "from context"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &App{Flags: GlobalFlags{PasswordFile: c.flag}, Streams: &Streams{
				Getenv:       func(name string) string { return c.env[name] },
				ReadPassword: func(context.Context, string) (string, error) { return "typed", nil },
			}}
			got, err := a.Password(t.Context(), Connection{ContextSpec: c.spec})
			if err != nil || got != c.want {
				t.Errorf("password %q, error %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestMessages checks that control sequences in messages on stderr are escaped.
func TestMessages(t *testing.T) {
	var out strings.Builder
	PrintError(t.Context(), &Streams{Err: &out}, Usage(errors.New("no key \"\x1b]0;x\x07\"\nnext"), "say\x1b[2J"))
	if got, want := out.String(), "kitescope: no key \"\\x1b]0;x\\x07\" next\nhint: say\\x1b[2J\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
