package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/cmd/kitescope/cli"
	"kitescope/cmd/kitescope/prefs"
)

// TestConfigReference holds the manual to the types that the file is read into, and its example to the check.
func TestConfigReference(t *testing.T) {
	const path, begin, end = "../../docs/reference/config.md", "-update -->\n", "<!-- /generated -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has lost its marks", path)
	}
	want := head + begin + "\n# Every key\n\n" + prefs.Reference(cli.ConfigFile{}) + "\n" + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s is out of date: go test ./cmd/kitescope -run TestConfigReference -update (-want +got):\n%s", path, diff)
	}

	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	file := t.TempDir() + "/config.yaml"
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &cli.App{Streams: &cli.Streams{Getenv: func(name string) string { return map[string]string{"KITESCOPE_CONFIG": file}[name] }}}
	c := a.CheckPreferences()
	if len(c.Problems) > 0 || c.Theme != "light" || len(c.OwnActions()) != 1 || len(c.Views["segments"].Columns) != 5 {
		t.Errorf("the example: %v %+v", c.Problems, c.Preferences)
	}
}
