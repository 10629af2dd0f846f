package document

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

func TestReplaceKeepsTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	begin, end := Marks("bench")
	if err := os.WriteFile(path, []byte("before\n"+begin+"\nold\n"+end+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, "bench", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "before\n" + begin + "\nnew\n" + end + "\nafter\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, broken := range []string{"no marks", begin + " and no end"} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Replace(path, "bench", "new"); err == nil {
			t.Errorf("%q: no error", broken)
		}
	}
}

func TestMeasuredSaysWhenAndWhere(t *testing.T) {
	now := time.Date(2026, 11, 26, 23, 30, 0, 0, time.FixedZone("", -3600))
	if got := Measured(filepath.Join(t.TempDir(), "doc.md"), now); got != "Measured on 2026-11-27 at an unknown commit.\n" {
		t.Errorf("outside of a repository: %q", got)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "doc.md")
	git := func(args ...string) {
		t.Helper()
		args = append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	begin, end := Marks("bench")
	if err := os.WriteFile(path, []byte(begin+"\n"+end+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	for _, want := range []string{`at commit [0-9a-f]{7,}\.\n\nnew`, `at commit [0-9a-f]{7,} with changes\.\n\nnew`} {
		if err := ReplaceMeasured(path, "bench", "new\n"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !regexp.MustCompile(want).Match(got) {
			t.Errorf("%q, %v: no %s", got, err, want)
		}
	}
}
