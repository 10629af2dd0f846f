package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/pgo"
)

// busy is a program with one call of each kind that the compiler decides on in another way.
const busy = `package main

//go:noinline
func input() int { return 3 }

var sink [64]int

type shape interface{ area(k int) int }

type square struct{ a int }

func (s *square) area(k int) int {
	sink[k&63] += s.a
	return sink[s.a&63] * k
}

type circle struct{ r int }

func (c *circle) area(k int) int {
	sink[k&63] -= c.r
	return sink[c.r&63] + k
}

// large costs more than 80, and less than 2000.
func large(a, b int) int {
	for i := range 5 {
		a ^= b << uint(i)
		b += a >> 3
		if a%5 == 2 {
			b ^= 77
		}
		if b%7 == 2 {
			a -= b
		}
		sink[a&63] += b
		sink[b&63] += a
		if b%9 == 4 {
			a += b * 3
		}
		sink[(a+b)&63]++
		sink[(a-b)&63]--
		sink[(a^b)&63] ^= a
	}
	return a + b
}

//go:noinline
func never(a int) int { return a*3 + 1 }

func deferred(a int) int {
	defer func() { sink[a&63]++ }()
	return large(a, a)
}

var value = (&circle{input()}).area

func cleanup() { sink[0] = large(sink[1], sink[2]) }

func each[T any](list []T, f func(T)) {
	for _, x := range list {
		f(x)
	}
	for _, x := range list {
		f(x)
	}
	for _, x := range list {
		f(x)
	}
	for _, x := range list {
		f(x)
	}
	for _, x := range list {
		f(x)
	}
	for _, x := range list {
		f(x)
	}
}

func every[T any](list []T, f func(T)) {
	each(list, f)
	for _, x := range list {
		f(x)
		f(x)
	}
}

//go:noinline
func caller(s shape, n int) int {
	t := large(n, 3) // direct
	t += s.area(n) // interface
	t += never(t) // pragma
	t += deferred(t) // defer
	defer cleanup() // statement
	each(sink[:], func(x int) { t += x }) // generic
	t += value(n) // value
	every(sink[:], func(x int) { t += x }) // short
	grown := make([]int, n) // make
	return t + len(grown) + cold(t)
}

// cold calls large as well, and is in no profile.
//
//go:noinline
func cold(n int) int {
	return large(n, 4)
}

func main() {
	println(caller(&square{input()}, input()), caller(&circle{input()}, input()))
}
`

// busyCalls are the hot calls of caller: the mark of their line, the callee, and what becomes of them.
var busyCalls = []struct{ mark, callee, what, why string }{
	{"// direct", "main.large", pgo.Inlines, ""},
	{"// interface", "main.(*square).area", pgo.Devirtualises, ""},
	{"// interface", "main.(*circle).area", pgo.Skips, "another callee of the same call is hotter"},
	{"// pragma", "main.never", pgo.Skips, "marked go:noinline"},
	{"// defer", "main.deferred", pgo.Skips, "never inlined: defer"},
	{"// statement", "main.cleanup", pgo.Skips, "go or defer statement"},
	{"// value", "main.(*circle).area", pgo.Skips, "a method value"},
	{"// short", "main.every[...]", pgo.Skips, "is generic"},
	{"// generic", "main.each[go.shape.int]", pgo.Inlines, ""},
	{"// make", "runtime.makeslice", pgo.Skips, "the compiler puts the call in itself"},
	{"return t + len", "main.gone", pgo.Skips, "the program has no main.gone"},
	{"return t + len", "main.never", pgo.Skips, "marked go:noinline"},
}

