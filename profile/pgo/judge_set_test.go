package pgo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/profiletest"
)

// load makes a profile of a program under a load.
type load struct {
	program, binary string
	// seed chooses the functions that the load calls, draw what is sampled of them.
	seed, draw uint64
	samples    int
	// moved is how many lines later all functions begin.
	moved int64
	at    time.Time
}

func (l *load) profile(t testing.TB) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	mapping := int32(profile.NoMapping)
	if l.binary != "" {
		mapping = b.Mapping(profile.Mapping{Start: 0x400000, Limit: 0x900000, File: "/opt/" + l.binary})
	}
	shape, draw := rand.New(rand.NewPCG(l.seed, 1)), rand.New(rand.NewPCG(l.draw, 2))
	stacks := make([][]uint32, 40)
	for i := range stacks {
		for range 5 {
			n := shape.IntN(60)
			f := b.Function(profile.Function{Name: fmt.Sprintf("%s.f%d", l.program, n), File: "/src/f.go", StartLine: int64(10*n+10) + l.moved})
			stacks[i] = append(stacks[i], b.Location(mapping, uint64(n), profile.Line{Function: f, Line: int64(10*n+13) + l.moved}))
		}
	}
	for range l.samples {
		if err := b.Sample(stacks[draw.IntN(len(stacks))], []int64{1, 1e7}); err != nil {
			t.Fatal(err)
		}
	}
	b.Meta().PeriodType, b.Meta().Period = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, 1e7
	b.Meta().Time, b.Meta().Duration = l.at, 10*time.Second
	return b.Profile()
}

func noon(seconds int) time.Time { return time.Date(2026, 11, 20, 12, 0, seconds, 0, time.UTC) }

// ids are the words of what speaks against profiles.
func ids(list []Refusal) string {
	var words []string
	for _, r := range list {
		words = append(words, r.ID)
	}
	return strings.Join(words, " ")
}

func TestJudgementOfSets(t *testing.T) {
	own := load{program: "example.com/a", binary: "a", seed: 1, draw: 1, samples: 3000, at: noon(0)}
	with := func(change func(l *load)) *profile.Profile {
		l := own
		change(&l)
		return l.profile(t)
	}
	in := func(name, node string, change func(l *load)) Input {
		return Input{Name: name, Node: node, Profile: with(change)}
	}
	same := func(*load) {}
	later := func(l *load) { l.draw, l.at = 2, noon(20) }
	for name, c := range map[string]struct {
		inputs             []Input
		verdict            Verdict
		refusals, cautions string
		reason             string
	}{
		"one":                 {[]Input{in("x", "", same)}, WorthBuilding, "", "one-window", "100% of the samples are in code that Go compiles"},
		"two windows":         {[]Input{in("x", "n1", same), in("y", "n1", later)}, WorthBuilding, "", "", ""},
		"two nodes":           {[]Input{in("x", "n1", same), in("y", "n2", func(l *load) { l.draw = 2 })}, WorthBuilding, "", "", ""},
		"the same file":       {[]Input{in("x", "", same), in("y", "", same)}, WorthBuilding, "", "left-out one-window", ""},
		"overlapping":         {[]Input{in("x", "n1", same), in("y", "n1", func(l *load) { l.draw, l.at = 2, noon(5) })}, WorthBuilding, "", "windows-overlap", ""},
		"one after the other": {[]Input{in("x", "n1", same), in("y", "n1", func(l *load) { l.draw, l.at = 2, noon(10) })}, WorthBuilding, "", "", ""},
		"another load": {
			[]Input{in("x", "n1", same), in("y", "n2", func(l *load) { l.seed = 9 })},
			Unfit, "unlike", "",
			"processes of one role share only",
		},
		"another load of another role": {[]Input{in("x", "proxy-1", same), in("y", "data-1", func(l *load) { l.seed = 9 })}, WorthBuilding, "", "", ""},
		"one idle of three": {
			[]Input{in("x", "n1", same), in("y", "n2", func(l *load) { l.draw = 2 }), in("z", "n3", func(l *load) { l.seed, l.samples = 9, 30 })},
			WorthBuilding, "", "odd-ones", "",
		},
		"an idle one of two": {[]Input{in("x", "", func(l *load) { l.seed, l.samples = 9, 30 }), in("y", "", same)}, WorthBuilding, "", "odd-ones", ""},
		"one of three under another load": {
			[]Input{in("x", "n1", func(l *load) { l.seed = 9 }), in("y", "n2", func(l *load) { l.draw = 2 }), in("z", "n3", same)},
			WorthBuilding, "", "odd-ones", "",
		},
		"few samples of each, many of all": {manyNodes(t, &own, 100, 30), WorthBuilding, "", "", ""},
		"few samples":                      {[]Input{in("x", "n1", func(l *load) { l.samples = 1999 })}, Unfit, "few-samples", "", "1,999 samples are too few (needs 2,000)"},
		"one sample":                       {[]Input{in("x", "n1", func(l *load) { l.samples = 1 })}, Unfit, "few-samples", "", "1 sample is too few"},
		"two programs": {
			[]Input{in("x", "", same), in("y", "", func(l *load) { l.program, l.binary = "example.org/b", "b" })},
			Unfit, "two-programs", "",
			"y is of another program than x (a)",
		},
		"two builds": {
			[]Input{in("x", "n1", same), in("y", "n1", func(l *load) { l.draw, l.at, l.moved = 2, noon(20), 3 })}, WorthBuilding, "", "two-builds", "",
		},
		"two Go versions": {
			[]Input{in("x", "n1", func(l *load) { l.program = "runtime" }), in("y", "n1", func(l *load) { l.program, l.draw, l.at, l.moved = "runtime", 2, noon(20), 3 })},
			WorthBuilding, "", "two-go-versions", "",
		},
		"another name": {[]Input{in("x", "n1", same), in("y", "n1", func(l *load) { l.draw, l.at, l.binary = 2, noon(20), "a-v2" })}, WorthBuilding, "", "other-binary", ""},
		"one beside what cannot be read": {
			[]Input{{Name: "bad", Err: errors.New("the profile is cut after 7 bytes")}, in("x", "", same), {Name: "none", Err: errors.New("the file is empty")}},
			WorthBuilding, "", "left-out left-out one-window", "",
		},
		"nothing":      {nil, Unfit, "no-profile", "", "there is no profile"},
		"several bad":  {[]Input{{Name: "a", Err: errors.New("the file is empty")}, {Name: "b", Err: errors.New("it is cut")}}, Unfit, "", "", "Go cannot build with any of the 2 profiles; a: the file is empty"},
		"the same bad": {[]Input{{Name: "a", Err: errors.New("it is cut")}, {Name: "b", Err: errors.New("it is cut")}}, Unfit, "", "", "Go cannot build with any of the 2 profiles: it is cut"},
	} {
		j := judged(t, c.inputs...)
		if j.Verdict != c.verdict || ids(j.Refusals) != c.refusals || ids(j.Cautions) != c.cautions || !strings.Contains(j.Reason, c.reason) {
			t.Errorf("%s: %s: %s\nrefusals %+v\ncautions %+v\noverlaps %+v", name, j.Verdict, j.Reason, j.Refusals, j.Cautions, j.Overlaps[:min(9, len(j.Overlaps))])
		}
	}
}

