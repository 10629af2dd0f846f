package gobuild

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSubjectOf: binaries of every platform are known by how they begin, and tell what pgo verifies.
func TestSubjectOf(t *testing.T) {
	for _, program := range calmPrograms() {
		path := program.binary(t)
		if !IsBinary(path) {
			t.Errorf("%s is none", program.name)
			continue
		}
		s, err := SubjectOf(t.Context(), path, "it")
		if err != nil || s.Name != "it" || s.Build.Main != "example.com/prog" || !s.Build.Recorded || s.InlinedErr != nil || len(s.Inlined) == 0 {
			t.Errorf("%s: %v: %+v", program.name, err, s)
		}
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("ELF is a word"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, filepath.Dir(text), text + ".none"} {
		if IsBinary(path) {
			t.Errorf("%s is a binary", path)
		}
		if _, err := SubjectOf(t.Context(), path, "it"); err == nil {
			t.Errorf("%s tells something", path)
		}
	}
}