// busyRuns are two profiles in which the calls are hot.
func busyRuns(t *testing.T, source string) []pgo.Input {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	start := int64(lineOf(t, source, "func caller("))
	caller := b.Function(profile.Function{Name: "main.caller", SystemName: "main.caller", StartLine: start})
	for i, call := range busyCalls {
		callee := b.Function(profile.Function{Name: call.callee, SystemName: call.callee, StartLine: 1})
		stack := []uint32{
			b.Location(profile.NoMapping, uint64(2*i+1), profile.Line{Function: callee, Line: 2}),
			b.Location(profile.NoMapping, uint64(2*i+2), profile.Line{Function: caller, Line: int64(lineOf(t, source, call.mark))}),
		}
		n := int64(100 - i)
		if err := b.Sample(stack, []int64{n, n * 1e7}); err != nil {
			t.Fatal(err)
		}
	}
	p := b.Profile()
	return []pgo.Input{{Name: "monday", Profile: p}, {Name: "tuesday", Profile: p}}
}

// busyProfile writes their merge, which is the same each time: so the go command compiles the standard library with it once.
func busyProfile(t *testing.T, source string) (path string, edges *pgo.Edges) {
	t.Helper()
	pack, err := pgo.NewPack(t.Context(), busyRuns(t, source), pgo.PackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "default.pgo")
	if err := os.WriteFile(path, pack.Bytes, 0o644); err != nil {
		t.Fatal(err)
	}
	if edges, err = pgo.EdgesOf(pack.Profile); err != nil {
		t.Fatal(err)
	}
	return path, edges
}

func TestDryRunTellsWhatTheBinariesShow(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", busy)
	path, edges := busyProfile(t, busy)
	dry, err := DryRun(t.Context(), DryRunOptions{Dir: dir, Profile: path, Edges: edges})
	if err != nil {
		t.Fatal(err)
	}
	start := lineOf(t, busy, "func caller(")
	type key struct {
		edge pgo.Edge
		what string
	}
	got := map[key]pgo.Decision{}
	for _, d := range dry.Decisions {
		got[key{d.Edge, d.What}] = d
	}
	for _, call := range busyCalls {
		k := key{pgo.Edge{Caller: "main.caller", Callee: call.callee, Offset: lineOf(t, busy, call.mark) - start}, call.what}
		d, ok := got[k]
		if !ok || !strings.Contains(d.Reason, call.why) || (call.why == "" && d.Reason != "") {
			t.Errorf("%v: %+v, want %q", k, d, call.why)
		}
		delete(got, k)
	}
	// The devirtualised call is inlined as well.
	inlined := key{pgo.Edge{Caller: "main.caller", Callee: "main.(*square).area", Offset: lineOf(t, busy, "// interface") - start}, pgo.Inlines}
	if d := got[inlined]; !strings.Contains(d.Reason, "devirtualised") {
		t.Errorf("%v: %+v", inlined, d)
	}
	delete(got, inlined)
	if len(got) > 0 {
		t.Errorf("not expected: %+v", got)
	}
	if dry.Inlined != 3 || dry.Devirtualised != 1 || dry.Skipped != 9 || !dry.Known || dry.Package != "example.com/prog" {
		t.Errorf("%+v", dry)
	}
	large := dry.Decisions[0]
	if large.Cost <= coldBudget || large.Cost > 2000 || filepath.ToSlash(large.Position) != fmt.Sprintf("main.go:%d", lineOf(t, busy, "// direct")) {
		t.Errorf("%+v", large)
	}
	checkCode(t, dir, path)
}

// checkCode looks for the calls in the machine code of binaries that the go command builds as anyone would.
func checkCode(t *testing.T, dir, path string) {
	t.Helper()
	off := objdump(t, goBuild(t, dir, nil, "-pgo=off"), "main.caller")
	on := objdump(t, goBuild(t, dir, nil, "-pgo="+path), "main.caller")
	calls := func(code, callee string) bool {
		return regexp.MustCompile(`CALL\s+` + regexp.QuoteMeta(callee) + `\(SB\)`).MatchString(code)
	}
	if !calls(off, "main.large") || calls(on, "main.large") {
		t.Error("main.large is not inlined by the profile")
	}
	if !calls(on, "main.never") || !calls(on, "main.deferred") {
		t.Error("what was skipped is inlined")
	}
	if !strings.Contains(on, "main.(*square).area") && !strings.Contains(on, "go:itab.*main.square,main.shape") {
		t.Error("the type of the interface's value is not compared")
	}
	if strings.Contains(off, "go:itab.*main.square,main.shape") {
		t.Error("the type of the interface's value is compared without a profile")
	}
}

