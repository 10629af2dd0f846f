package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck checks that an error on one platform, in code or in a test, is found on that platform only.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example\n\ngo 1.25\n",
		"all.go":         "package example\n\nimport \"os\"\n\nvar Name = os.DevNull + suffix\n",
		"all_linux.go":   "package example\n\nconst suffix = \"\"\n",
		"all_windows.go": "package example\n\nconst suffix = 1\n",
		"all_darwin.go":  "package example\n\nconst suffix = \"\"\n",
		"lib_test.go":    "package example\n\nimport \"testing\"\n\nfunc TestName(t *testing.T) { kill(t) }\n",
		"kill_unix_test.go": "//go:build linux || windows\n\npackage example\n\nimport \"testing\"\n\nfunc kill(t " +
			"*testing.T) { t.Helper() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for platform, want := range map[string]string{
		"linux/arm64": "", "windows/amd64": "mismatched types", "darwin/arm64": "undefined: kill",
	} {
		seen, faults, err := check(dir, platform)
		if err != nil {
			t.Fatal(err)
		}
		if seen < 10 {
			t.Errorf("%s: %d packages were seen; os alone has more below it", platform, seen)
		}
		var all []string
		for _, f := range faults {
			all = append(all, f.Error())
		}
		text := strings.Join(all, "\n")
		if want == "" && text != "" || !strings.Contains(text, want) {
			t.Errorf("%s: got %q, want %q", platform, text, want)
		}
	}
	if _, _, err := check(dir, "plan9"); err == nil {
		t.Error("a word without an architecture passed")
	}
}
