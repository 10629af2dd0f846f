package pgo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/internal/hints"
)

// writeModule writes a module into a temporary folder and returns the folder. files are alternating names and
// contents.
func writeModule(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const goMod = "module example.com/prog\n\ngo 1.26\n"

const mainSource = "package main\n\nfunc main() {}\n"

func TestFindModule(t *testing.T) {
	dir := writeModule(t,
		"go.mod", goMod, "lib.go", "package prog\n",
		"cmd/server/main.go", mainSource, "cmd/server/conf/conf.go", "package conf\n",
		"examples/small/main.go", mainSource,
		"testdata/x/main.go", mainSource, "_old/main.go", mainSource,
		"nested/go.mod", "module example.com/nested\n", "nested/main.go", mainSource,
	)
	for _, from := range []string{"", "cmd/server/conf", "testdata/x"} {
		m, err := FindModule(t.Context(), filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		want := &Module{
			Dir: dir, Requested: filepath.Join(dir, from), Path: "example.com/prog",
			GoVersion: runtime.Version(), Mains: []Main{
				{ImportPath: "example.com/prog/cmd/server", Dir: filepath.Join(dir, "cmd", "server")},
				{
					ImportPath: "example.com/prog/examples/small", Dir: filepath.Join(dir, "examples", "small"),
					Example: true,
				},
			},
		}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Errorf("from %q (-want +got):\n%s", from, diff)
		}
		for _, name := range []string{
			"", "server", "cmd/server", "./cmd/server/", "example.com/prog/cmd/server",
			filepath.Join(dir, "cmd", "server"),
		} {
			if main, err := m.Main(name); err != nil || main.ImportPath != "example.com/prog/cmd/server" {
				t.Errorf("%q: %v, %v", name, main, err)
			}
		}
		if main, err := m.Main("small"); err != nil || !main.Example {
			t.Errorf("%v, %v", main, err)
		}
	}
}

func TestNoMainPackage(t *testing.T) {
	several := []string{"go.mod", goMod, "main.go", mainSource}
	for name := range strings.FieldsSeq("a b c d e f g h i j k l") {
		several = append(several, "cmd/"+name+"/main.go", mainSource)
	}
	for _, test := range []struct {
		name       string
		files      []string
		ask        string
		want, hint string
	}{
		{
			"a library",
			[]string{"go.mod", goMod, "lib.go", "package prog\n"},
			"", "has no main package",
			"with a main package",
		},
		{"nothing at all", []string{"go.mod", goMod}, "", "has no main package", "with a main package"},
		{
			"several", several, "", "has 13 main packages",
			"choose one: ., ./cmd/a, ./cmd/b, ./cmd/c, ./cmd/d, ./cmd/e, ./cmd/f, ./cmd/g, ./cmd/h, ./cmd/i, " +
				"./cmd/j, ./cmd/k, and 1 more",
		},
		{"another name", several, "cmd/z", `no main package "cmd/z"`, "its main packages: ., ./cmd/a"},
	} {
		m, err := FindModule(t.Context(), writeModule(t, test.files...))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		_, err = m.Main(test.ask)
		checkError(t, test.name, err, test.want, test.hint)
	}
	dir := writeModule(t, several...)
	m, err := FindModule(t.Context(), filepath.Join(dir, "cmd", "c"))
	if err != nil {
		t.Fatal(err)
	}
	if main, err := m.Main(""); err != nil || main.ImportPath != "example.com/prog/cmd/c" {
		t.Errorf("the folder that was asked about: %v, %v", main, err)
	}
	if main, err := m.Main("."); err != nil || main.ImportPath != "example.com/prog" {
		t.Errorf("%v, %v", main, err)
	}
}

// checkError checks that an error and its hint contain the wanted texts.
func checkError(t *testing.T, name string, err error, want, hint string) {
	t.Helper()
	hinted, ok := errors.AsType[*hints.Error](err)
	if err == nil || !strings.Contains(err.Error(), want) || !ok || !strings.Contains(hinted.Hint(), hint) {
		t.Errorf("%s: %v (%+v), want %q and the hint %q", name, err, hinted, want, hint)
	}
}

func TestNoModule(t *testing.T) {
	dir := t.TempDir()
	_, err := FindModule(t.Context(), dir)
	checkError(t, "no go.mod", err, "no go.mod in", "that has a go.mod")
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(mainSource), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = FindModule(t.Context(), file)
	checkError(t, "a file", err, "it is not a folder", "give the module's folder")
	if _, err := FindModule(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestModuleOutsideItsWorkspace(t *testing.T) {
	dir := writeModule(t, "go.work", "go 1.26\n\nuse ./b\n", "a/go.mod", goMod, "a/main.go", mainSource, "b/go.mod",
		"module example.com/b\n\ngo 1.26\n", "b/main.go", mainSource)
	_, err := FindModule(t.Context(), filepath.Join(dir, "a"))
	checkError(t, "not listed", err, "list the packages of module", "GOWORK=off")
	m, err := FindModule(t.Context(), filepath.Join(dir, "b"))
	if err != nil || len(m.Mains) != 1 || m.Path != "example.com/b" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestBrokenModule(t *testing.T) {
	_, err := FindModule(t.Context(), writeModule(t, "go.mod", "modul example.com/prog\n", "main.go", mainSource))
	if err == nil || !strings.Contains(err.Error(), "unknown directive: modul") {
		t.Errorf("%v", err)
	}
	// A main package that does not compile is still listed.
	m, err := FindModule(t.Context(),
		writeModule(t, "go.mod", goMod, "main.go", "package main\n\nfunc main() { undefined() }\n"))
	if err != nil || len(m.Mains) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	_, err = FindModule(t.Context(), writeModule(t,
		"go.mod", goMod+"\nrequire example.com/x v1.0.0\n", "main.go", mainSource, "vendor/modules.txt",
		"# example.com/y v1.0.0\n## explicit\n"))
	if err == nil || !strings.Contains(err.Error(), "go mod vendor") {
		t.Errorf("vendor: %v", err)
	}
}

func TestReadOnlyModule(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", mainSource)
	t.Setenv("GOMODCACHE", filepath.Dir(dir))
	m, err := FindModule(t.Context(), dir)
	if err != nil || !m.ReadOnly {
		t.Errorf("in the module cache: %+v, %v", m, err)
	}
}

func TestNoGoCommand(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", mainSource)
	t.Setenv("PATH", t.TempDir())
	_, err := FindModule(t.Context(), dir)
	checkError(t, "no go", err, "no go command", "go.dev/dl")
}

func TestFindModuleEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := FindModule(ctx, writeModule(t, "go.mod", goMod, "main.go", mainSource)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v", err)
	}
}