func manyNodes(t *testing.T, l *load, nodes, samples int) []Input {
	t.Helper()
	var inputs []Input
	for i := range nodes {
		own := *l
		own.draw, own.samples = uint64(i), samples
		inputs = append(inputs, Input{Name: fmt.Sprintf("p%d", i), Node: fmt.Sprintf("n-%d", i), Profile: own.profile(t)})
	}
	return inputs
}

// A reason that a person can do something about comes with what.
func TestReasonsHaveHints(t *testing.T) {
	for name, inputs := range map[string][]Input{
		"few":    {{Name: "x", Profile: milvus(t, "cpu-idle")}},
		"unlike": {{Name: "x", Profile: milvus(t, "cpu-flat")}, {Name: "y", Profile: milvus(t, "cpu-hnswcos-nq1-20s")}},
		"none":   nil,
	} {
		j := judged(t, inputs...)
		if j.Verdict != Unfit || len(j.Refusals) != 1 || j.Refusals[0].Message != j.Reason || j.Refusals[0].Hint == "" {
			t.Errorf("%s: %s: %s, %+v", name, j.Verdict, j.Reason, j.Refusals)
		}
	}
}

// Nothing is green or 0 where it is not known: the number of samples, and so what chance does.
func TestJudgeWithoutTheNumberOfSamples(t *testing.T) {
	p := *milvus(t, "cpu-hnswcos-nq1-20s")
	values := make([]int64, p.Len())
	for i := range values {
		values[i] = p.Value(i, 1)
	}
	p.Types, p.Values, p.Period = p.Types[1:], values, 0
	j := judged(t, Input{Name: "x", Profile: &p})
	if j.Verdict != Unfit || ids(j.Refusals) != "unknown-samples" || j.Events != -1 || len(j.Overlaps) != 0 {
		t.Errorf("%s: %s, %d samples, %+v", j.Verdict, j.Reason, j.Events, j.Overlaps)
	}
	if len(j.Hot) == 0 || j.Hot[0].Hits != -1 {
		t.Errorf("%+v", j.Hot)
	}
}

// All processes of a cluster are one program, however little they have in common: one of an idle index node has 1 sample.
func TestProcessesOfMilvusAreOneProgram(t *testing.T) {
	files, err := filepath.Glob("../../testdata/profiles/t?/*.pb.gz")
	if err != nil || len(files) != 30 {
		t.Fatal(files, err)
	}
	for _, withBuildID := range []bool{true, false} {
		var inputs []Input
		for _, file := range files {
			p := profiletest.Read(t, file)
			if !withBuildID {
				p.Mappings = slices.Clone(p.Mappings)
				for i := range p.Mappings {
					p.Mappings[i].BuildID = ""
				}
			}
			inputs = append(inputs, Input{Name: file, Profile: p})
		}
		for i := range inputs {
			for k := range i {
				if _, strange := programOf(&inputs[i]).strangeTo(programOf(&inputs[k])); strange {
					t.Errorf("with build ids: %t: %s and %s are two programs", withBuildID, inputs[i].Name, inputs[k].Name)
				}
			}
		}
	}
}

