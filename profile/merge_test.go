package profile_test

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	pprof "github.com/google/pprof/profile"

	"kitescope/profile"
)

// mergeable returns groups of encoded profiles of the same kind.
func mergeable(t *testing.T) map[string][][]byte {
	t.Helper()
	all := fixtures(t)
	groups := map[string][][]byte{
		"one": {all["milvus-cpu-flat.pb.gz"]},
		"cpu": {
			all["milvus-cpu-flat.pb.gz"], all["milvus-cpu-hnsw.pb.gz"], all["milvus-cpu-idle.pb.gz"],
			all["milvus-cpu-flat.pb.gz"],
		},
		"heap":     {all["milvus-heap.pb.gz"], all["milvus-heap.pb.gz"]},
		"no stack": {all["milvus-mutex.pb.gz"], all["milvus-mutex.pb.gz"]},
	}
	for seed := range uint64(10) {
		p, q := generate(seed, 50), generate(seed+1000, 70)
		q.SampleType, q.PeriodType = p.SampleType, p.PeriodType
		for _, s := range q.Sample { // len(p.SampleType) values, some of them 0
			s.Value = make([]int64, len(p.SampleType))
			s.Value[0] = int64(len(s.Location) % 4)
		}
		if len(q.Location) > 9 && len(q.Mapping) > 0 {
			q.Mapping[0].File = "shared.so"
		}
		p.TimeNanos, q.TimeNanos = 7e18, 5e18
		negative := p.Copy()
		negative.Scale(-1)
		groups["generated "+strconv.FormatUint(seed, 10)] = [][]byte{
			marshalGoogle(t, p), marshalGoogle(t, q), marshalGoogle(t, p),
		}
		groups["cancelled "+strconv.FormatUint(seed, 10)] = [][]byte{
			marshalGoogle(t, p), marshalGoogle(t, q), marshalGoogle(t, negative),
		}
	}
	return groups
}

func TestMergeMatchesGoogle(t *testing.T) {
	groups := mergeable(t)
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		t.Run(name, func(t *testing.T) {
			var theirs []*pprof.Profile
			var ours []*profile.Profile
			for _, data := range groups[name] {
				p, err := parseGoogle(data)
				if err != nil {
					t.Fatal(err)
				}
				theirs = append(theirs, p)
				ours = append(ours, mustDecode(t, data))
			}
			want, err := pprof.Merge(theirs)
			if err != nil {
				t.Fatal(err)
			}
			before := meaningOf(ours[0])
			got, err := profile.Merge(ours, profile.MergeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := difference(meaningOfGoogle(want), meaningOf(got)); diff != "" {
				t.Errorf("google's merge (-) and ours (+) differ:\n%s", diff)
			}
			if diff := difference(before, meaningOf(ours[0])); diff != "" {
				t.Errorf("it changed what it merged:\n%s", diff)
			}
			if diff := difference(meaningOf(got), meaningOf(mustDecode(t, encode(t, got)))); diff != "" {
				t.Errorf("the result is not whole:\n%s", diff)
			}
		})
	}
}

// small returns a profile with one function per letter of its stacks, leaf first: in "ab", b calls a.
func small(t *testing.T, types []profile.ValueType, values map[string][]int64) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(types...)
	for _, stack := range slices.Sorted(maps.Keys(values)) {
		var frames []uint32
		for _, c := range stack {
			frames = append(frames, b.Frame(string(c), profile.NoMapping))
		}
		if err := b.Sample(frames, values[stack]); err != nil {
			t.Fatal(err)
		}
	}
	p := b.Profile()
	p.PeriodType, p.Period = types[0], 10
	return p
}

// stacks returns the values of a profile by stack and labels, e.g. "ab node=x".
func stacks(p *profile.Profile) map[string][]int64 {
	found := map[string][]int64{}
	for i := range p.Len() {
		var name strings.Builder
		for _, l := range p.Stack(i) {
			for _, line := range p.LinesOf(l) {
				name.WriteString(p.Functions[line.Function].Name)
			}
		}
		for _, l := range p.Labels(i) {
			name.WriteString(" " + l.Key + "=" + l.Str)
		}
		found[name.String()] = p.Values[i*len(p.Types):][:len(p.Types)]
	}
	return found
}

func cpuTypes() []profile.ValueType {
	return []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
}

