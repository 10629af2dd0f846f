package builds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// longCallee is a typical name of a closure in a generic function.
const longCallee = "google.golang.org/grpc/internal/transport.(*http2Server).operateHeaders[go.shape.struct { Name " +
	"string }].func1"

func judgedEdges(n int) *pgo.Edges {
	e := &pgo.Edges{Weight: map[pgo.Edge]int64{}}
	for i := range n {
		x := pgo.Edge{Caller: fmt.Sprintf("main.f%d", i), Callee: "main.g", Offset: i}
		e.Weight[x], e.Total = int64(n-i), e.Total+int64(n-i)
		e.ByWeight = append(e.ByWeight, x)
	}
	return e
}

// recommendedJudgement returns a judgement of profiles of three nodes.
func recommendedJudgement() *pgo.Judgement {
	reach := pgo.Reach{
		Go: 0.612, Runtime: 0.21, GC: 0.06, Assembly: 0.097, Syscall: 0.015, Unknown: 0.006, Total: 0.882,
		Ceiling: 0.1235,
	}
	j := &pgo.Judgement{
		Verdict: pgo.WorthBuilding, Reason: "88% of the time is spent in compiled Go code, and all profiles are alike",
		Cautions: []pgo.Refusal{
			{
				ID: "few-hits", Message: "61% of the hot calls were met fewer than 5 times",
				Hint: "a longer profile tells them better: --seconds 120",
			},
		},
		Events: 6120, CPU: 61200 * time.Millisecond, Duration: 90 * time.Second, Preempted: 0.13,
		Edges: judgedEdges(953), HotEdges: 890, LeastHot: 2, FewHits: 0.61,
		Reach: reach, Thresholds: pgo.Thresholds{Events: 2000, Ceiling: 0.05},
		Risks: []pgo.Risk{{
			ID: "stack-growth", Message: "processData may be inlined, and the stacks of all streams grow",
			Source:   "golang/go#65532",
			Function: "google.golang.org/grpc/internal/transport.(*loopyWriter).processData",
			Block:    "google.golang.org/grpc/internal/transport.(*loopyWriter).processData",
		}},
	}
	for i := range 3 {
		in := &pgo.Input{
			Name: fmt.Sprintf("after/proxy-%d.cpu.pb.gz", i+1), Node: fmt.Sprintf("proxy-%d", i+1),
			GoVersion: "go1.26.8", BuildID: "b5f2",
		}
		j.Profiles = append(j.Profiles, pgo.Assessment{
			Input: in, Events: 2040 + int64(i), CPU: 20400 * time.Millisecond, Duration: 30 * time.Second, Reach: reach,
		})
	}
	j.Hot = []pgo.HotEdge{
		{Edge: pgo.Edge{Caller: "main.serve", Callee: longCallee, Offset: 17}, Share: 0.0812, Hits: 497},
		{
			Edge: pgo.Edge{Caller: longCallee, Callee: "encoding/json.(*encodeState).marshal", Offset: 4}, Share: 0.04,
			Hits: 245,
		},
		{Edge: pgo.Edge{Caller: "main.serve", Callee: "main.(*store).Get", Offset: 21}, Share: 0.03, Hits: 184},
		{
			Edge: pgo.Edge{Caller: "sort.insertionSort", Callee: rendertest.HostileName, Offset: -1}, Share: 0.0004,
			Hits: -1, Inlined: true,
		},
		{Edge: pgo.Edge{Caller: "main.a", Callee: "main.b"}, Share: 0.02, Hits: 122},
	}
	return j
}

// littleJudgement returns a judgement of a program that spends most of its time in C++.
func littleJudgement() *pgo.Judgement {
	reach := pgo.Reach{
		Go: 0.09, Runtime: 0.121, GC: 0.06, Assembly: 0.043, Syscall: 0.019, Native: 0.667, Total: 0.271,
		Ceiling: 0.038,
	}
	in := &pgo.Input{Name: "milvus-cpu-flat.pb.gz"}
	return &pgo.Judgement{
		Verdict: pgo.LittleToGain, Reason: "67% of the samples are native code, not compiled by Go",
		Profiles: []pgo.Assessment{
			{Input: in, Events: 954, CPU: 9540 * time.Millisecond, Duration: 30 * time.Second, Reach: reach},
		},
		Cautions: []pgo.Refusal{
			{ID: "few-samples", Message: "954 samples are few: 2000 are wanted", Hint: "pull for longer: --seconds 60"},
		},
		Events: 954, CPU: 9540 * time.Millisecond, Duration: 30 * time.Second, Edges: judgedEdges(953), HotEdges: 890,
		LeastHot: 1, FewHits: 0.74, Reach: reach,
		Hot: []pgo.HotEdge{
			{
				Edge: pgo.Edge{Caller: "runtime.gcDrain", Callee: "runtime.scanobject", Offset: 93}, Share: 0.05,
				Hits: 31,
			},
			{Edge: pgo.Edge{Caller: "main.a", Callee: "main.b"}, Share: 0.0101, Hits: 6, Inlined: true},
		},
		Thresholds: pgo.Thresholds{Events: 2000, Ceiling: 0.05},
	}
}

