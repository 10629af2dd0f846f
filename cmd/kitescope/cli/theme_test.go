package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheme(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "theme.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	name, further, err := Theme(file("name: amber\nbase: dark\n"))
	if err != nil || name != "amber" || len(further) != 1 {
		t.Errorf("a file gave %q, %d themes: %v", name, len(further), err)
	}
	if name, further, err := Theme("dark"); err != nil || name != "dark" || len(further) != 0 {
		t.Errorf("a name gave %q, %d themes: %v", name, len(further), err)
	}
	for word, want := range map[string]string{
		"drak":                       `no theme "drak"`,
		file("name: dark\n"):         "a built-in theme is named",
		file("name: x\nstyle: {}\n"): "style",
	} {
		if _, _, err := Theme(word); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", word, err, want)
		}
	}
}
