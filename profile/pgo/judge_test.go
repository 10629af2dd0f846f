package pgo

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/profiletest"
)

func milvus(t *testing.T, load string) *profile.Profile {
	t.Helper()
	return profiletest.Read(t, "../../testdata/profiles/milvus-"+load+".pb.gz")
}

// TestReachOfMilvus compares the shares with figures computed by hand before kitescope existed. The classes
// differ from the ones by hand in two ways that do not affect which code is compiled. runtime.futex is a system
// call here; by hand it counted as assembly, in which it is written (2 to 5% of the samples). Runtime code
// called by the garbage collector counts for the collector here; by hand 2% counted for the runtime. So the
// test compares the sums. In a third difference, the leaves in the bridge to C (0.15 to 0.3%) counted as
// compiled by hand; in the expected figures they were moved to native code.
func TestReachOfMilvus(t *testing.T) {
	const allowing = 0.6
	for _, c := range []struct {
		load                                       string
		goCode, compiled, native, assemblyAndCalls float64
	}{
		{"cpu-flat", 9.0, 26.8, 67.1, 6.2},
		{"cpu-hnsw", 9.4, 26.2, 66.9, 7.0},
		{"cpu-hnswcos-nq1", 19.0, 60.7, 26.0, 13.3},
		{"cpu-hnswcos-nq1-20s", 18.1, 60.5, 24.2, 15.3},
	} {
		r := ReachOf(milvus(t, c.load))
		for _, share := range []struct {
			name      string
			got, want float64
		}{
			{"go", 100 * r.Go, c.goCode},
			{"native", 100 * r.Native, c.native},
			{"compiled", 100 * r.Total, c.compiled},
			{"assembly and system calls", 100 * (r.Assembly + r.Syscall), c.assemblyAndCalls},
		} {
			if math.Abs(share.got-share.want) > allowing {
				t.Errorf("%s: %s is %.1f%%, want %.1f", c.load, share.name, share.got, share.want)
			}
		}
		if sum := r.Go + r.Runtime + r.GC + r.Assembly + r.Syscall + r.Native + r.Unknown; math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: the shares add up to %v", c.load, sum)
		}
		if math.Abs(r.Ceiling-0.14*r.Total) > 1e-12 {
			t.Errorf("%s: the ceiling is %v of %v", c.load, r.Ceiling, r.Total)
		}
	}
}

// TestReachOfCgo checks that programs that spend their time in C have little to gain. The C code is either
// called from Go, and listed under runtime.cgocall because Go's profiler has no symbolizer, or it runs on its
// own threads. The expected shares come from `go tool pprof -top`.
func TestReachOfCgo(t *testing.T) {
	for _, c := range []struct {
		load             string
		native, compiled float64
		reason           string
	}{
		{"cgo-calls", 0.89, 0.08, "of the samples are native code (C called through cgo), not compiled by Go"},
		{
			"cgo-threads", 0.99, 0.01,
			"of the samples are native code (C called through cgo, hashes and others), not compiled by Go",
		},
	} {
		p := profiletest.Read(t, "../../testdata/profiles/"+c.load+".pb.gz")
		r := ReachOf(p)
		if math.Abs(r.Native-c.native) > 0.01 || math.Abs(r.Total-c.compiled) > 0.01 {
			t.Errorf("%s: native %.3f, want %.2f; compiled by Go %.3f, want %.2f", c.load, r.Native, c.native, r.Total,
				c.compiled)
		}
		j := mustJudge(t, Input{Name: c.load, Profile: p})
		if j.Verdict != LittleToGain || !strings.Contains(j.Reason, c.reason) {
			t.Errorf("%s: %s, %s", c.load, j.Verdict, j.Reason)
		}
	}
}

