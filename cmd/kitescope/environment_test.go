package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEnvironmentIsExplained checks that "help environment" lists exactly the variables that the code reads.
func TestEnvironmentIsExplained(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	getenv := regexp.MustCompile(`[gG]etenv\("([A-Z_]+)"\)`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(d.Name() == "tools" || d.Name() == "testdata" || d.Name() == ".git" ||
				strings.HasSuffix(d.Name(), "test")):
			// test code
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range getenv.FindAllStringSubmatch(string(text), -1) {
			read[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// their names are looked up in lists
	read["KITESCOPE_ETCD_PASSWORD"], read["KITESCOPE_MILVUS_PASSWORD"] = true, true
	told := map[string]bool{}
	for _, name := range regexp.MustCompile(
		`\b(KITESCOPE|AWS|XDG)_[A-Z_]+\b|\bNO_COLOR\b|\bTERM\b|\bGOGC\b|\bLC_[A-Z]+\b|\bLANG\b|\bTMUX\b|\b(?:WAYLAND_)?DISPLAY\b|\bWSL_DISTRO_NAME\b|\bSSH_CONNECTION\b`,
	).FindAllString(helpEnvironment, -1) {
		told[name] = true
	}
	for name := range read {
		if !told[name] {
			t.Errorf("%s is read, and not explained", name)
		}
	}
	for name := range told {
		if !read[name] {
			t.Errorf("%s is explained, and not read", name)
		}
	}
	if len(read) < 20 {
		t.Errorf("%d variables: %v", len(read), read)
	}
}