func TestInlinedTellsBuildsApart(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", busy)
	path, _ := busyProfile(t, busy)
	hot := pgo.Edge{Caller: "main.caller", Callee: "main.large", Offset: lineOf(t, busy, "// direct") - lineOf(t, busy, "func caller(")}
	for _, strip := range []string{"", "-s -w"} {
		for flag, want := range map[string]bool{"-pgo=off": false, "-pgo=" + path: true} {
			b, table, debug := readAll(t, goBuild(t, dir, nil, flag, "-ldflags="+strip))
			if got := table.inlined[hot]; got != want {
				t.Errorf("%s %s: inlined %v, want %v", flag, strip, got, want)
			}
			if debug != nil && debug.inlined[hot] != want {
				t.Errorf("%s: by DWARF inlined %v, want %v", flag, debug.inlined[hot], want)
			}
			if (b.PGO != "") != want || (want && b.PGO != path) {
				t.Errorf("%s: recorded %q", flag, b.PGO)
			}
		}
	}
}

func TestDryRunShowsWhyABuildFails(t *testing.T) {
	broken := strings.Replace(busy, "func main() {", "func main() {\n\tvar x int = \"text\"\n", 1)
	dir := writeModule(t, "go.mod", goMod, "main.go", broken)
	path, edges := busyProfile(t, busy)
	_, err := DryRun(t.Context(), DryRunOptions{Dir: dir, Profile: path, Edges: edges})
	hint, ok := errors.AsType[*hints.Error](err)
	if err == nil || !strings.Contains(err.Error(), "cannot use \"text\"") || !ok || hint.Hint() == "" {
		t.Errorf("%v", err)
	}
}

func TestDryRunShowsWhyAProfileIsRefused(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", busy)
	_, edges := busyProfile(t, busy)
	path := filepath.Join(t.TempDir(), "heap.pgo")
	if err := os.WriteFile(path, []byte("this is no profile"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := DryRun(t.Context(), DryRunOptions{Dir: dir, Profile: path, Edges: edges})
	if err == nil || !strings.Contains(err.Error(), "preprofile") {
		t.Errorf("%v", err)
	}
	_, err = DryRun(t.Context(), DryRunOptions{Dir: dir, Profile: path, Edges: edges, Flags: []string{"-pgo=auto"}})
	if err == nil || !strings.Contains(err.Error(), "dry run's own") {
		t.Errorf("%v", err)
	}
}

func TestDryRunKeepsTheUsersFlags(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", busy)
	path, edges := busyProfile(t, busy)
	// -l turns inlining off altogether.
	for _, flag := range []string{"-gcflags=all=-l", "-gcflags=-l"} {
		dry, err := DryRun(t.Context(), DryRunOptions{Dir: dir, Profile: path, Edges: edges, Flags: []string{flag}})
		if err != nil {
			t.Fatal(err)
		}
		if dry.Inlined != 0 {
			t.Errorf("%s: %d calls inlined: %+v", flag, dry.Inlined, dry.Decisions)
		}
	}
	// Paths without the folder would not be those that the compiler says.
	dry, err := DryRun(t.Context(), DryRunOptions{Dir: dir, Profile: path, Edges: edges, Flags: []string{"-trimpath", "-tags=some", "-ldflags=-s -w"}})
	if err != nil {
		t.Fatal(err)
	}
	if dry.Inlined != 3 || dry.Devirtualised != 1 || dry.Skipped != 9 {
		t.Errorf("%+v", dry)
	}
}

func TestDryRunEndsWhenCancelled(t *testing.T) {
	dir := writeModule(t, "go.mod", goMod, "main.go", busy)
	path, edges := busyProfile(t, busy)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := DryRun(ctx, DryRunOptions{Dir: dir, Profile: path, Edges: edges}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