// TestReachOfPublishedServer checks a server of WebP pictures with its published figures: 55% under
// runtime.cgocall, 42% native.
func TestReachOfPublishedServer(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{
		Type: "cpu", Unit: "nanoseconds",
	})
	library := b.Mapping(profile.Mapping{File: "/usr/lib/libwebp.so.7.1.5"})
	frame := func(name, file string) uint32 {
		f := b.Function(profile.Function{Name: name, SystemName: name, File: file, StartLine: 10})
		return b.Location(profile.NoMapping, 0, profile.Line{Function: f, Line: 12})
	}
	main, call := frame("main.main", "/src/main.go"), frame("main._Cfunc_WebPEncode", "_cgo_gotypes.go")
	for _, s := range []struct {
		leaf  []uint32
		count int64
	}{
		{[]uint32{frame("runtime.cgocall", "/go/src/runtime/cgocall.go"), call, main}, 5500},
		{[]uint32{b.Location(library, 0x1000), frame("runtime._ExternalCode", "/go/src/runtime/proc.go")}, 4200},
		{[]uint32{frame("main.encode", "/src/main.go"), main}, 150},
		{[]uint32{frame("runtime.mallocgc", "/go/src/runtime/malloc.go"), main}, 50},
		{[]uint32{frame("runtime.memmove", "/go/src/runtime/memmove_amd64.s"), main}, 100},
	} {
		if err := b.Sample(s.leaf, []int64{s.count, s.count * 1e7}); err != nil {
			t.Fatal(err)
		}
	}
	j := mustJudge(t, Input{Name: "webp", Profile: b.Profile()})
	const want = "97% of the samples are native code (C called through cgo, libwebp.so.7.1.5), not compiled by Go; " +
		"PGO reaches 2%"
	if j.Verdict != LittleToGain || j.Reason != want {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}

// TestReachMatchesClasses checks that the share of code compiled by Go is at most the share in `profile top
// --by class`. Both use profile.SampleKinds.
func TestReachMatchesClasses(t *testing.T) {
	for _, load := range []string{
		"milvus-cpu-flat", "milvus-cpu-hnsw", "milvus-cpu-hnswcos-nq1", "milvus-cpu-hnswcos-nq1-20s", "milvus-cpu-idle",
		"cgo-calls", "cgo-threads",
	} {
		p := profiletest.Read(t, "../../testdata/profiles/"+load+".pb.gz").FoldPreempt()
		spent, kind := p.SampleKinds(), kindOf(p)
		var shown, total float64
		for i := range p.Len() {
			v := float64(p.Value(i, kind))
			total += v
			switch spent.Kind(i).Class {
			case profile.GoCode, profile.Runtime, profile.GC:
				shown += v
			case profile.Unknown, profile.Cgo, profile.Native, profile.Assembly, profile.Syscall, profile.Kernel,
				profile.Idle, profile.Managed:
			}
		}
		if r := ReachOf(p); r.Total > shown/total+1e-9 {
			t.Errorf("%s: the judge has %.4f compiled by Go, the classes %.4f", load, r.Total, shown/total)
		}
	}
}

func mustJudge(t *testing.T, inputs ...Input) *Judgement {
	t.Helper()
	j, err := Judge(t.Context(), inputs, JudgeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		load    string
		verdict Verdict
		reason  []string
	}{
		{"cpu-flat", LittleToGain, []string{"67", "native", "libknowhere.so"}},
		{"cpu-hnsw", LittleToGain, []string{"67", "native", "libknowhere.so"}},
		{"cpu-hnswcos-nq1", Unfit, []string{"685 samples"}},
		{"cpu-idle", Unfit, []string{"36 samples"}},
		{"cpu-hnswcos-nq1-20s", WorthBuilding, []string{"trial"}},
		{"heap", Unfit, []string{"samples/count", "inuse_space"}},
		{"goroutine", Unfit, []string{"samples/count", "goroutine"}},
		{"mutex", Unfit, []string{"no samples"}},
	} {
		j := mustJudge(t, Input{Name: c.load, Profile: milvus(t, c.load)})
		if j.Verdict != c.verdict {
			t.Errorf("%s: %s (%s), want %s", c.load, j.Verdict, j.Reason, c.verdict)
		}
		for _, part := range c.reason {
			if !strings.Contains(j.Reason, part) {
				t.Errorf("%s: the reason is %q, without %q", c.load, j.Reason, part)
			}
		}
	}
}

func TestJudgeUnreadableInput(t *testing.T) {
	j := mustJudge(t, Input{
		Name: "x", Err: &hints.Error{Err: errors.New("the profile is cut after 7 bytes"), Advice: "pull it again"},
	})
	if j.Verdict != Unfit || !strings.Contains(j.Reason, "cut after 7 bytes") {
		t.Errorf("got %s: %s", j.Verdict, j.Reason)
	}
	if r := j.Profiles[0].Refusals; len(r) != 1 || r[0].Hint != "pull it again" {
		t.Errorf("got %+v", r)
	}
	if j := mustJudge(t); j.Verdict != Unfit {
		t.Errorf("of nothing: %s", j.Verdict)
	}
}

