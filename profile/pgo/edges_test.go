package pgo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kitescope/profile"
	"kitescope/profile/profiletest"
)

// preprofiled returns the output of `go tool preprofile` for a file, or its error message if the tool refuses
// the file.
func preprofiled(t *testing.T, file string) (out []byte, refusal string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "preprofile")
	said, err := exec.CommandContext(t.Context(), "go", "tool", "preprofile", "-i", file, "-o", to).CombinedOutput()
	if err != nil {
		return nil, string(said)
	}
	out, err = os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return out, ""
}

// sameAsGo checks that EdgesOf matches `go tool preprofile` byte for byte, and refuses the files that Go refuses.
func sameAsGo(t *testing.T, file string) {
	t.Helper()
	p := profiletest.Read(t, file)
	want, refusal := preprofiled(t, file)
	e, err := EdgesOf(p)
	if (err != nil) != (refusal != "") {
		t.Fatalf("%s: EdgesOf says %v, Go says %q", file, err, refusal)
	}
	if err != nil {
		if len(Refusals(p)) == 0 {
			t.Errorf("%s: Go refuses it (%s), Refusals does not", file, refusal)
		}
		return
	}
	if !IsPreprofile(want) || IsPreprofile([]byte("GO PREPROFILE V2\n")) || IsPreprofile(nil) {
		t.Errorf("%s: what Go preprocessed is not known for what it is", file)
	}
	if got := serialized(e); got != string(want) {
		t.Errorf("%s: EdgesOf differs from go tool preprofile: %d bytes and %d", file, len(got), len(want))
	}
	total := int64(0)
	for _, weight := range e.Weight {
		total += weight
	}
	if total != e.Total || len(e.ByWeight) != len(e.Weight) {
		t.Errorf("%s: %d calls of weight %d, want %d of %d", file, len(e.ByWeight), e.Total, len(e.Weight), total)
	}
}

// serialized returns edges in the format of `go tool preprofile` (cmd/internal/pgo: WriteTo).
func serialized(e *Edges) string {
	b := []byte("GO PREPROFILE V1\n")
	for _, edge := range e.ByWeight {
		b = fmt.Appendf(b, "%s\n%s\n%d %d\n", edge.Caller, edge.Callee, edge.Offset, e.Weight[edge])
	}
	return string(b)
}

func TestEdgesMatchGo(t *testing.T) {
	const root = "../../testdata/profiles"
	var files []string
	for _, pattern := range []string{"milvus-*.pb.gz", "t?/*.pb.gz"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 35 {
		t.Fatalf("only %d profiles in %s", len(files), root)
	}
	for _, file := range files {
		sameAsGo(t, file)
	}
}

// randomProfile returns a profile of few functions, so that calls recur. It has inlined frames, recursion, frames
// without names, lines or start lines, values of 0 and below, and any sample types.
func randomProfile(t *testing.T, r *rand.Rand) *profile.Profile {
	t.Helper()
	kinds := [][]profile.ValueType{
		{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		{{Type: "cpu", Unit: "nanoseconds"}, {Type: "samples", Unit: "count"}},
		{{Type: "alloc_space", Unit: "bytes"}, {Type: "samples", Unit: "count"}},
		{{Type: "cpu", Unit: "nanoseconds"}},
		{{Type: "alloc_space", Unit: "bytes"}},
	}
	types := kinds[r.IntN(len(kinds))]
	b := profile.NewBuilder(types...)
	var functions []uint32
	startLines := r.IntN(4)
	for i := range 2 + r.IntN(8) {
		f := profile.Function{Name: fmt.Sprintf("example.com/p.f%d", i%6), File: fmt.Sprintf("f%d.go", i)}
		if r.IntN(8) == 0 {
			f.Name = ""
		}
		f.SystemName = f.Name
		if startLines > 0 {
			f.StartLine = int64(r.IntN(20))
		}
		functions = append(functions, b.Function(f))
	}
	var locations []uint32
	for i := range 2 + r.IntN(12) {
		var lines []profile.Line
		for range r.IntN(4) {
			lines = append(lines, profile.Line{Function: functions[r.IntN(len(functions))], Line: int64(r.IntN(30))})
		}
		locations = append(locations, b.Location(profile.NoMapping, uint64(i/2*16), lines...))
	}
	for range r.IntN(30) {
		var stack []uint32
		for range r.IntN(5) {
			stack = append(stack, locations[r.IntN(len(locations))])
		}
		values := make([]int64, len(types))
		for j := range values {
			values[j] = int64(r.IntN(6) - 1 - r.IntN(2)*r.IntN(3))
		}
		if err := b.Sample(stack, values); err != nil {
			t.Fatal(err)
		}
	}
	return b.Profile()
}

func TestRandomEdgesMatchGo(t *testing.T) {
	dir := t.TempDir()
	for seed := range uint64(150) {
		file := filepath.Join(dir, fmt.Sprintf("%d.pb.gz", seed))
		var b bytes.Buffer
		if err := randomProfile(t, rand.New(rand.NewPCG(seed, 1))).Encode(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		sameAsGo(t, file)
	}
}

func TestHotEdgesReachOverTheThreshold(t *testing.T) {
	heavy, light, last := Edge{Caller: "a", Callee: "b"}, Edge{Caller: "a", Callee: "c"}, Edge{Caller: "a", Callee: "d"}
	e := &Edges{Weight: map[Edge]int64{heavy: 60, light: 39, last: 1}, ByWeight: []Edge{heavy, light, last}, Total: 100}
	for _, c := range []struct {
		percent float64
		hot     int
		least   int64
	}{{0, 1, 60}, {50, 1, 60}, {60, 2, 39}, {98, 2, 39}, {99, 3, 1}, {100, 3, 1}} {
		if hot, least := e.Hot(c.percent); len(hot) != c.hot || least != c.least {
			t.Errorf("Hot(%v) = %d edges down to %d, want %d down to %d", c.percent, len(hot), least, c.hot, c.least)
		}
	}
	if hot, least := (&Edges{}).Hot(HotPercent); len(hot) != 0 || least != 0 {
		t.Errorf("of nothing, %d edges down to %d are hot", len(hot), least)
	}
}
