package profile_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"kitescope/internal/hints"
	"kitescope/profile"
)

func TestKindOf(t *testing.T) {
	heap := &profile.Profile{
		Types: []profile.ValueType{
			{Type: "alloc_objects", Unit: "count"},
			{Type: "alloc_space", Unit: "bytes"},
			{Type: "inuse_objects", Unit: "count"},
			{Type: "inuse_space", Unit: "bytes"},
		},
		DefaultType: "alloc_space",
	}
	legacy := &profile.Profile{
		Types:       []profile.ValueType{{Type: "objects", Unit: "count"}, {Type: "space", Unit: "bytes"}},
		DefaultType: "gone",
	}
	for _, test := range []struct {
		name string
		p    *profile.Profile
		word string
		want int
		err  string
	}{
		{"the default", heap, "", 1, ""},
		{"a name", heap, "inuse_objects", 2, ""},
		{"a number", heap, "3", 3, ""},
		{"a number too large", heap, "4", 0, "0 to 3"},
		{"a negative number", heap, "-1", 0, "0 to 3"},
		{"a name that it has not", heap, "cpu", 0, `"cpu"`},
		{"a default that it has not is the last", legacy, "", 1, ""},
		{"the new name of an old type", legacy, "inuse_objects", 0, ""},
		{"no other prefix", legacy, "alloc_objects", 0, `"alloc_objects"`},
		{"no types", &profile.Profile{}, "", 0, "no sample types"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.p.KindOf(test.word)
			if test.err == "" {
				if err != nil || got != test.want {
					t.Errorf("%d, %v; want %d", got, err, test.want)
				}
				return
			}
			var hint *hints.Error
			if !errors.As(err, &hint) || !strings.Contains(err.Error(), test.err) || hint.Hint() == "" {
				t.Errorf("%v; want an error with a hint that says %q", err, test.err)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	const ms = 1_000_000
	cpu := profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	for _, test := range []struct {
		name   string
		types  []profile.ValueType
		period profile.ValueType
		every  int64
		values [][]int64
		kind   int
		want   int64
		first  float64
	}{
		{
			"samples are counted",
			[]profile.ValueType{{Type: "samples", Unit: "count"}, cpu},
			cpu, 10,
			[][]int64{{3, 30}, {4, 40}},
			1, 7, 3,
		},
		{
			"also without a period",
			[]profile.ValueType{{Type: "samples", Unit: "count"}, cpu},
			profile.ValueType{},
			0,
			[][]int64{{3, 30}},
			1, 3, 3,
		},
		{"the period divides", []profile.ValueType{cpu}, cpu, ms, [][]int64{{3 * ms}, {5 * ms}}, 0, 8, 3},
		{
			"a rounded period divides",
			[]profile.ValueType{cpu},
			cpu, 10_101_010,
			[][]int64{{30_303_030}, {1_000_000_000}},
			0, 102, 30303030.0 / 10_101_010,
		},
		{
			"the period contradicts the values",
			[]profile.ValueType{cpu},
			cpu, ms,
			[][]int64{{3 * ms}, {5*ms + ms/2}},
			0, -1, 0,
		},
		{
			"the period is larger than the values",
			[]profile.ValueType{cpu},
			cpu, 1000 * ms,
			[][]int64{{30 * ms}},
			0,
			-1, 0,
		},
		{
			"nothing samples each byte",
			[]profile.ValueType{{Type: "space", Unit: "bytes"}},
			profile.ValueType{Type: "space", Unit: "bytes"},
			1,
			[][]int64{{30}},
			0, -1, 0,
		},
		{"nothing samples each nanosecond", []profile.ValueType{cpu}, cpu, 1, [][]int64{{30}}, 0, -1, 0},
		{
			"a period of something else does not",
			[]profile.ValueType{cpu},
			profile.ValueType{Type: "cycles", Unit: "count"},
			10,
			[][]int64{{30}},
			0, -1, 0,
		},
		{
			"the heap is scaled up",
			[]profile.ValueType{{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}},
			profile.ValueType{Type: "space", Unit: "bytes"},
			524288,
			[][]int64{{10, 5000}},
			1, -1, 0,
		},
		{
			"contention is scaled up",
			[]profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
			profile.ValueType{Type: "contentions", Unit: "count"},
			1,
			[][]int64{{10, 5000}},
			0, -1, 0,
		},
		{
			"goroutines are not sampled",
			[]profile.ValueType{{Type: "goroutine", Unit: "count"}},
			profile.ValueType{Type: "goroutine", Unit: "count"},
			1,
			[][]int64{{10}},
			0, -1, 0,
		},
		{"there are none", []profile.ValueType{{Type: "samples", Unit: "count"}, cpu}, cpu, 10, nil, 1, 0, 0},
		{"there is no such type", []profile.ValueType{cpu}, cpu, 10, nil, 7, -1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := profile.NewBuilder(test.types...)
			b.Meta().PeriodType, b.Meta().Period = test.period, test.every
			for i, v := range test.values {
				if err := b.Sample([]uint32{b.Location(profile.NoMapping, uint64(i))}, v); err != nil {
					t.Fatal(err)
				}
			}
			perSample, total := b.Profile().Events(test.kind)
			if total != test.want || len(test.values) > 0 && perSample(0) != test.first {
				t.Errorf("%d events, want %d", total, test.want)
			}
		})
	}
}

// TestEventsOfMerged checks that a merge does not yield a number of samples that its profiles do not have.
// Sums may be multiples of the period by chance, or of a period that only one profile has.
func TestEventsOfMerged(t *testing.T) {
	const ms = 1_000_000
	cpu := profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	sampled := func(period int64, values ...int64) *profile.Profile {
		b := profile.NewBuilder(cpu)
		b.Meta().PeriodType, b.Meta().Period = cpu, period
		for i, v := range values {
			if err := b.Sample([]uint32{b.Location(profile.NoMapping, uint64(i))}, []int64{v}); err != nil {
				t.Fatal(err)
			}
		}
		p := b.Profile()
		for i := range p.Stacks {
			p.Stacks[i] = 0 // a Builder would add up samples with equal stacks
		}
		return p
	}
	for name, c := range map[string]struct {
		of   []*profile.Profile
		want int64
	}{
		"one whose values are no multiples": {[]*profile.Profile{sampled(1000*ms, 400*ms, 600*ms)}, -1},
		"beside one whose values are": {
			[]*profile.Profile{sampled(10*ms, 10*ms), sampled(10*ms, 4*ms, 6*ms)}, -1,
		},
		"periods of 10 and 20 ms": {[]*profile.Profile{sampled(10*ms, 20*ms), sampled(20*ms, 20*ms)}, -1},
		"two of the same period":  {[]*profile.Profile{sampled(10*ms, 20*ms), sampled(10*ms, 10*ms)}, 3},
	} {
		p, err := profile.Merge(c.of, profile.MergeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, n := p.Events(0); n != c.want {
			t.Errorf("%s: %d samples, want %d", name, n, c.want)
		}
	}
}

func TestFoldPreempt(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "count"})
	preempt, abi0, second, work := b.Frame("runtime.asyncPreempt", profile.NoMapping),
		b.Frame("runtime.asyncPreempt.abi0", profile.NoMapping), b.Frame("runtime.asyncPreempt2", profile.NoMapping),
		b.Frame("main.work", profile.NoMapping)
	for i, stack := range [][]uint32{{preempt, work}, {abi0, work}, {second, preempt, work}, {preempt}, {work}} {
		if err := b.Sample(stack, []int64{1 << i}); err != nil {
			t.Fatal(err)
		}
	}
	p := b.Profile()
	leaves := map[uint32]int64{}
	folded := p.FoldPreempt()
	for i := range folded.Len() {
		leaves[folded.Stack(i)[0]] += folded.Value(i, 0)
	}
	if leaves[work] != 1+2+16 || leaves[second] != 4 || leaves[preempt] != 8 {
		t.Errorf("leaves %v", leaves)
	}
	if p.Stack(0)[0] != preempt {
		t.Error("FoldPreempt changed the profile itself")
	}
}

func TestOverflow(t *testing.T) {
	types := []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
	for name, c := range map[string]struct {
		a, b int64
		want bool
	}{
		"as many as fit": {math.MaxInt64 - 1, 1, false},
		"one more":       {math.MaxInt64, 1, true},
		"they cancel":    {math.MaxInt64, -1, true},
		"the smallest":   {math.MinInt64, 0, true},
	} {
		b := profile.NewBuilder(types...)
		for i, v := range []int64{c.a, c.b} {
			if err := b.Sample([]uint32{b.Frame(string(rune('a'+i)), profile.NoMapping)}, []int64{1, v}); err != nil {
				t.Fatal(err)
			}
		}
		kind, ok := b.Profile().Overflow()
		if ok != c.want || ok && kind != 1 {
			t.Errorf("%s: %d %v", name, kind, ok)
		}
	}
	// Two valid profiles may add up to one that overflows.
	b := profile.NewBuilder(types...)
	if err := b.Sample([]uint32{b.Frame("a", profile.NoMapping)}, []int64{1, math.MaxInt64/2 + 1}); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Merge([]*profile.Profile{b.Profile(), b.Profile().SetLabel("k", "v")}, profile.MergeOptions{})
	if err != nil || len(p.Notes) != 1 ||
		!strings.Contains(p.Notes[0].What, "values of cpu add up to more than 64 bits") {
		t.Errorf("%v, %v", p.Notes, err)
	}
}

func TestBuilderLimits(t *testing.T) {
	for _, c := range []struct {
		limits profile.Limits
		want   string
	}{
		{profile.Limits{MaxMemory: 10_000}, "more than 9.8 KiB of memory"},
		{profile.Limits{MaxSamples: 10}, "more than 10 different samples"},
	} {
		b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
		b.Limit(c.limits)
		var err error
		for i := 0; err == nil && i < 1000; i++ {
			err = b.Sample([]uint32{b.Frame(strconv.Itoa(i), profile.NoMapping)}, []int64{1})
		}
		if !errors.Is(err, profile.ErrTooLarge) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.limits, err)
		}
	}
}
