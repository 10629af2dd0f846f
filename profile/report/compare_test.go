package report_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kitescope/profile"
	"kitescope/profile/report"
)

// randomProfile returns a profile with random samples of a program. parts[i] is the part of its time that the program
// spends in function i.
func randomProfile(t *testing.T, r *rand.Rand, ticks int, over time.Duration, parts []float64) *profile.Profile {
	t.Helper()
	cpu := profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	b := profile.NewBuilder(cpu)
	const period = 10_000_000
	b.Meta().PeriodType, b.Meta().Period, b.Meta().Duration = cpu, period, over
	for range ticks {
		at, i := r.Float64(), 0
		for ; i < len(parts)-1 && at > parts[i]; i++ {
			at -= parts[i]
		}
		if err := b.Sample([]uint32{
			b.Frame(fmt.Sprintf("f%02d", i), profile.NoMapping), b.Frame("main", profile.NoMapping),
		}, []int64{period}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Profile()
}

// equalParts returns the parts of n equally hot functions. The first one additionally has the part more.
func equalParts(n int, more float64) []float64 {
	parts := make([]float64, n)
	for i := range parts {
		parts[i] = (1 - more) / float64(n)
	}
	parts[0] += more
	return parts
}

// TestNoiseIsNoChange checks that comparisons of two profiles of the same program report a change as rarely
// as Level requires, and that a real change is always found.
func TestNoiseIsNoChange(t *testing.T) {
	for _, test := range []struct {
		name      string
		normalize bool
		over      time.Duration // duration of the new profile; the base takes 10 s
		ticks     int           // samples of the new profile; the base has 1000
		want      report.Hypothesis
	}{
		{"as much in the same time", false, 10 * time.Second, 1000, report.EqualRates},
		{"twice as much in twice the time", false, 20 * time.Second, 2000, report.EqualRates},
		{"normalized", true, 10 * time.Second, 500, report.EqualShares},
		{"durations unknown", false, 0, 700, report.EqualShares},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 8))
			const runs = 40
			wrong, missed := 0, 0
			for range runs {
				base := randomProfile(t, r, 1000, 10*time.Second, equalParts(50, 0))
				o := report.CompareOptions{Normalize: test.normalize}
				same, err := report.NewComparison(base, randomProfile(t, r, test.ticks, test.over, equalParts(50, 0)),
					o)
				if err != nil {
					t.Fatal(err)
				}
				if same.Hypothesis != test.want || same.Level != 0.01 {
					t.Fatalf("tested %s at %v", same.Hypothesis, same.Level)
				}
				for _, c := range same.Changes {
					if c.FlatVerdict != report.Noise {
						wrong++
						break
					}
				}
				other, err := report.NewComparison(base,
					randomProfile(t, r, test.ticks, test.over, equalParts(50, 0.2)), o)
				if err != nil {
					t.Fatal(err)
				}
				if c := other.Changes[0]; c.Function != "f00" || c.FlatVerdict != report.Increased {
					missed++
				}
			}
			if wrong > 3 {
				t.Errorf("%d of %d comparisons of equal programs found a change; at a level of 1%% more than 3 come "+
					"about once in 1000 times", wrong, runs)
			}
			if missed > 0 {
				t.Errorf("%d of %d missed a function that went from 2 to 22%%", missed, runs)
			}
		})
	}
}

// TestManyFunctions compares profiles of a program of typical size: 800 functions, most with a sample or two.
// These functions must neither raise false alarms nor hide a change of five percentage points.
func TestManyFunctions(t *testing.T) {
	const functions, ticks, runs = 800, 1000, 40
	tail := make([]float64, functions)
	sum := 0.0
	for i := range tail {
		tail[i] = 1 / float64(i+3)
		sum += tail[i]
	}
	// with returns the parts of the program, with part for the first function and rest shared by the others as
	// before.
	with := func(part, rest float64) []float64 {
		parts := []float64{part}
		for _, p := range tail {
			parts = append(parts, p/sum*rest)
		}
		return parts
	}
	r := rand.New(rand.NewPCG(17, 18))
	for _, test := range []struct {
		part  float64 // the part before; afterwards it is five percentage points more
		found int     // minimum percentage of runs; a 1 % test of that function alone would find 83, 98, 100 and 100 %
	}{{0.1, 30}, {0.05, 65}, {0.02, 90}, {0, 100}} {
		t.Run(fmt.Sprint(test.part), func(t *testing.T) {
			alarms, found := 0, 0
			for range runs {
				base := randomProfile(t, r, ticks, 10*time.Second, with(test.part, 1-test.part))
				next := randomProfile(t, r, ticks*105/100, 10*time.Second,
					with((test.part+0.05)/1.05, (1-test.part)/1.05))
				c, err := report.NewComparison(base, next, report.CompareOptions{})
				if err != nil {
					t.Fatal(err)
				}
				alarm := false
				for _, change := range c.Changes {
					switch {
					case change.FlatVerdict == report.Noise && change.FlatCorrectedP < c.Level,
						change.FlatVerdict != report.Noise && change.FlatCorrectedP >= c.Level:
						t.Fatalf("%s is %s at %v", change.Function, change.FlatVerdict, change.FlatCorrectedP)
					case change.Function == "f00" && change.FlatVerdict == report.Increased:
						found++
					case change.Function != "f00" && change.FlatVerdict != report.Noise:
						alarm = true
					}
				}
				if alarm {
					alarms++
				}
			}
			if alarms > 3 {
				t.Errorf("%d of %d comparisons found a change in what is as it was, at a level of 1%%", alarms, runs)
			}
			if 100*found < test.found*runs {
				t.Errorf("%d of %d found what went from %v to %v of the time before", found, runs, test.part,
					test.part+0.05)
			}
			t.Logf("%d alarms, %d found of %d", alarms, found, runs)
		})
	}
}

