package pgo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pprof "github.com/google/pprof/profile"

	"kitescope/profile"
)

const fixtures = "../../testdata/profiles/"

// packCombos returns sets of files to pack together, by the name of the set.
func packCombos(t *testing.T) map[string][]string {
	t.Helper()
	one, err := filepath.Glob(fixtures + "milvus-cpu-*.pb.gz")
	if err != nil || len(one) < 5 {
		t.Fatalf("fixtures: %v %v", one, err)
	}
	combos := map[string][]string{"all loads": one, filepath.Base(one[0]): one[:1]}
	for _, folder := range []string{"t3", "t5"} {
		nodes, err := filepath.Glob(fixtures + folder + "/*.cpu.pb.gz")
		if err != nil || len(nodes) < 5 {
			t.Fatalf("fixtures: %v %v", nodes, err)
		}
		combos["nodes of "+folder] = nodes
	}
	return combos
}

func inputsOf(t *testing.T, files []string) []Input {
	t.Helper()
	list := make([]Input, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = inputOf(t, filepath.Base(file), text)
	}
	return list
}

func inputOf(t *testing.T, name string, text []byte) Input {
	t.Helper()
	p, err := profile.Decode(t.Context(), bytes.NewReader(text), profile.Limits{})
	return Input{Name: name, Profile: p, Err: err}
}

