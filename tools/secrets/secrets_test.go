// Package secrets searches kitescope's output for secrets with the rules of gitleaks. It is a module of its
// own because of its dependencies.
package secrets

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"

	"kitescope/internal/redact"
	"kitescope/internal/redact/redacttest"
)

// TestOutputs checks that no output, bundle or recording of a cluster with sixty kinds of secrets contains
// one.
func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "./cmd/kitescope", "-run",
		"^TestNoSecretOfACluster$")
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "KITESCOPE_KEEP_OUTPUTS="+dir)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 500 {
		t.Fatalf("only %d outputs: %v", len(files), err)
	}
	d := detector(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range scan(d, string(text)) {
			t.Errorf("%s: %s", file, found)
		}
	}
}

// TestPlants checks that gitleaks finds no secret in redacted texts, and finds many in the same texts before.
func TestPlants(t *testing.T) {
	d, found := detector(t), 0
	for seed := range uint64(5) {
		for _, p := range redacttest.Plants(seed) {
			if len(scan(d, p.Text)) > 0 {
				found++
			}
			if left := scan(d, redact.Text(p.Text)); len(left) > 0 {
				t.Errorf("%s: %s", p.Kind, left)
			}
		}
	}
	if found < 5*20 {
		t.Errorf("only %d plants are secrets to gitleaks", found)
	}
}

func detector(t *testing.T) *detect.Detector {
	t.Helper()
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func scan(d *detect.Detector, text string) (list []string) {
	for _, f := range d.DetectString(text) {
		list = append(list, f.RuleID+": "+f.Line)
	}
	return list
}
