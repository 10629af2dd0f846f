package gobuild

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// writeModule writes a module into a temporary folder: name and contents of files by turns.
func writeModule(t testing.TB, files ...string) string {
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

// goBuild builds the module in a folder, for the platform that env says, and returns the binary.
func goBuild(t testing.TB, dir string, env []string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "prog")
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-buildvcs=false", "-o", out}, flags...), ".")...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS="), env...) // whatever the tests themselves are built with
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %v %v: %v\n%s", env, flags, err, said)
	}
	return out
}

// objdump is the machine code of a function, as another program than ours reads it.
func objdump(t *testing.T, binary, function string) string {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "go", "tool", "objdump", "-s", "^"+function+"$", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// lineOf is the number of the line that has a mark.
func lineOf(t *testing.T, source, mark string) int {
	t.Helper()
	before, _, ok := strings.Cut(source, mark)
	if !ok {
		t.Fatalf("no %q in the source", mark)
	}
	return 1 + strings.Count(before, "\n")
}

// readAll reads a binary and its inlined calls in both ways that there are.
func readAll(t *testing.T, path string) (b *Binary, table, debug *calls) {
	t.Helper()
	b, err := ReadBinary(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	im, err := openImage(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	tab, err := readTable(im)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if table, err = tab.calls(context.Background()); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if b.Stripped {
		return b, table, nil
	}
	if debug, err = dwarfCalls(context.Background(), im); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b, table, debug
}
