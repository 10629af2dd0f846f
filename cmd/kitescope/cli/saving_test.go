package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestSaveFile checks that SaveFile writes to the given path, does not overwrite files, and leaves no
// incomplete file.
func TestSaveFile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(home)
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	half := func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return errors.New("no more") }
	read := func(name string) string { b, _ := os.ReadFile(filepath.Join(home, name)); return string(b) }
	if err := os.Mkdir("reports", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a.csv", "~/reports/a.csv"} {
		full, err := SaveFile(path, text("new"))
		if err != nil || !filepath.IsAbs(full) {
			t.Fatalf("%s: saved as %q, %v", path, full, err)
		}
	}
	if read("a.csv") != "new" || read("reports/a.csv") != "new" {
		t.Errorf("a.csv has %q, reports/a.csv %q", read("a.csv"), read("reports/a.csv"))
	}
	if _, err := SaveFile("a.csv", text("other")); !errors.Is(err, fs.ErrExist) || read("a.csv") != "new" {
		t.Errorf("saved over a file: %v, %q", err, read("a.csv"))
	}
	if _, err := SaveFile("half.csv", half); err == nil || read("half.csv") != "" {
		t.Errorf("half a file stays: %v, %q", err, read("half.csv"))
	}
}