// plainMerge merges profiles with Google's package and changes nothing except the names of blocked functions.
func plainMerge(t *testing.T, texts [][]byte, o PackOptions) []byte {
	t.Helper()
	var list []*pprof.Profile
	for _, text := range texts {
		p, err := pprof.ParseData(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range o.Block {
			for _, f := range p.Function {
				if f.Name == name {
					f.Name = "DO NOT INLINE: " + name
				}
			}
		}
		list = append(list, p)
	}
	merged, err := pprof.Merge(list)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := merged.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// preprofile returns the output of `go tool preprofile` for a profile.
func preprofile(t *testing.T, text []byte) string {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("go", "tool", "preprofile", "-i", in, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("go tool preprofile: %v\n%s", err, said)
	}
	result, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(result)
}

func TestPackEqualsMerge(t *testing.T) {
	t.Parallel()
	for name, files := range packCombos(t) {
		for _, o := range []PackOptions{{}, {Block: []string{"runtime.gopark"}}} {
			t.Run(fmt.Sprint(name, " ", o.Block), func(t *testing.T) {
				t.Parallel()
				inputs := inputsOf(t, files)
				for _, b := range o.Block {
					if !slices.ContainsFunc(inputs, func(in Input) bool {
						return slices.ContainsFunc(in.Profile.Functions, func(f profile.Function) bool {
							return f.Name == b
						})
					}) {
						o.Block = nil
					}
				}
				pack, err := NewPack(t.Context(), inputs, o)
				if err != nil && len(o.Block) > 0 && strings.Contains(err.Error(), "no such function") {
					return // the function occurs only further up in stacks
				}
				if err != nil {
					t.Fatal(err)
				}
				var texts [][]byte
				for _, file := range files {
					text, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					texts = append(texts, text)
				}
				got, want := preprofile(t, pack.Bytes), preprofile(t, plainMerge(t, texts, o))
				if got != want {
					t.Fatalf("the compiler sees another profile: %s",
						cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
				}
				if strings.Count(got, "\n") < 4 {
					t.Errorf("only %d lines: nothing was compared", strings.Count(got, "\n"))
				}
				if serialized(pack.Edges) != got {
					t.Error("the edges of the pack are not those of the file")
				}
			})
		}
	}
}

// TestPackOfOddProfiles checks packs of functions that call themselves, at several addresses and without any,
// of frames without names, lines and functions, and of samples with a single frame.
func TestPackOfOddProfiles(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	for range 12 {
		var texts [][]byte
		var inputs []Input
		for range 1 + random.IntN(3) {
			text := oddProfile(t, random)
			texts = append(texts, text)
			inputs = append(inputs, inputOf(t, "odd", text))
		}
		pack, err := NewPack(t.Context(), inputs, PackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		merged := inputOf(t, "merged", plainMerge(t, texts, PackOptions{})).Profile
		want, err := EdgesOf(merged)
		if err != nil {
			t.Fatal(err)
		}
		sum := serialized(want)
		if got := preprofile(t, pack.Bytes); got != sum {
			t.Fatalf("the compiler sees another profile: %s",
				cmp.Diff(strings.Split(sum, "\n"), strings.Split(got, "\n")))
		}
	}
}

func oddProfile(t testing.TB, random *rand.Rand) []byte {
	t.Helper()
	p := &pprof.Profile{
		SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &pprof.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Mapping: []*pprof.Mapping{{ID: 1, Start: 0, Limit: 1 << 20, File: "/bin/odd", BuildID: "b"}},
	}
	for i := range 4 {
		p.Function = append(p.Function, &pprof.Function{
			ID: uint64(i + 1), Name: []string{"", "main.a", "main.b", "main.c"}[i],
			StartLine: []int64{0, 10, 20, 10}[i],
		})
	}
	for i := range 12 {
		l := &pprof.Location{ID: uint64(i + 1), Mapping: p.Mapping[0], Address: uint64(random.IntN(4) * 16)}
		for range random.IntN(4) {
			l.Line = append(l.Line, pprof.Line{
				Function: p.Function[random.IntN(4)], Line: int64(20 + random.IntN(3)), Column: int64(i),
			})
		}
		p.Location = append(p.Location, l)
	}
	for i := range 40 {
		s := &pprof.Sample{
			Value: []int64{int64(1 + random.IntN(9)), 0}, Label: map[string][]string{"n": {strconv.Itoa(i % 3)}},
		}
		s.Value[1] = s.Value[0] * 1e7
		for range 1 + random.IntN(4) {
			s.Location = append(s.Location, p.Location[random.IntN(12)])
		}
		p.Sample = append(p.Sample, s)
	}
	p.Sample = append(p.Sample, &pprof.Sample{ // a call with a start line, so that Go accepts the profile
		Value: []int64{1, 1e7},
		Location: []*pprof.Location{
			{ID: 13, Line: []pprof.Line{{Function: p.Function[1], Line: 12}, {Function: p.Function[2], Line: 22}}},
		},
	})
	p.Location = append(p.Location, p.Sample[40].Location[0])
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPackContents(t *testing.T) {
	pack, err := NewPack(t.Context(), inputsOf(t, packCombos(t)["nodes of t3"]), PackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pprof.ParseData(pack.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	if len(p.Mapping) > 0 || p.TimeNanos != 0 || p.DurationNanos != 0 || p.Period != 0 || len(p.Comments) > 0 ||
		p.DropFrames != "" || len(p.SampleType) != 1 {
		t.Errorf("it has more than a compiler reads: %+v", p)
	}
	for _, f := range p.Function {
		if f.Filename != "" || f.SystemName != "" {
			t.Fatalf("a function has more than name and start line: %+v", f)
		}
	}
	for _, l := range p.Location {
		if l.Address > recursiveAddress ||
			slices.ContainsFunc(l.Line, func(x pprof.Line) bool { return x.Column != 0 }) {
			t.Fatalf("a location has more than functions and lines: %+v", l)
		}
	}
	for _, s := range p.Sample {
		if len(s.Location) > 2 || len(s.Label) > 0 {
			t.Fatalf("a sample has more than two locations: %+v", s)
		}
	}
}

func TestPackIsTheSameInAnyOrder(t *testing.T) {
	files := packCombos(t)["nodes of t5"]
	first, err := NewPack(t.Context(), inputsOf(t, files), PackOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(files)
	slices.Reverse(other)
	for range 3 {
		again, err := NewPack(t.Context(), inputsOf(t, other), PackOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes, again.Bytes) {
			t.Fatal("other bytes of the same profiles")
		}
		other = append(other[3:], other[:3]...)
	}
}
