package profile_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gprofile "github.com/google/pprof/profile"

	"kitescope/profile"
)

// random returns a small profile with everything that filters depend on: inlined lines, locations without
// lines or mapping, equal names, recursion, labels, empty stacks.
func random(r *rand.Rand) *gprofile.Profile {
	letters := []string{
		"a", "b", "c", "d", "operator()", "std::vector<a>::push(int)", "(anonymous namespace)::e(f)", ".g", "",
	}
	p := &gprofile.Profile{
		SampleType: []*gprofile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &gprofile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10,
	}
	if r.IntN(2) == 0 {
		p.DropFrames = "a|operator.*|std::.*"
		p.KeepFrames = []string{"", "a"}[r.IntN(2)]
	}
	for i := range 3 {
		p.Mapping = append(p.Mapping, &gprofile.Mapping{
			ID: uint64(i) + 1, Start: uint64(i) << 20, Limit: uint64(i+1) << 20,
			File: []string{"/bin/main", "/lib/liba.so", ""}[i],
		})
	}
	for i := range 8 {
		p.Function = append(p.Function, &gprofile.Function{
			ID: uint64(i) + 1, Name: letters[r.IntN(len(letters))], Filename: letters[r.IntN(4)] + ".go",
			StartLine: int64(r.IntN(3)),
		})
	}
	for i := range 8 {
		l := &gprofile.Location{ID: uint64(i) + 1, Address: uint64(r.IntN(100))}
		if m := r.IntN(4); m < 3 {
			l.Mapping = p.Mapping[m]
		}
		for range r.IntN(4) {
			l.Line = append(l.Line, gprofile.Line{Function: p.Function[r.IntN(8)], Line: int64(r.IntN(9))})
		}
		p.Location = append(p.Location, l)
	}
	for range 12 {
		s := &gprofile.Sample{Value: []int64{int64(r.IntN(4)), int64(r.IntN(40))}}
		for range r.IntN(6) {
			s.Location = append(s.Location, p.Location[r.IntN(8)])
		}
		if r.IntN(2) == 0 {
			s.Label = map[string][]string{profile.NodeLabel: {letters[r.IntN(3)]}}
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

// fromGoogle converts a profile of google's type to ours by encoding and decoding it.
func fromGoogle(t *testing.T, p *gprofile.Profile) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	q, err := profile.Decode(context.Background(), &b, profile.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// googleStacks and ourStacks return all samples as text.
func googleStacks(p *gprofile.Profile) []string {
	var all []string
	for _, s := range p.Sample {
		var words []string
		for _, l := range s.Location {
			object := "-"
			if l.Mapping != nil {
				object = l.Mapping.File
			}
			words = append(words, fmt.Sprintf("%d %s", l.Address, object))
			for _, line := range l.Line {
				words = append(words, fmt.Sprintf("%s %s:%d", line.Function.Name, line.Function.Filename, line.Line))
			}
		}
		all = append(all, fmt.Sprint(strings.Join(words, "; "), s.Value, s.Label[profile.NodeLabel]))
	}
	return all
}

func ourStacks(p *profile.Profile) []string {
	var all []string
	for i := range p.Len() {
		var words []string
		for _, l := range p.Stack(i) {
			object := "-"
			if m := p.MappingOf(l); m != nil {
				object = m.File
			}
			words = append(words, fmt.Sprintf("%d %s", p.Locations[l].Address, object))
			for _, line := range p.LinesOf(l) {
				f := &p.Functions[line.Function]
				words = append(words, fmt.Sprintf("%s %s:%d", f.Name, f.File, line.Line))
			}
		}
		nodes := []string{}
		for _, l := range p.Labels(i) {
			nodes = append(nodes, l.Str)
		}
		all = append(all, fmt.Sprint(strings.Join(words, "; "), []int64{p.Value(i, 0), p.Value(i, 1)}, nodes))
	}
	return all
}

func TestFilterMatchesGoogle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	expressions := []string{"", "", "", "a", "b", "c|d", "liba", "main", "e", ".go", "push", "^$", "nothing"}
	changed := 0
	for n := range 300 {
		p := random(r)
		f := &profile.Filter{}
		rx := func() *regexp.Regexp {
			if e := expressions[r.IntN(len(expressions))]; e != "" {
				return regexp.MustCompile(e)
			}
			return nil
		}
		f.Focus, f.Ignore, f.Hide, f.Show = rx(), rx(), rx(), rx()
		q := fromGoogle(t, p)
		before := ourStacks(q)
		got := ourStacks(q.Filter(f))
		if diff := cmp.Diff(before, ourStacks(q)); diff != "" {
			t.Fatalf("%d: Filter changed the profile itself\n%s", n, diff)
		}
		if err := p.RemoveUninteresting(); err != nil {
			t.Fatal(err)
		}
		p.FilterSamplesByName(f.Focus, f.Ignore, f.Hide, f.Show)
		if diff := cmp.Diff(googleStacks(p), got); diff != "" {
			t.Fatalf("%d: %v: google's -, ours +\n%s", n, f, diff)
		}
		if !slices.Equal(before, got) {
			changed++
		}
	}
	if changed < 90 {
		t.Errorf("only %d of 300 filters changed anything: what does this test?", changed)
	}
}

func TestFilterByNodes(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "count"})
	stack := []uint32{b.Frame("f", profile.NoMapping)}
	for i, labels := range [][]profile.Label{
		nil,
		{{Key: profile.NodeLabel, Str: "querynode-1"}},
		{{Key: profile.NodeLabel, Str: "querynode-2"}, {Key: "bytes", Num: 64, Unit: "bytes", IsNum: true}},
		{{Key: "bytes", Num: 0, IsNum: true}},
	} {
		if err := b.Sample(stack, []int64{1 << i}, labels...); err != nil {
			t.Fatal(err)
		}
	}
	p := b.Profile()
	for _, test := range []struct {
		name   string
		filter profile.Filter
		want   int64
	}{
		{"nothing", profile.Filter{}, 15},
		{"a node", profile.Filter{Nodes: []string{"querynode-1"}}, 2},
		{"two nodes", profile.Filter{Nodes: []string{"querynode-2", "querynode-1"}}, 6},
		{"no node", profile.Filter{Nodes: []string{}}, 0},
		{"another node", profile.Filter{Nodes: []string{"querynode"}}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := p.Filter(&test.filter).Total(0); got != test.want {
				t.Errorf("samples %b are left, want %b", got, test.want)
			}
		})
	}
}

func TestPruneInvalidExpression(t *testing.T) {
	p := fromGoogle(t, random(rand.New(rand.NewPCG(5, 6))))
	for _, bad := range [][2]string{{"(", ""}, {"a", "("}} {
		p.DropFrames, p.KeepFrames = bad[0], bad[1]
		if diff := cmp.Diff(ourStacks(p), ourStacks(p.Prune())); diff != "" {
			t.Errorf("%q: %s", bad, diff)
		}
	}
}
