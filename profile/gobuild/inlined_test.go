// Nothing runs side by side here, so that the race detector would find nothing, in as much time again.

//go:build !race

package gobuild

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile/pgo"
)

// larger is a program with thousands of inlined calls: the half of the standard library.
const larger = `package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"text/template"
)

func main() {
	var v any
	if err := json.NewDecoder(os.Stdin).Decode(&v); err != nil {
		fmt.Println(err, regexp.MustCompile("a+").MatchString(err.Error()))
	}
	template.Must(template.New("t").Parse("{{.}}")).Execute(os.Stdout, v)
}
`

// TestTreesAndDebuggingInformationAgree holds the inline trees against DWARF, which another part of the
// compiler writes. They differ where the compiler makes a function (wrappers, they have no DWARF), and in
// initialisers of packages, whose lines the trees have lost.
func TestTreesAndDebuggingInformationAgree(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", larger)
	path := goBuild(t, dir, nil)
	_, table, debug := readAll(t, path)
	if len(table.inlined) < 5000 {
		t.Fatalf("only %d inlined calls", len(table.inlined))
	}
	made := wrappers(t, path)
	excused := func(e pgo.Edge) bool {
		return made[e.Caller] || made[e.Callee] || strings.HasSuffix(e.Caller, ".init") || strings.Contains(e.Caller, ".init.")
	}
	only := func(a, b *calls) (edges []pgo.Edge) {
		for e := range a.inlined {
			if !b.inlined[e] && !excused(e) {
				edges = append(edges, e)
			}
		}
		return edges
	}
	if edges := only(table, debug); len(edges) > 0 {
		t.Errorf("%d only in the inline trees: %v", len(edges), edges[:min(len(edges), 9)])
	}
	if edges := only(debug, table); len(edges) > 0 {
		t.Errorf("%d only in DWARF: %v", len(edges), edges[:min(len(edges), 9)])
	}
	_, stripped, _ := readAll(t, goBuild(t, dir, nil, "-ldflags=-s -w"))
	if diff := cmp.Diff(len(table.inlined), len(stripped.inlined)); diff != "" || !maps.Equal(table.inlined, stripped.inlined) {
		t.Errorf("stripped, there are others: %s", diff)
	}
}

// wrappers are the functions that the compiler makes (internal/abi: FuncIDWrapper).
func wrappers(t *testing.T, path string) map[string]bool {
	t.Helper()
	const idWrapper = 23
	tab := tableOf(t, path)
	made := map[string]bool{}
	for i := range tab.count {
		f, ok := tab.function(i)
		if !ok {
			t.Fatal(i)
		}
		at := tab.order.Uint32(tab.funcs[i*8+4:])
		if tab.funcs[at+40] == idWrapper {
			made[tab.name(f.name)] = true
		}
		for _, r := range tab.runs(nil, f.pctree) {
			if call, err := tab.inlinedCall(f, r.val); r.val >= 0 && err == nil && tab.trees[int(f.tree)+int(r.val)*inlinedSize] == idWrapper {
				made[tab.name(call.name)] = true
			}
		}
	}
	return made
}

func tableOf(t *testing.T, path string) *pclntab {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	im, err := openImage(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := readTable(im)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestPlacesAreWhereTheSourceHasThem(t *testing.T) {
	_, table, _ := readAll(t, unpacked(t, "linux-amd64"))
	for name, mark := range map[string]string{"main.input": "func input", "main.add": "func add", "main.(*number).twice": "func (n *number) twice", "main.first[go.shape.int]": "func first", "main.main": "func main"} {
		want := place{file: "example.com/prog/main.go", start: lineOf(t, calm, mark)}
		if got := table.places[name]; got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if !table.functions["main.input"] || table.functions["main.add"] {
		t.Error("what has code of its own is not told from what is inlined everywhere")
	}
	if !table.assembly["runtime.memmove"] || table.assembly["main.input"] {
		t.Error("assembly is not told from Go")
	}
}

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"main.f":                                "main.f",
		"main.f[go.shape.int]":                  "main.f[...]",
		"a/b.(*T[go.shape.[]uint8]).m.func1":    "a/b.(*T[...]).m.func1",
		"main.f[a/b.T[go.shape.int],int].func1": "main.f[...].func1",
		"main.[":                                "main.[",
		"main.]f[":                              "main.]f[",
	} {
		if got := shortName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// FuzzBinary reads a small program with some bytes changed: what is fuzzed are places and values, as a
// whole program would not fit into a corpus. None may make anything panic, hang, or ask for more memory
// than there is.
func FuzzBinary(f *testing.F) {
	programs := tinyPrograms(f)
	f.Add(uint8(0), uint32(0), []byte("\x7fELF"))
	f.Add(uint8(1), uint32(0x3c), []byte{0xff, 0xff, 0xff, 0x7f})
	f.Add(uint8(2), uint32(16), []byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, which uint8, at uint32, change []byte) {
		b := slices.Clone(programs[int(which)%len(programs)])
		copy(b[int(at)%len(b):], change)
		r, size := bytes.NewReader(b), int64(len(b))
		if _, err := readBinary(r, size); err != nil {
			return
		}
		im, err := openImage(r, size)
		if err != nil {
			return
		}
		// That they return is what is tested.
		im.calls(t.Context())
		dwarfCalls(t.Context(), im)
	})
}

// tinyPrograms are a program for each format; with DWARF where it is built here, which it is all while fuzzing.
func tinyPrograms(f *testing.F) [][]byte {
	f.Helper()
	paths := []string{nativeCalm(f)}
	if flag.Lookup("test.fuzz").Value.String() == "" {
		paths = append(paths, unpacked(f, "linux-amd64"), unpacked(f, "windows-amd64"), unpacked(f, "darwin-arm64"))
	} else {
		dir := writeModule(f, "go.mod", goMod, "main.go", calm)
		for _, system := range []string{"linux", "windows", "darwin"} {
			paths = append(paths, goBuild(f, dir, []string{"GOOS=" + system, "CGO_ENABLED=0"}))
		}
	}
	var programs [][]byte
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		programs = append(programs, b)
	}
	return programs
}

// TestDamagedTables changes each part of the table of functions of a program, byte by byte in steps.
func TestDamagedTables(t *testing.T) {
	good := tableOf(t, unpacked(t, "linux-amd64"))
	for name, part := range map[string]func(*pclntab) *[]byte{
		"names": func(t *pclntab) *[]byte { return &t.names }, "units": func(t *pclntab) *[]byte { return &t.cus },
		"files": func(t *pclntab) *[]byte { return &t.files }, "counters": func(t *pclntab) *[]byte { return &t.pcs },
		"functions": func(t *pclntab) *[]byte { return &t.funcs }, "trees": func(t *pclntab) *[]byte { return &t.trees },
	} {
		whole := *part(good)
		for _, with := range []byte{0x00, 0x7f, 0xff} {
			for at := 0; at < len(whole); at += max(len(whole)/7, 1) {
				bad := *good
				bad.named, bad.filed, bad.text, bad.steps = map[uint32]string{}, map[uint32]string{}, 0, 0
				changed := slices.Clone(whole)
				for i := at; i < min(at+64, len(changed)); i++ {
					changed[i] = with
				}
				*part(&bad) = changed
				// That it returns is what is tested: other values may be as good.
				bad.calls(context.Background())
				*part(&bad) = whole[:at]
				if _, err := bad.calls(context.Background()); err != nil && strings.Contains(err.Error(), "runtime error") {
					t.Errorf("%s cut at %d: %v", name, at, err)
				}
			}
		}
	}
}