// The cluster of t5 has nothing loaded on querynode2; that is named, and not what decides.
func TestIdleProcessOfMilvusIsNamed(t *testing.T) {
	j := judged(t, cluster(t, "t5")...)
	if j.Verdict != LittleToGain || !strings.HasPrefix(j.Reason, "64% of the samples are native code") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	if len(j.Cautions) != 1 || !strings.Contains(j.Cautions[0].Message, "querynode2") || strings.Contains(j.Cautions[0].Message, "querynode3") {
		t.Errorf("%+v", j.Cautions)
	}
}

func cluster(t *testing.T, name string) []Input {
	t.Helper()
	files, err := filepath.Glob("../../testdata/profiles/" + name + "/*.pb.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var inputs []Input
	for _, file := range files {
		node, _, _ := strings.Cut(filepath.Base(file), ".")
		inputs = append(inputs, Input{Name: node, Node: node, Profile: profiletest.Read(t, file)})
	}
	return inputs
}

// said is all that must not depend on the order of profiles.
type said struct {
	Verdict            Verdict
	Reason             string
	Refusals, Cautions []Refusal
	Events             int64
	Reach              Reach
	Overlaps           []Overlap
	Hot                []HotEdge
	Figures            []float64
}

func saidOf(j *Judgement) said {
	slices.SortFunc(j.Cautions, func(a, b Refusal) int { return strings.Compare(a.Message, b.Message) })
	return said{
		j.Verdict, j.Reason, j.Refusals, j.Cautions, j.Events, j.Reach, j.Overlaps, j.Hot,
		[]float64{j.Preempted, j.FewHits, float64(j.HotEdges), float64(j.LeastHot), float64(j.CPU), float64(j.Duration), float64(j.Edges.Total)},
	}
}

func TestJudgementIsTheSameInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, inputs := range map[string][]Input{
		"t3": cluster(t, "t3"), "t7": cluster(t, "t7"),
		"loads": {{Name: "a", Profile: milvus(t, "cpu-flat")}, {Name: "b", Profile: milvus(t, "cpu-hnswcos-nq1")}, {Name: "c", Profile: milvus(t, "cpu-idle")}, {Name: "d", Profile: milvus(t, "heap")}},
		"programs": {
			{Name: "b", Profile: goProfile(t, "example.com/b", 10, 3000)},
			{Name: "a", Profile: goProfile(t, "example.com/a", 10, 3000)},
			{Name: "c", Profile: goProfile(t, "example.com/c", 10, 3000)},
		},
	} {
		want := saidOf(judged(t, inputs...))
		for range 5 {
			random.Shuffle(len(inputs), func(i, k int) { inputs[i], inputs[k] = inputs[k], inputs[i] })
			if diff := cmp.Diff(want, saidOf(judged(t, inputs...))); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func TestJudgeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Judge(ctx, cluster(t, "t3"), JudgeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := stackCallsOf(ctx, milvus(t, "cpu-flat")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Thresholds below 0 hold nothing against a profile, and none are predicted gains.
func TestJudgeWithoutThresholds(t *testing.T) {
	j, err := Judge(t.Context(), []Input{{Name: "x", Profile: milvus(t, "cpu-idle")}}, JudgeOptions{MinCeiling: -1, MinOverlap: -1, MinEvents: -1, Hot: -1})
	if err != nil {
		t.Fatal(err)
	}
	if j.Verdict != WorthBuilding || j.Thresholds != (Thresholds{}) || len(j.Hot) <= defaultHot {
		t.Errorf("%s: %s, %+v, %d hot", j.Verdict, j.Reason, j.Thresholds, len(j.Hot))
	}
}

// Few samples do not say that there is little to gain: of one in a native library the bound could be anything.
func TestFewSamplesAreNotLittleToGain(t *testing.T) {
	for _, c := range []struct{ share, n, want float64 }{{0, 1, 0.793}, {0.5, 100, 0.596}, {0.271, 954, 0.300}, {1, 50, 1}, {0.3, 0, 1}} {
		if got := likelyMost(c.share, c.n); math.Abs(got-c.want) > 0.001 {
			t.Errorf("of %v with %v samples: %.3f, want %.3f", c.share, c.n, got, c.want)
		}
	}
	// 4.8% of CPU time of 1,721 samples: it could be 5%.
	if j := judged(t, cluster(t, "t3")...); j.Verdict != Unfit || ids(j.Refusals) != "few-samples" || j.Reach.Ceiling >= DefaultMinCeiling {
		t.Errorf("%s: %s, bound %v", j.Verdict, j.Reason, j.Reach.Ceiling)
	}
}
