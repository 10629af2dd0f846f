package profile_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/profiletest"
)

// newProfile returns a profile of one type in which function fi has values[i].
func newProfile(t *testing.T, kind, period profile.ValueType, name string, values ...int64) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(kind)
	b.Meta().PeriodType, b.Meta().Period, b.Meta().Origin.Name = period, 1, name
	for i, v := range values {
		if err := b.Sample([]uint32{b.Frame("f"+string(rune('0'+i)), profile.NoMapping)}, []int64{v}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Profile()
}

func TestSubtract(t *testing.T) {
	ns, ms := profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, profile.ValueType{Type: "cpu", Unit: "milliseconds"}
	for _, test := range []struct {
		name    string
		p, base *profile.Profile
		normal  bool
		want    map[string]int64
		total   int64
	}{
		{
			"values", newProfile(t, ns, ns, "", 10, 3), newProfile(t, ns, ns, "", 4, 5), false,
			map[string]int64{"f0": 6, "f1": -2},
			9,
		},
		{
			"normalized", newProfile(t, ns, ns, "", 30, 10), newProfile(t, ns, ns, "", 5, 5, 10), true,
			map[string]int64{"f0": 10, "f1": 0, "f2": -10},
			20,
		},
		{
			"in the finer unit", newProfile(t, ms, ms, "", 1), newProfile(t, ns, ns, "", 400_000), false,
			map[string]int64{"f0": 600_000},
			400_000,
		},
		{
			"in the finer unit of the new one", newProfile(t, ns, ns, "", 400_000), newProfile(t, ms, ms, "", 1), false,
			map[string]int64{"f0": -600_000},
			1_000_000,
		},
		{
			"without a period", newProfile(t, ns, profile.ValueType{}, "", 3), newProfile(t, ns, ns, "", 1), false,
			map[string]int64{"f0": 2},
			1,
		},
		{"nothing", newProfile(t, ns, ns, "", 3), newProfile(t, ns, ns, ""), false, map[string]int64{"f0": 3}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := profiletest.Subtract(test.p, test.base, test.normal)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int64{}
			for name := range test.want {
				got[name] = 0
			}
			for i := range d.Len() {
				got[d.Functions[d.LinesOf(d.Stack(i)[0])[0].Function].Name] += d.Value(i, 0)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if d.Total(0) != test.total {
				t.Errorf("total %d, want %d", d.Total(0), test.total)
			}
		})
	}
}

func TestProfilesThatCannotBeSubtracted(t *testing.T) {
	cpu, heap, wall := profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		profile.ValueType{Type: "inuse_space", Unit: "bytes"}, profile.ValueType{Type: "wall", Unit: "nanoseconds"}
	for _, test := range []struct {
		name    string
		p, base *profile.Profile
		normal  bool
		want    string
	}{
		{
			"heap and CPU", newProfile(t, heap, heap, "heap.pb.gz", 1), newProfile(t, cpu, cpu, "cpu.pb.gz", 1), false,
			"heap.pb.gz (inuse_space/bytes) with cpu.pb.gz (cpu/nanoseconds): they have no sample type in common",
		},
		{
			"other units", newProfile(t, profile.ValueType{Type: "cpu", Unit: "cycles"}, cpu, "a", 1),
			newProfile(t, cpu, cpu, "b", 1), false, "cpu is in nanoseconds there and in cycles here",
		},
		{
			"other periods", newProfile(t, cpu, wall, "a", 1), newProfile(t, cpu, cpu, "b", 1), false,
			"one was sampled by wall/nanoseconds, the other by cpu/nanoseconds",
		},
		{"no types", &profile.Profile{}, newProfile(t, cpu, cpu, "b", 1), false, "(none)"},
		{
			"nothing to normalize by", newProfile(t, cpu, cpu, "a", 1), newProfile(t, cpu, cpu, "idle.pb.gz"), true,
			"normalize by idle.pb.gz: its total is 0",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := profiletest.Subtract(test.p, test.base, test.normal)
			var hint *hints.Error
			if !errors.As(err, &hint) || hint.Hint() == "" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want an error with a hint that says %q", err, test.want)
			}
		})
	}
}

func TestScaleMatchesGoogle(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	factors := []float64{1, 1, -1, 0.3, 0, 2.5}
	dropped := 0
	for n := range 150 {
		theirs := random(r)
		p := fromGoogle(t, theirs)
		f := []float64{factors[r.IntN(len(factors))], factors[r.IntN(len(factors))]}
		got := ourStacks(p.Scale(f))
		if err := theirs.ScaleN(f); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(googleStacks(theirs), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%d: %v: google's -, ours +\n%s", n, f, diff)
		}
		if len(got) < p.Len() {
			dropped++
		}
	}
	if dropped < 15 {
		t.Errorf("only %d of 150 dropped samples", dropped)
	}
}

func TestNormalFactorsMatchGoogle(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for n := range 100 {
		theirs, theirBase := random(r), random(r)
		p, base := fromGoogle(t, theirs), fromGoogle(t, theirBase)
		factors, err := profile.NormalFactors(p, base)
		if err != nil {
			t.Fatal(err)
		}
		if err := theirs.Normalize(theirBase); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(googleStacks(theirs), ourStacks(p.Scale(factors)), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%d: google's -, ours +\n%s", n, diff)
		}
	}
}