func withNode(p *profile.Profile, node, role string) *profile.Profile {
	q := *p
	q.Origin = profile.Origin{Name: node + ".pb.gz", Node: node, Role: role, Format: "pprof"}
	return &q
}

func TestMergeNodes(t *testing.T) {
	types := cpuTypes()
	one := withNode(small(t, types, map[string][]int64{"ab": {1, 10}, "b": {2, 20}}), "querynode-1", "querynode")
	two := withNode(small(t, types, map[string][]int64{"ab": {4, 40}}), "querynode-2", "querynode")
	unknown := small(t, types, map[string][]int64{"ab": {8, 80}})
	unknown.Origin.Name = "/somewhere/cpu.pb.gz"
	merged, err := profile.Merge([]*profile.Profile{one, two, unknown}, profile.MergeOptions{Nodes: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]int64{
		"ab node=querynode-1 role=querynode": {1, 10}, "b node=querynode-1 role=querynode": {2, 20},
		"ab node=querynode-2 role=querynode": {4, 40}, "ab node=cpu": {8, 80},
	}
	if diff := cmp.Diff(want, stacks(merged)); diff != "" {
		t.Error(diff)
	}
	if len(merged.Notes) > 0 {
		t.Errorf("notes %v", merged.Notes)
	}
	want = map[string][]int64{"ab": {13, 130}, "b": {2, 20}}
	if diff := cmp.Diff(want, stacks(merged.Collapse())); diff != "" {
		t.Errorf("collapsed: %s", diff)
	}
	again, err := profile.Merge([]*profile.Profile{
		merged, withNode(small(t, types, map[string][]int64{"c": {1, 1}}), "proxy-3", "proxy"),
	}, profile.MergeOptions{Nodes: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := stacks(again); got["ab node=cpu"] == nil || got["c node=proxy-3 role=proxy"] == nil || len(got) != 5 {
		t.Errorf("merged once more: %v", got)
	}
}

func TestMergeDuplicateNodeNames(t *testing.T) {
	types := cpuTypes()
	p := withNode(small(t, types, map[string][]int64{"a": {1, 10}}), "querynode-1", "")
	ps := []*profile.Profile{p, p, p}
	merged, err := profile.Merge(ps, profile.MergeOptions{Nodes: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]int64{
		"a node=querynode-1": {1, 10}, "a node=querynode-1 (2)": {1, 10}, "a node=querynode-1 (3)": {1, 10},
	}
	if diff := cmp.Diff(want, stacks(merged)); diff != "" {
		t.Error(diff)
	}
	if len(merged.Notes) != 2 || !strings.Contains(merged.Notes[0].What, `several processes are called "querynode-1"`) {
		t.Errorf("notes %v", merged.Notes)
	}
	merged, err = profile.Merge(ps, profile.MergeOptions{Nodes: true, SameNodes: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]int64{"a node=querynode-1": {3, 30}}, stacks(merged)); diff != "" {
		t.Errorf("of one process: %s", diff)
	}
}

func TestSetLabel(t *testing.T) {
	p := small(t, cpuTypes(), map[string][]int64{"a": {1, 10}, "b": {2, 20}})
	base := p.SetLabel(profile.BaseLabel, "true")
	if diff := cmp.Diff(map[string][]int64{"a pprof::base=true": {1, 10}, "b pprof::base=true": {2, 20}},
		stacks(base)); diff != "" {
		t.Error(diff)
	}
	if p.LabelOf != nil || len(p.LabelSets[0]) != 0 {
		t.Error("it changed the profile")
	}
	if base.Total(0) != 3 || len(base.LabelSets[0]) != 0 {
		t.Errorf("total %d, first set %v", base.Total(0), base.LabelSets[0])
	}
}

func TestMergeHeaders(t *testing.T) {
	first, second := small(t, cpuTypes(), map[string][]int64{"a": {1, 10}}),
		small(t, cpuTypes(), map[string][]int64{"a": {1, 10}})
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first.Duration, second.Duration = time.Second, 2*time.Second
	second.Time, second.Period, second.DefaultType, second.DocURL, second.Comments = when, 99, "cpu", "https://x",
		[]string{"c"}
	first.Notes, second.Notes = []profile.Note{{What: "odd", Count: 2}}, []profile.Note{{What: "odd", Count: 3}}
	p, err := profile.Merge([]*profile.Profile{first, second, first}, profile.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := []any{p.Time, p.Duration, p.Period, p.DefaultType, p.DocURL, p.Comments, p.Notes, p.Origin.Name}
	want := []any{
		when, 4 * time.Second, int64(99), "cpu", "https://x",
		[]string{"c"},
		[]profile.Note{{What: "odd", Count: 7}},
		"3 profiles",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMergeOfDifferentTypes(t *testing.T) {
	cpu := small(t, cpuTypes(), map[string][]int64{"a": {1, 10}})
	cpu.Origin.Name = "cpu.pb.gz"
	heap := small(t, []profile.ValueType{{Type: "inuse_space", Unit: "bytes"}}, map[string][]int64{"a": {1}})
	heap.Origin.Name = "heap.pb.gz"
	micro := small(t, []profile.ValueType{{Type: "cpu", Unit: "microseconds"}, {Type: "extra", Unit: "count"}},
		map[string][]int64{"a": {7, 1}, "b": {3, 0}})
	micro.PeriodType, micro.Period, micro.DefaultType = cpu.PeriodType, 10, "extra"
	m := profile.NewMerger(profile.MergeOptions{})
	if err := m.Add(cpu); err != nil {
		t.Fatal(err)
	}
	if err := m.Add(heap); err == nil || !strings.Contains(err.Error(), "heap.pb.gz has the") ||
		!strings.Contains(hintOf(err), "CPU with CPU") {
		t.Errorf("error %v, hint %q", err, hintOf(err))
	}
	for _, p := range []*profile.Profile{micro, cpu} {
		if err := m.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	merged := m.Profile()
	if diff := cmp.Diff(map[string][]int64{"a": {7020}, "b": {3000}}, stacks(merged)); diff != "" {
		t.Error(diff)
	}
	if merged.Types[0] != cpuTypes()[1] || merged.DefaultType != "cpu" {
		t.Errorf("types %v, default %q", merged.Types, merged.DefaultType)
	}
	// In reverse order, the finer unit comes after values that are already merged.
	p, err := profile.Merge([]*profile.Profile{micro, cpu}, profile.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]int64{"a": {7010}, "b": {3000}}, stacks(p)); diff != "" ||
		p.Types[0].Unit != "nanoseconds" {
		t.Errorf("%v %s", p.Types, diff)
	}
	if _, err := profile.Merge(nil, profile.MergeOptions{}); err == nil {
		t.Error("no error for no profiles")
	}
}

func TestMergeLimits(t *testing.T) {
	p := small(t, cpuTypes(), map[string][]int64{"a": {1, 10}, "b": {1, 1}, "c": {1, 1}})
	for _, limits := range []profile.Limits{{MaxSamples: 2}, {MaxMemory: 100}} {
		_, err := profile.Merge([]*profile.Profile{p}, profile.MergeOptions{Limits: limits})
		if err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("%+v: error %v", limits, err)
		}
	}
}

// TestMergeOfShiftedPrograms checks that stacks of a program that is mapped at a different address in each
// process are added up.
func TestMergeOfShiftedPrograms(t *testing.T) {
	at := func(start uint64) *profile.Profile {
		b := profile.NewBuilder(cpuTypes()...)
		m := b.Mapping(profile.Mapping{Start: start, Limit: start + 0x10000, File: "/bin/x", BuildID: "1"})
		if err := b.Sample([]uint32{b.Location(m, start+0x123)}, []int64{1, 10}); err != nil {
			t.Fatal(err)
		}
		return b.Profile()
	}
	p, err := profile.Merge([]*profile.Profile{at(0x400000), at(0x7f0000000000), at(0x10000)}, profile.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Len() != 1 || p.Value(0, 0) != 3 || len(p.Mappings) != 1 || p.Locations[0].Address != 0x400123 {
		t.Errorf("%d samples, values %v, mappings %v, locations %v", p.Len(), p.Values, p.Mappings, p.Locations)
	}
}

func TestMergeReleasesNameTables(t *testing.T) {
	data := fixtures(t)["milvus-cpu-flat.pb.gz"]
	var b bytes.Buffer
	p, err := profile.Merge([]*profile.Profile{mustDecode(t, data)}, profile.MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() > len(data)*13/10 {
		t.Errorf("%d bytes became %d", len(data), b.Len())
	}
}
