package gobuild

import (
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var (
	update    = flag.Bool("update", false, "build the programs in testdata again")
	platforms = flag.Bool("platforms", false, "build the programs of all platforms, with DWARF too, instead of reading testdata")
)

// calm is a program of which everything is known that matters here: what is inlined where.
const calm = `package main

//go:noinline
func input() int { return 3 }

var sink [8]int

// add touches memory, so that no optimisation leaves nothing of it.
func add(a, b int) int {
	sink[a&7] += b
	return sink[b&7]
}

type number int

func (n *number) twice(a int) int {
	x := add(a, int(*n))

	return x + add(a, a)
}

func first[T ~int](a T, b int) T {
	return a + T(add(int(a), b))
}

func main() {
	n := number(input())
	println(n.twice(input()))
	println(first(n, input()))
}
`

// testdataVersion is the toolchain that built the programs in testdata.
const testdataVersion = "go1.26.8"

// calmBuilds are the programs in testdata: calm, stripped, for every format, width and order of bytes that there is.
// A program is 1.2 MB and packed half of it; building them took a standard library for each platform.
var calmBuilds = map[string][]string{
	"linux-amd64":     {"GOOS=linux", "GOARCH=amd64"},
	"linux-386":       {"GOOS=linux", "GOARCH=386"},
	"linux-s390x":     {"GOOS=linux", "GOARCH=s390x"},
	"windows-amd64":   {"GOOS=windows", "GOARCH=amd64"}, // movable in any case (internal/platform: DefaultPIE)
	"darwin-arm64":    {"GOOS=darwin", "GOARCH=arm64"},
	"linux-amd64-pie": {"GOOS=linux", "GOARCH=amd64", "GOFLAGS=-buildmode=pie"},
}

func buildCalm(t testing.TB, env []string, flags ...string) string {
	t.Helper()
	return goBuild(t, writeModule(t, "go.mod", goMod, "main.go", calm), append(env, "CGO_ENABLED=0"), append(flags, "-trimpath")...)
}

// nativeCalm is calm, built here and for here, with DWARF, and over the standard library that the tests themselves are built with.
func nativeCalm(t testing.TB) string {
	t.Helper()
	return goBuild(t, writeModule(t, "go.mod", goMod, "main.go", calm), []string{"CGO_ENABLED=0"})
}

// unpacked is a program of testdata, in a temporary folder.
func unpacked(t testing.TB, name string) string {
	t.Helper()
	packed := filepath.Join("testdata", name+".gz")
	if *update {
		pack(t, buildCalm(t, calmBuilds[name], "-ldflags=-s -w"), packed)
	}
	f, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func pack(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// calmProgram is a build of calm, and what must be read of it.
type calmProgram struct {
	name, arch, version string
	stripped            bool
	kept                string   // its name in testdata, "" for one that is built now
	env                 []string // of the build
}

func (p calmProgram) binary(t *testing.T) string {
	t.Helper()
	switch {
	case p.kept != "":
		return unpacked(t, p.kept)
	case p.stripped:
		return buildCalm(t, p.env, "-ldflags=-s -w")
	case p.env == nil:
		return nativeCalm(t)
	}
	return buildCalm(t, p.env)
}

// calmPrograms are those in testdata and one that is built here; with -platforms all are built, with and without DWARF.
func calmPrograms() []calmProgram {
	programs := []calmProgram{{name: "native", arch: runtime.GOARCH, version: runtime.Version()}}
	for name, env := range calmBuilds {
		kept := calmProgram{name: name, arch: strings.TrimPrefix(env[1], "GOARCH="), version: testdataVersion, stripped: true, kept: name}
		programs = append(programs, kept)
		if *platforms {
			built := calmProgram{name: name + " built", arch: kept.arch, version: runtime.Version(), env: env}
			stripped := built
			stripped.name, stripped.stripped = built.name+" and stripped", true
			programs = append(programs, built, stripped)
		}
	}
	return programs
}
