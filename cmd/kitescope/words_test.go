package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
)

// TestMissingFile checks that all commands report a missing file in the same way.
func TestMissingFile(t *testing.T) {
	from := []string{"--from", capture("standalone-2.3.5", "etcd_snapshot.db.gz")}
	for _, args := range [][]string{
		{"overview", "--from", "nothing"},
		{"diff", "nothing", "nothing"},
		{"get", "nodes", "--runtime", "nothing", from[0], from[1]},
		{"diagnose", "--baseline", "nothing", from[0], from[1]},
		{"diagnose", "--profiles", "nothing", from[0], from[1]},
		{"diagnose", "--storage", "nothing", from[0], from[1]},
		{"profile", "top", "nothing"},
		{"pgo", "judge", "nothing"},
		{"pgo", "verify", "nothing"},
		{"compare", "nothing", "other"},
		{"engine", "info", "nothing"},
		{"engine", "build", "nothing.npy", "-O", "-"},
		{"engine", "search", "nothing", "--queries", "nothing"},
		{"replay", "show", "nothing"},
		{"replay", "run", "docs", "--from", "nothing"},
		{"replay", "info", "docs", "--from", "nothing"},
	} {
		code := cli.ExitFailed
		if args[1] == "--storage" {
			code = cli.ExitUsage
		}
		e := kitescope(t, code, args...)
		if line, _, _ := strings.Cut(e.err, "\n"); !strings.Contains(line, "nothing: no such file") &&
			!strings.Contains(line, "nothing.npy: no such file") || strings.Contains(line, "open nothing") ||
			strings.Contains(line, "stat nothing") {
			t.Errorf("%s: %q", strings.Join(args, " "), line)
		}
	}
	// Errors of writing are not changed.
	_, missing := os.Open("nothing")
	for message, want := range map[string]string{
		"write a/b: no such file or directory":               "write a/b: no such file or directory",
		"read the result: open a: no such file or directory": "read the result: a: no such file",
		"open my open x: no such file or directory":          "read my open x: no such file",
		"read a: no such file or directory":                  "read a: no such file",
		"no hit":                                             "no hit",
	} {
		if got := cli.NoFile(missing, message); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
	// the error is not fs.ErrNotExist
	if got := cli.NoFile(errors.New("x"), "open a: no such file or directory"); got != "open a: no such file or "+
		"directory" {
		t.Error(got)
	}
}

// TestSimilarWords checks that the error for an unknown word suggests similar words, or else lists the available ones.
func TestSimilarWords(t *testing.T) {
	from := []string{"--from", capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz")}
	for _, x := range []struct {
		code int
		args []string
		want string
	}{
		{cli.ExitFailed, []string{"tree", "docs_hnsw_co"}, "docs_hnsw_cos"},
		{cli.ExitFailed, []string{"tree", "order"}, "did you mean: tenant_a.orders"},
		{cli.ExitFailed, []string{"tree", "foo"}, "hint: available: cold_hnsw, docs_hnsw_cos, "},
		{cli.ExitFailed, []string{"get", "segments", "coll=foo"}, "hint: available: cold_hnsw, docs_hnsw_cos, "},
		{cli.ExitFailed, []string{"describe", "collection", "foo"}, "hint: list them with: kitescope get collections"},
		{cli.ExitFailed, []string{"describe", "node", "x"}, "hint: list them with: kitescope get nodes"},
		{cli.ExitFailed, []string{"balance", "foo"}, "hint: list them with: kitescope get collections"},
		{cli.ExitUsage, []string{"get", "nodes", "-n", "abc"}, `--limit: "abc" is not a whole number`},
		{cli.ExitUsage, []string{"diagnose", "--fail-on", "warn"}, "did you mean warning?"},
		{cli.ExitUsage, []string{"engine", "buld"}, "did you mean: kitescope engine build"},
		{cli.ExitUsage, []string{"replay", "run", "a", "--cache", "d"}, "mc mirror"},
		{cli.ExitUsage, []string{"replay", "shwo"}, "did you mean: kitescope replay show"},
		{cli.ExitUsage, []string{"profile", "flaem"}, "did you mean: kitescope profile flame"},
	} {
		args := x.args
		if x.code == cli.ExitFailed {
			args = append(args, from...)
		}
		if e := kitescope(t, x.code, args...); !strings.Contains(e.err, x.want) {
			t.Errorf("%s: %q, want %q", strings.Join(x.args, " "), e.err, x.want)
		}
	}
}