// unfitJudgement returns a judgement of profiles that Go rejects, each for a different reason.
func unfitJudgement() *pgo.Judgement {
	heap := pgo.Refusal{
		ID: "wrong-type", Message: "Go takes samples/count or cpu/nanoseconds, and it has inuse_space/bytes",
		Hint: "take a CPU profile",
	}
	lines := pgo.Refusal{
		ID: "no-start-lines", Message: "no function has a start line",
		Hint: "take it with Go 1.20 or newer, not with perf",
	}
	all := pgo.Refusal{ID: "nothing-left", Message: "Go would take none of these profiles"}
	return &pgo.Judgement{
		Verdict: pgo.Unfit, Reason: "Go would take none of these 3 profiles", Refusals: []pgo.Refusal{all}, Events: -1,
		Profiles: []pgo.Assessment{
			{Input: &pgo.Input{Name: "heap.pb.gz"}, Events: -1, Refusals: []pgo.Refusal{heap}},
			{
				Input: &pgo.Input{Name: rendertest.HostileName, Node: "\x1b]0;x\a"}, Events: 1200,
				CPU: 12 * time.Second, Reach: pgo.Reach{Unknown: 1}, Refusals: []pgo.Refusal{lines, all},
			},
			{
				Input: &pgo.Input{
					Name: "gone.pb.gz", Err: errors.New("open gone.pb.gz: no such file or directory\x1b[2J"),
				},
				Events: -1,
			},
		},
		Thresholds: pgo.Thresholds{Events: 2000, Ceiling: 0.05},
	}
}

func judgements() map[string]*pgo.Judgement {
	return map[string]*pgo.Judgement{
		"worth": recommendedJudgement(), "little": littleJudgement(), "unfit": unfitJudgement(), "empty": {Events: -1},
	}
}

func TestGoldenJudgement(t *testing.T) {
	copied := func(line string) bool { return strings.Contains(line, "--block") }
	for name, j := range judgements() {
		rendertest.Report(t, "judgement/"+name, render.ReportFormats().Names(), map[string]rendertest.Variant{
			"80": {Width: 80}, "80-ascii": {Width: 80, ASCII: true, Limit: 3}, "color": {Width: 120, Color: true},
			"wide": {}, "json": {}, "csv": {}, "markdown": {},
		}, copied, func(w io.Writer, l rendertest.Variant) error {
			var b bytes.Buffer
			o := render.ReportOptions{
				Options: render.Options{Width: l.Width, ASCII: l.ASCII, Color: l.Color}, Limit: l.Limit,
			}
			err := WriteJudgement(&b, j, rendertest.Format(t, render.ReportFormats(), l.Word), o)
			if l.Word == "markdown" && strings.Contains(b.String(), "\n    ") {
				t.Errorf("%s has a block of code that is none", name)
			}
			_, _ = b.WriteTo(w)
			return err
		})
	}
}

// TestJudgementNoGain checks that reports never predict the gain of PGO, only its upper bound.
func TestJudgementNoGain(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJudgement(&b, littleJudgement(), rendertest.Format(t, render.ReportFormats(), "table"),
		render.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "at most 3.8% of CPU time"; !strings.Contains(b.String(), want) ||
		!strings.Contains(b.String(), "no lower bound: PGO can make programs slower") {
		t.Errorf("%s", b.String())
	}
	if !strings.HasPrefix(b.String(), "▲ little to gain: 67% of the samples are native code") {
		t.Errorf("the verdict is not first: %s", b.String())
	}
}

// TestJudgementUnknown checks that shares are unknown if no profile was read.
func TestJudgementUnknown(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJudgement(&b, unfitJudgement(), rendertest.Format(t, render.ReportFormats(), "json"),
		render.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kind, Verdict string
		Refusals      []map[string]string
		Bound         *float64 `json:"bound_percent"`
		Samples       *int64
		Unknown       []string
		Items         []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "Judgement" || got.Verdict != "profile unfit" || len(got.Refusals) != 1 || got.Bound != nil ||
		got.Samples != nil {
		t.Errorf("%+v", got)
	}
	if !slices.Contains(got.Unknown, "native_percent") || !slices.Contains(got.Unknown, "samples") {
		t.Errorf("unknown: %v", got.Unknown)
	}
	for i, x := range got.Items {
		if _, has := x["native_percent"]; has != (i == 1) {
			t.Errorf("%v", x)
		}
		if x["usable"] != false {
			t.Errorf("usable: %v", x)
		}
	}
}

// TestJudgementReason checks that the reason is written once, with its hint on the next line.
func TestJudgementReason(t *testing.T) {
	reason, hint := "12 samples are too few, 2000 are wanted", "profile longer"
	few := pgo.Refusal{ID: "few-samples", Message: reason, Hint: hint}
	other := pgo.Refusal{ID: "one-profile", Message: "there is one profile only", Hint: "add a second one"}
	in := &pgo.Input{Name: "cpu.pb.gz"}
	for name, j := range map[string]*pgo.Judgement{
		"caution": {Reason: reason, Cautions: []pgo.Refusal{other, few}},
		"refusal": {Reason: reason, Refusals: []pgo.Refusal{few}},
		"its own": {Reason: reason, Profiles: []pgo.Assessment{{Input: in, Events: 12, Refusals: []pgo.Refusal{few}}}},
	} {
		var b bytes.Buffer
		if err := WriteJudgement(&b, j, render.Format{}, render.ReportOptions{}); err != nil {
			t.Fatal(err)
		}
		if want := "✖ profile unfit: " + reason + "\n    " + hint + "\n"; !strings.HasPrefix(b.String(), want) ||
			strings.Count(b.String(), hint) != 1 || strings.Count(b.String(), reason) != 1 {
			t.Errorf("%s: %s", name, b.String())
		}
	}
}