// goProfile returns a profile of a program with a single stack, for tests to modify.
func goProfile(t testing.TB, program string, startLine, samples int64) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{
		Type: "cpu", Unit: "nanoseconds",
	})
	var stack []uint32
	for _, name := range []string{"leaf", "middle", "upper", "main"} {
		f := b.Function(profile.Function{
			Name: program + "." + name, SystemName: program + "." + name, File: "/src/" + program + "/x.go",
			StartLine: startLine,
		})
		stack = append(stack, b.Location(profile.NoMapping, 0, profile.Line{Function: f, Line: startLine + 2}))
	}
	if err := b.Sample(stack, []int64{samples, samples * 1e7}); err != nil {
		t.Fatal(err)
	}
	return b.Profile()
}

func TestRefusals(t *testing.T) {
	differ := goProfile(t, "example.com/a", 10, 0)
	differ.Values = []int64{0, 0}
	for name, c := range map[string]struct {
		p    *profile.Profile
		want string
	}{
		"good":           {goProfile(t, "example.com/a", 10, 3000), ""},
		"no start lines": {goProfile(t, "example.com/a", 0, 3000), "no-start-lines"},
		"all zero":       {differ, "all-zero"},
		"empty":          {&profile.Profile{}, "no-samples"},
		"heap":           {milvus(t, "heap"), "wrong-type"},
	} {
		got := ""
		if r := Refusals(c.p); len(r) > 0 {
			got = r[0].ID
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestRiskOfGRPC checks that the call that makes gRPC's stacks grow is found in a profile of Milvus (gRPC 1.57).
func TestRiskOfGRPC(t *testing.T) {
	j := mustJudge(t, Input{Name: "x", Profile: milvus(t, "cpu-hnswcos-nq1-20s")})
	const callee = "google.golang.org/grpc/internal/transport.(*loopyWriter).processData"
	if len(j.Risks) != 1 || j.Risks[0].Block != callee || j.Risks[0].ID != "grpc-stack-growth" ||
		!strings.Contains(j.Risks[0].Source, "65532") {
		t.Errorf("got %+v", j.Risks)
	}
}

func TestRisks(t *testing.T) {
	const processData = "google.golang.org/grpc/internal/transport.(*loopyWriter).processData"
	for _, c := range []struct {
		caller, callee string
		inlined        bool
		want           string
	}{
		{"google.golang.org/grpc/internal/transport.(*loopyWriter).run", processData, false, "grpc-stack-growth"},
		{"google.golang.org/grpc/internal/transport.(*loopyWriter).run", processData, true, ""},
		{"x", "example.com/a/vendor/" + processData, false, "grpc-stack-growth"},
		{"x", "example.com/not" + processData, false, ""},
		{"x", processData + ".func1", false, ""},
		{"runtime.ReadTrace", "runtime.gopark", false, "trace-deadlock"},
		{"runtime.selectgo", "runtime.gopark", false, ""},
		{"runtime.chanrecv", "runtime.blockevent", false, "block-profile-frames"},
	} {
		risks := risksOf([]HotEdge{{Edge: Edge{Caller: c.caller, Callee: c.callee}, Share: 0.02, Inlined: c.inlined}})
		got := ""
		for _, r := range risks {
			got = r.ID
			if r.Block != c.callee || r.Source == "" || !strings.Contains(r.Message, "2%") {
				t.Errorf("%s: %+v", c.callee, r)
			}
		}
		if got != c.want {
			t.Errorf("%s calls %s: %q, want %q", c.caller, c.callee, got, c.want)
		}
	}
	twice := Edge{Caller: "x", Callee: processData}
	other := twice
	other.Offset = 3
	if risks := risksOf([]HotEdge{{Edge: twice, Share: 0.02}, {Edge: other, Share: 0.03}}); len(risks) != 1 ||
		!strings.Contains(risks[0].Message, "5% of the calls") {
		t.Errorf("two calls of one function: %+v", risks)
	}
}

// FuzzJudge checks that Judge returns a verdict with a reason for any input.
func FuzzJudge(f *testing.F) {
	var seeds [][]byte
	for _, p := range []*profile.Profile{goProfile(f, "example.com/a", 10, 3), goProfile(f, "runtime", 0, 2)} {
		var zipped bytes.Buffer
		if err := p.Encode(&zipped); err != nil {
			f.Fatal(err)
		}
		r, err := gzip.NewReader(&zipped)
		if err != nil {
			f.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, text)
	}
	f.Add(seeds[0], seeds[1])
	f.Add(seeds[1], seeds[1])
	f.Add([]byte{}, seeds[0])
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var inputs []Input
		for _, text := range [][]byte{first, second} {
			p, err := profile.Decode(t.Context(), bytes.NewReader(text), profile.Limits{MaxMemory: 8 << 20})
			inputs = append(inputs, Input{Name: "x", Node: "n", Profile: p, Err: err})
		}
		j, err := Judge(t.Context(), inputs, JudgeOptions{Hot: -1})
		if err != nil {
			t.Fatal(err)
		}
		if j.Reason == "" || len(j.Profiles) != len(inputs) {
			t.Fatalf("%s: %q of %d profiles", j.Verdict, j.Reason, len(j.Profiles))
		}
		for _, share := range []float64{j.Reach.Go, j.Reach.Total, j.Reach.Ceiling, j.Preempted} {
			if !(share >= 0 && share <= 1) {
				t.Fatalf("a share of %v: %+v", share, j.Reach)
			}
		}
		if j.FewHits < 0 || j.FewHits > 1 { // NaN if the number of samples is unknown
			t.Fatalf("a share of %v with few hits", j.FewHits)
		}
	})
}

// ids returns the IDs of refusals, separated by spaces.
func ids(list []Refusal) string {
	var words []string
	for _, r := range list {
		words = append(words, r.ID)
	}
	return strings.Join(words, " ")
}

func TestJudgementOfSets(t *testing.T) {
	of := func(name string, p *profile.Profile, change func(in *Input)) Input {
		in := Input{Name: name, Profile: p}
		if change != nil {
			change(&in)
		}
		return in
	}
	good := goProfile(t, "example.com/a", 10, 3000)
	unreadable := func(name, text string) Input { return Input{Name: name, Err: errors.New(text)} }
	for name, c := range map[string]struct {
		inputs             []Input
		verdict            Verdict
		refusals, cautions string
		reason             string
	}{
		"one": {
			[]Input{of("x", good, nil)},
			WorthBuilding, "", "one-window",
			"100% of the samples are in code that Go compiles",
		},
		"two": {
			[]Input{of("x", good, nil), of("y", goProfile(t, "example.com/a", 10, 7), nil)}, WorthBuilding, "", "", "",
		},
		"the same file": {
			[]Input{
				of("x", good, func(in *Input) { in.SHA256 = "aa" }),
				of("y", good, func(in *Input) { in.SHA256 = "aa" }),
			},
			WorthBuilding, "", "left-out one-window", "",
		},
		"two Go versions": {
			[]Input{
				of("x", good, func(in *Input) { in.GoVersion = "go1.25" }),
				of("y", good, func(in *Input) { in.GoVersion = "go1.26" }),
			},
			WorthBuilding, "", "two-go-versions", "",
		},
		"few samples": {
			[]Input{of("x", goProfile(t, "example.com/a", 10, 1999), nil)},
			Unfit, "few-samples", "",
			"1,999 samples are too few (needs 2,000)",
		},
		"one beside one that cannot be read": {
			[]Input{unreadable("bad", "the profile is cut after 7 bytes"), of("x", good, nil)},
			WorthBuilding, "",
			"left-out one-window", "",
		},
		"nothing": {nil, Unfit, "no-profile", "", "no profiles"},
		"several bad": {
			[]Input{unreadable("a", "the file is empty"), unreadable("b", "it is cut")},
			Unfit, "", "",
			"Go cannot build with any of the 2 profiles; a: the file is empty",
		},
	} {
		j := mustJudge(t, c.inputs...)
		if j.Verdict != c.verdict || ids(j.Refusals) != c.refusals || ids(j.Cautions) != c.cautions ||
			!strings.Contains(j.Reason, c.reason) {
			t.Errorf("%s: %s: %s\nrefusals %+v\ncautions %+v", name, j.Verdict, j.Reason, j.Refusals, j.Cautions)
		}
	}
}

// TestJudgeWithoutTheNumberOfSamples checks that an unknown number of samples counts neither as enough nor as
// 0.
func TestJudgeWithoutTheNumberOfSamples(t *testing.T) {
	p := *milvus(t, "cpu-hnswcos-nq1-20s")
	values := make([]int64, p.Len())
	for i := range values {
		values[i] = p.Value(i, 1)
	}
	p.Types, p.Values, p.Period = p.Types[1:], values, 0
	j := mustJudge(t, Input{Name: "x", Profile: &p})
	if j.Verdict != Unfit || ids(j.Refusals) != "unknown-samples" || j.Events != -1 {
		t.Errorf("%s: %s, %d samples", j.Verdict, j.Reason, j.Events)
	}
	if len(j.Hot) == 0 || j.Hot[0].Hits != -1 {
		t.Errorf("%+v", j.Hot)
	}
	// Pyroscope writes a period of 1 s with values that are multiples of 10 ms.
	p.PeriodType, p.Period = p.Types[0], int64(time.Second)
	if j := mustJudge(t, Input{Name: "x", Profile: &p}); ids(j.Refusals) != "unknown-samples" || j.Events != -1 {
		t.Errorf("%s: %s, %d samples", j.Verdict, j.Reason, j.Events)
	}
	j, err := Judge(t.Context(), []Input{{Name: "x", Profile: &p}}, JudgeOptions{MinEvents: -1, MinCeiling: -1})
	if err != nil || j.Verdict != WorthBuilding || !math.IsNaN(j.FewHits) {
		t.Errorf("without a minimum: %v, %s: %s, %v with few hits", err, j.Verdict, j.Reason, j.FewHits)
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

// verdictFields holds the fields of a Judgement that must not depend on the order of profiles.
type verdictFields struct {
	Verdict            Verdict
	Reason             string
	Refusals, Cautions []Refusal
	Events             int64
	Reach              Reach
	Hot                []HotEdge
	Figures            []float64
}

func verdictFieldsOf(j *Judgement) verdictFields {
	slices.SortFunc(j.Cautions, func(a, b Refusal) int { return strings.Compare(a.Message, b.Message) })
	return verdictFields{
		j.Verdict, j.Reason, j.Refusals, j.Cautions, j.Events, j.Reach, j.Hot,
		[]float64{
			j.Preempted, j.FewHits, float64(j.HotEdges), float64(j.LeastHot), float64(j.CPU), float64(j.Duration),
			float64(j.Edges.Total),
		},
	}
}

func TestJudgementIsTheSameInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for name, inputs := range map[string][]Input{
		"t3": cluster(t, "t3"), "t7": cluster(t, "t7"),
		"loads": {
			{Name: "a", Profile: milvus(t, "cpu-flat")},
			{Name: "b", Profile: milvus(t, "cpu-hnswcos-nq1")},
			{Name: "c", Profile: milvus(t, "cpu-idle")},
			{Name: "d", Profile: milvus(t, "heap")},
		},
	} {
		want := verdictFieldsOf(mustJudge(t, inputs...))
		for range 5 {
			random.Shuffle(len(inputs), func(i, k int) { inputs[i], inputs[k] = inputs[k], inputs[i] })
			if diff := cmp.Diff(want, verdictFieldsOf(mustJudge(t, inputs...))); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// TestJudgeWithoutThresholds checks that negative thresholds refuse no profile.
func TestJudgeWithoutThresholds(t *testing.T) {
	in := []Input{{Name: "x", Profile: milvus(t, "cpu-idle")}}
	j, err := Judge(t.Context(), in, JudgeOptions{MinCeiling: -1, MinEvents: -1, Hot: -1})
	if err != nil {
		t.Fatal(err)
	}
	if j.Verdict != WorthBuilding || j.Thresholds != (Thresholds{}) || len(j.Hot) <= defaultHot {
		t.Errorf("%s: %s, %+v, %d hot", j.Verdict, j.Reason, j.Thresholds, len(j.Hot))
	}
}

// TestFewSamplesAreNotLittleToGain checks that few samples do not give LittleToGain: with a single sample, in a
// native library, the true maximum gain is unknown.
func TestFewSamplesAreNotLittleToGain(t *testing.T) {
	for _, c := range []struct{ share, n, want float64 }{
		{0, 1, 0.793}, {0.5, 100, 0.596}, {0.271, 954, 0.300}, {1, 50, 1}, {0.3, 0, 1},
	} {
		if got := wilsonUpper(c.share, c.n); math.Abs(got-c.want) > 0.001 {
			t.Errorf("of %v with %v samples: %.3f, want %.3f", c.share, c.n, got, c.want)
		}
	}
	// The estimated maximum gain is 4.8% of CPU time, but with 1,721 samples it could be 5%.
	if j := mustJudge(t, cluster(t, "t3")...); j.Verdict != Unfit || ids(j.Refusals) != "few-samples" ||
		j.Reach.Ceiling >= DefaultMinCeiling {
		t.Errorf("%s: %s, bound %v", j.Verdict, j.Reason, j.Reach.Ceiling)
	}
}
