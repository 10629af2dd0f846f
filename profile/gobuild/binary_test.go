// Nothing runs side by side here, so that the race detector would find nothing, in as much time again.

//go:build !race

package gobuild

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/internal/hints"
	"kitescope/profile/pgo"
)

// calmEdges are the inlined calls of calm, from its source.
var calmEdges = []pgo.Edge{
	{Caller: "main.(*number).twice", Callee: "main.add", Offset: 1},
	{Caller: "main.(*number).twice", Callee: "main.add", Offset: 3},
	{Caller: "main.first[go.shape.int]", Callee: "main.add", Offset: 1},
	{Caller: "main.main", Callee: "main.(*number).twice", Offset: 2},
	{Caller: "main.main", Callee: "main.first[go.shape.int]", Offset: 3},
}

// ofMain are the edges that begin in the main package.
func ofMain(c *calls) map[pgo.Edge]bool {
	edges := map[pgo.Edge]bool{}
	for e := range c.inlined {
		if strings.HasPrefix(e.Caller, "main.") {
			edges[e] = true
		}
	}
	return edges
}

func TestInlinedOnEveryPlatform(t *testing.T) {
	for _, program := range calmPrograms() {
		t.Run(program.name, func(t *testing.T) {
			path := program.binary(t)
			b, table, debug := readAll(t, path)
			if b.Stripped != program.stripped {
				t.Errorf("stripped: %v, want %v", b.Stripped, program.stripped)
			}
			if b.Main != "example.com/prog" || b.GoVersion != program.version || b.Settings["GOARCH"] != program.arch {
				t.Errorf("%+v", b)
			}
			want := map[pgo.Edge]bool{}
			for _, e := range calmEdges {
				want[e] = true
			}
			if diff := cmp.Diff(want, ofMain(table)); diff != "" {
				t.Errorf("inline trees (-want +got):\n%s", diff)
			}
			if debug != nil {
				if diff := cmp.Diff(want, ofMain(debug)); diff != "" {
					t.Errorf("DWARF (-want +got):\n%s", diff)
				}
			}
			checkBuildID(t, path, b.BuildID)
		})
	}
}

// checkBuildID asks the go command for the build id of a binary.
func checkBuildID(t *testing.T, path, got string) {
	t.Helper()
	want, err := exec.CommandContext(t.Context(), "go", "tool", "buildid", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.TrimSpace(string(want)) || strings.Count(got, "/") != 3 {
		t.Errorf("build id %q, want %s", got, want)
	}
}

func TestNoBinary(t *testing.T) {
	dir := t.TempDir()
	elf := make([]byte, 64)
	copy(elf, "\x7fELF")
	for _, test := range []struct{ name, contents, want string }{
		{"empty", "", "not an executable"},
		{"script", "#!/bin/sh\necho hello\n", "not an executable"},
		{"header", string(elf), "damaged executable"},
		{"text", strings.Repeat("MZ this is no program either. ", 9), "damaged executable"},
	} {
		path := filepath.Join(dir, test.name)
		if err := os.WriteFile(path, []byte(test.contents), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := ReadBinary(path)
		hint, ok := errors.AsType[*hints.Error](err)
		if err == nil || !strings.Contains(err.Error(), test.want) || !ok || hint.Hint() == "" {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := ReadBinary(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := ReadBinary(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestInlinedHasBothNamesOfGenericFunctions(t *testing.T) {
	b, err := ReadBinary(nativeCalm(t))
	if err != nil {
		t.Fatal(err)
	}
	inlined, _, err := b.Inlined(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.first[go.shape.int]", "main.first[...]"} {
		for _, e := range []pgo.Edge{{Caller: name, Callee: "main.add", Offset: 1}, {Caller: "main.main", Callee: name, Offset: 3}} {
			if !inlined[e] {
				t.Errorf("%v is missing", e)
			}
		}
	}
}

func TestReadingEndsWhenCancelled(t *testing.T) {
	b, err := ReadBinary(nativeCalm(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := b.Inlined(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
