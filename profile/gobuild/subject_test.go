package gobuild

import (
	"os"
	"path/filepath"
	"strings"
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

// TestDryRunOfProfiles: what is not packed yet is decided on as its merge is.
func TestDryRunOfProfiles(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", busy)
	inputs := busyRuns(t, busy)
	dry, err := DryRunOf(t.Context(), inputs, DryRunOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if dry.Inlined != 3 || dry.Devirtualised != 1 || dry.Skipped != 9 || dry.Package != "example.com/prog" {
		t.Errorf("%+v", dry)
	}
	if _, err := DryRunOf(t.Context(), nil, DryRunOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), "ask the compiler") {
		t.Errorf("of no profile: %v", err)
	}
	t.Setenv("TMPDIR", filepath.Join(dir, "no such folder"))
	t.Setenv("TMP", filepath.Join(dir, "no such folder"))
	if _, err := DryRunOf(t.Context(), inputs, DryRunOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), "ask the compiler: ") {
		t.Errorf("without a folder for the merge: %v", err)
	}
}
