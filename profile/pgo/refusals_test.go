package pgo

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kitescope/profile"
	"kitescope/profile/read"
)

// readFile reads a file of any format.
func readFile(t *testing.T, name string) *profile.Profile {
	t.Helper()
	p, err := read.Open(t.Context(), filepath.Join("../../testdata/profiles", name), read.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// changed returns a profile after applying a change to a copy of its tables.
func changed(p *profile.Profile, change func(p *profile.Profile)) *profile.Profile {
	own := *p
	own.Values, own.Functions, own.Lines, own.Locations = slices.Clone(p.Values), slices.Clone(p.Functions),
		slices.Clone(p.Lines), slices.Clone(p.Locations)
	change(&own)
	return &own
}

// TestRefusalReason checks that each profile is refused for exactly one reason, the right one, and with
// a hint, and that Go refuses exactly the profiles marked goRefuses.
func TestRefusalReason(t *testing.T) {
	good := milvus(t, "cpu-hnswcos-nq1-20s")
	with := func(change func(p *profile.Profile)) *profile.Profile { return changed(good, change) }
	for name, c := range map[string]struct {
		p           *profile.Profile
		id, message string
		goRefuses   bool
	}{
		"heap": {
			milvus(t, "heap"), "wrong-type",
			"this has alloc_objects/count, alloc_space/bytes, inuse_objects/count, inuse_space/bytes", true,
		},
		"allocs":    {milvus(t, "allocs"), "wrong-type", "alloc_space/bytes", true},
		"goroutine": {milvus(t, "goroutine"), "wrong-type", "this has goroutine/count", true},
		"threads":   {milvus(t, "threadcreate"), "wrong-type", "this has threadcreate/count", true},
		"mutex":     {milvus(t, "mutex"), "no-samples", "it has no samples", false},
		"block":     {milvus(t, "block"), "no-samples", "it has no samples", false},
		"contention": {with(func(p *profile.Profile) {
			p.Types = []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
		}), "wrong-type", "this has contentions/count, delay/nanoseconds", true},
		"no samples": {
			with(func(p *profile.Profile) { p.Starts, p.Stacks, p.Values = p.Starts[:1], nil, nil }), "no-samples",
			"it has no samples", false,
		},
		"all zero":   {with(func(p *profile.Profile) { clear(p.Values) }), "all-zero", "all of its", true},
		"difference": {with(func(p *profile.Profile) { p.Values[0] = -2 }), "negative-values", "1 of its", false},
		"overflow": {
			with(func(p *profile.Profile) { p.Values[0], p.Values[len(p.Types)] = math.MaxInt64, math.MaxInt64 }),
			"too-large", "64 bits", false,
		},
		"nameless": {
			with(func(p *profile.Profile) { clear(p.Functions) }), "no-names", "functions have addresses, but no names",
			true,
		},
		"addresses": {
			with(func(p *profile.Profile) { clearLines(p) }), "no-names", "functions have addresses, but no names",
			true,
		},
		"old Go":      {with(withoutStartLines), "no-start-lines", "no function has a start line: Go refuses it", true},
		"folded":      {readFile(t, "milvus-flat.folded"), "no-start-lines", "format folded has none", true},
		"perf script": {readFile(t, "perf-script-goldmark.txt"), "no-start-lines", "format perf script has none", true},
		"C++":         {readFile(t, "perf/cpp.txt"), "no-go", "it has no Go code", true},
		"Java":        {readFile(t, "jfr/words.json"), "no-go", "it has no Go code", true},
		"native":      {with(nativeEnds), "no-start-lines", "no stack ends in two Go frames", true},
		"leaves only": {with(leavesOnly), "no-calls", "no calls between functions", false},
	} {
		list := Refusals(c.p)
		if ids(list) != c.id || !strings.Contains(list[0].Message, c.message) || list[0].Hint == "" {
			t.Errorf("%s: %+v", name, list)
		}
		if j := mustJudge(t, Input{Name: "x", Profile: c.p}); j.Verdict != Unfit ||
			len(list) > 0 && j.Reason != list[0].Message {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
		var b bytes.Buffer
		if err := c.p.Encode(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file := filepath.Join(t.TempDir(), "x.pb.gz")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, refusal := preprofiled(t, file); (refusal != "") != c.goRefuses {
			t.Errorf("%s: Go says %q", name, refusal)
		}
		if _, err := EdgesOf(c.p); (err != nil) != c.goRefuses {
			t.Errorf("%s: EdgesOf says %v", name, err)
		}
	}
	if list := Refusals(good); len(list) != 0 {
		t.Errorf("the good one: %+v", list)
	}
}

func clearLines(p *profile.Profile) {
	for i := range p.Locations {
		p.Locations[i].Lines = 0
	}
}

func withoutStartLines(p *profile.Profile) {
	for i := range p.Functions {
		p.Functions[i].StartLine = 0
	}
}

// nativeEnds zeroes the values of the samples whose leaf or caller has a start line, so all remaining samples
// end in native code.
func nativeEnds(p *profile.Profile) {
	for i := range p.Len() {
		stack := p.Stack(i)
		for _, location := range stack[:min(2, len(stack))] {
			for _, line := range p.LinesOf(location) {
				if p.Functions[line.Function].StartLine != 0 {
					clear(p.Values[i*len(p.Types) : (i+1)*len(p.Types)])
				}
			}
		}
	}
}

// leavesOnly reduces each stack to the function of its leaf.
func leavesOnly(p *profile.Profile) {
	starts, stacks := []uint32{0}, []uint32(nil)
	for i := range p.Len() {
		stacks = append(stacks, p.Stack(i)[0])
		starts = append(starts, uint32(len(stacks)))
	}
	for i := range p.Locations {
		if l := &p.Locations[i]; l.Lines > 1 {
			l.Lines = 1
		}
	}
	p.Starts, p.Stacks = starts, stacks
}

// TestLabelsIgnored checks that labels do not change the judgement. The compiler ignores labels too.
func TestLabelsIgnored(t *testing.T) {
	plain := milvus(t, "cpu-hnswcos-nq1-20s")
	labelled := *plain
	labelled.LabelSets = [][]profile.Label{nil, {{Key: "tenant", Str: "a"}}, {{Key: "tenant", Str: "b"}}}
	labelled.LabelOf = make([]uint32, plain.Len())
	for i := range labelled.LabelOf {
		labelled.LabelOf[i] = uint32(i % 3)
	}
	a, b := mustJudge(t, Input{Name: "x", Profile: plain}), mustJudge(t, Input{Name: "x", Profile: &labelled})
	if a.Reason != b.Reason || a.Edges.Total != b.Edges.Total || len(a.Edges.Weight) != len(b.Edges.Weight) {
		t.Errorf("%s, and with labels %s", a.Reason, b.Reason)
	}
}