func TestVerdictsOfRealProfiles(t *testing.T) {
	verdicts := func(base, p string, o report.CompareOptions) map[string]report.Verdict {
		c, err := report.NewComparison(decode(t, filepath.Join(fixtures, base)), decode(t, filepath.Join(fixtures, p)),
			o)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]report.Verdict{}
		for _, change := range c.Changes {
			if change.FlatVerdict != report.Noise {
				found[change.Function] = change.FlatVerdict
			}
		}
		return found
	}
	if got := verdicts("t5/querynode1.cpu.pb.gz", "t5/querynode3.cpu.pb.gz", report.CompareOptions{}); len(got) != 0 {
		t.Errorf("two nodes at the same work differ in %v", got)
	}
	if got := verdicts("t5/querynode1.cpu.pb.gz", "t5/querynode2.cpu.pb.gz",
		report.CompareOptions{}); got["[libknowhere.so]"] != report.Decreased {
		t.Errorf("an idle node and one at work: %v", got)
	}
	if got := verdicts("milvus-cpu-hnsw.pb.gz", "milvus-cpu-hnswcos-nq1-20s.pb.gz",
		report.CompareOptions{Normalize: true}); got["[libknowhere.so]"] != report.Decreased ||
		got["runtime.scanobject"] != report.Increased {
		t.Errorf("nq 10 and nq 1: %v", got)
	}
}

func TestHeapsAreUndecided(t *testing.T) {
	c, err := report.NewComparison(decode(t, filepath.Join(fixtures, "milvus-heap.pb.gz")),
		decode(t, filepath.Join(fixtures, "milvus-allocs.pb.gz")),
		report.CompareOptions{Options: report.Options{SampleIndex: "alloc_space"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Changes) == 0 {
		t.Fatal("no changes")
	}
	for _, change := range c.Changes {
		if change.FlatVerdict != report.Undecided || change.CumVerdict != report.Undecided ||
			!math.IsNaN(change.FlatP) || change.FlatSamples != -1 || change.FlatEventsAfter != -1 {
			t.Fatalf("%+v", change)
		}
	}
}

func TestProfilesThatDoNotCompare(t *testing.T) {
	load := func(name string) *profile.Profile {
		p := decode(t, filepath.Join(fixtures, name))
		p.Origin.Name = name
		return p
	}
	for _, test := range []struct {
		name, base, p string
		options       report.CompareOptions
		want          string
	}{
		{
			"heap and CPU", "milvus-heap.pb.gz", "milvus-cpu-flat.pb.gz",
			report.CompareOptions{},
			"no sample type in common",
		},
		{
			"a type that there is not", "milvus-cpu-idle.pb.gz", "milvus-cpu-flat.pb.gz",
			report.CompareOptions{Options: report.Options{SampleIndex: "inuse_space"}},
			"inuse_space",
		},
		{
			"a base of nothing, normalized", "milvus-mutex.pb.gz", "milvus-block.pb.gz",
			report.CompareOptions{Normalize: true},
			"its total",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := report.NewComparison(load(test.base), load(test.p), test.options)
			var mismatch *report.Mismatch
			if !errors.As(err, &mismatch) || mismatch.Hint() == "" || !strings.Contains(err.Error(), test.want) ||
				strings.Contains(err.Error(), "kitescope::") || strings.Contains(mismatch.Hint(), "kitescope::") {
				t.Errorf("%v, want a Mismatch with a hint that says %q", err, test.want)
			}
		})
	}
}

func TestVerdictOf(t *testing.T) {
	for _, v := range []struct {
		p, change float64
		want      report.Verdict
	}{
		{math.NaN(), 1, report.Undecided},
		{0.5, 1, report.Noise},
		{0.001, 0, report.Noise},
		{0.001, 1, report.Increased},
		{0.001, -1, report.Decreased},
	} {
		if got := report.VerdictOf(v.p, 0.01, v.change); got != v.want {
			t.Errorf("%+v: %s", v, got)
		}
	}
}
