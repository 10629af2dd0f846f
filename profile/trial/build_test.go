package trial

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module and returns its folder and the file of a profile. The profile never changes and equals
// the one in the scripts of cmd/kitescope, so the go command compiles the standard library with it only once.
// It has one stack with 3,000 samples of 10 ms: main.mix (start line 5, at line 12), called by main.work (34,
// 36), called by main.main (41, 42).
func module(t *testing.T, files map[string]string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	files["go.mod"] = "module example.com/hot\n\ngo 1.24\n"
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := filepath.Abs(filepath.Join("testdata", "hot.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func TestWhichProgram(t *testing.T) {
	const main, lib = "package main\n\nfunc main() {}\n", "package lib\n"
	two, _ := module(t, map[string]string{"cmd/a/main.go": main, "cmd/b/main.go": main, "lib.go": lib})
	none, _ := module(t, map[string]string{"lib.go": lib})
	for name, x := range map[string]struct {
		dir, pkg, want string
		err            string
	}{
		"two":            {two, "", "", "2 main packages"},
		"one is named":   {two, "./cmd/b", "example.com/hot/cmd/b", ""},
		"by import path": {two, "example.com/hot/cmd/a", "example.com/hot/cmd/a", ""},
		"by the folder":  {filepath.Join(two, "cmd", "a"), "", "example.com/hot/cmd/a", ""},
		"none":           {none, "", "", "no main package"},
		"no such":        {two, "./cmd/c", "", "no main package"},
	} {
		p := Plan{Dir: x.dir, Package: x.pkg, Load: "{bin} {profile}", Folder: filepath.Join(t.TempDir(), "trial")}
		if err := p.validate(); err != nil {
			t.Fatal(err)
		}
		tr := newTrial(p, nil)
		err := tr.find(t.Context())
		switch {
		case x.err != "":
			if mistake, ok := errors.AsType[*PlanError](err); !ok || !strings.Contains(err.Error(), x.err) ||
				mistake.Hint() == "" {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || tr.report.Module.Package != x.want:
			t.Errorf("%s: found %s, %v", name, tr.report.Module.Package, err)
		}
	}
}
