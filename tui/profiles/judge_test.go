package profiles

import (
	"errors"
	"slices"
	"testing"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/pgo"
	"kitescope/tui"
	"kitescope/tui/pagetest"
)

// loadedItem reads a profile of the fixtures.
func loadedItem(t *testing.T, name string) *profile.Profile {
	t.Helper()
	item := profileItem(name)
	p, err := item.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// judgementFixture returns a judgement with every kind of content.
func judgementFixture(t *testing.T) *pgo.Judgement {
	t.Helper()
	hnsw, nq1 := loadedItem(t, "milvus-cpu-hnsw.pb.gz"), loadedItem(t, "milvus-cpu-hnswcos-nq1.pb.gz")
	edge := func(caller string, offset int, callee string) pgo.Edge {
		return pgo.Edge{Caller: caller, Callee: callee, Offset: offset}
	}
	const grpc = "google.golang.org/grpc/internal/transport."
	hot := []pgo.HotEdge{
		{Edge: edge("runtime.mallocgc", 171, "runtime.mallocgcSmallScanNoHeader"), Share: 0.021, Hits: 14},
		{
			Edge: edge(grpc+"(*http2Server).HandleStreams", 88, grpc+"(*http2Server).operateHeaders"), Share: 0.018,
			Hits: 12,
		},
		{Edge: edge("runtime.findRunnable", 3, "runtime.netpoll"), Share: 0.013, Hits: 9, Inlined: true},
		{
			Edge: edge("github.com/milvus-io/milvus/internal/proxy.(*searchTask).PostExecute.func1", -4,
				"github.com/milvus-io/milvus/internal/proxy.reduceSearchResultData"),
			Share: 0.0004, Hits: -1,
		},
	}
	reach := func(native float64) pgo.Reach {
		return pgo.Reach{
			Go: 0.09, Runtime: 0.12, GC: 0.06, Assembly: 0.043, Syscall: 0.019, Native: native,
			Unknown: 1 - native - 0.332, Total: 0.271, Ceiling: 0.038,
		}
	}
	weights := map[pgo.Edge]int64{}
	for i := range 1133 {
		weights[edge("main.main", i, "main.step")] = 1
	}
	return &pgo.Judgement{
		Verdict: pgo.LittleToGain, Reason: "67% of the samples are native code, which Go does not compile",
		Profiles: []pgo.Assessment{
			{
				Input:  &pgo.Input{Name: "before/milvus-cpu-hnsw.pb.gz", Profile: hnsw, GoVersion: "go1.24.9"},
				Events: 779, CPU: 7790 * time.Millisecond, Duration: 10 * time.Second, Reach: reach(0.666),
			},
			{
				Input:  &pgo.Input{Name: "before/milvus-cpu-hnswcos-nq1.pb.gz", Node: "querynode-7", Profile: nq1},
				Events: 685, CPU: 6850 * time.Millisecond, Duration: 10 * time.Second, Reach: reach(0.258),
			},
			{
				Input: &pgo.Input{Name: "before/heap.pb.gz", Profile: hnsw}, Events: -1,
				Refusals: []pgo.Refusal{
					{
						ID: "wrong-type", Message: "it is a heap profile: the compiler takes CPU time or samples only",
						Hint: "take a CPU profile: kitescope profile pull",
					},
				},
			},
			{
				Input: &pgo.Input{
					Name: "before/cut.pb.gz",
					Err:  &hints.Error{Err: errors.New("unexpected EOF"), Advice: "take it again"},
				},
				Events: -1,
			},
		},
		Refusals: []pgo.Refusal{
			{
				ID: "few-samples", Message: "1,464 samples are too few to tell hot calls from others",
				Hint: "profile for longer, or more nodes: 2,000 samples are wanted",
			},
		},
		Cautions: []pgo.Refusal{
			{ID: "alike", Message: "the profiles of two loads are unlike: 0.67 of the calls are the same"},
		},
		Events: 1464, CPU: 14640 * time.Millisecond, Duration: 20 * time.Second, Preempted: 0.18,
		Edges: &pgo.Edges{Weight: weights, Total: 1133}, HotEdges: 890, FewHits: 0.74, Reach: reach(0.668),
		Hot: hot,
		Risks: []pgo.Risk{{
			ID:       "grpc-process-data",
			Message:  "grpc's processData may be inlined, and grow the stack of each stream: memory +18% was reported",
			Source:   "golang/go issue 65532",
			Function: grpc + "(*loopyWriter).processData", Block: grpc + "(*loopyWriter).processData",
		}},
		Thresholds: pgo.Thresholds{Events: 2000, Ceiling: 0.05},
	}
}

func driveJudgement(t *testing.T, j *pgo.Judgement, w, h int, change ...func(*tui.Config)) *ui {
	t.Helper()
	cfg := pagetest.Config()
	cfg.Title, cfg.Command, cfg.Args = "before", "kitescope", []string{"before", "--dir", "../my service"}
	for _, f := range change {
		f(&cfg)
	}
	return driven(t, judgementConfig(cfg, j), w, h)
}

func TestJudgeWords(t *testing.T) {
	of := func(lists ...[]string) (items []Item) {
		for _, words := range lists {
			items = append(items, Item{Words: words})
		}
		return items
	}
	for _, x := range []struct {
		items []Item
		want  []string
	}{
		{of([]string{"a.pb.gz"}, []string{"b.pb.gz"}), []string{"a.pb.gz", "b.pb.gz"}},
		{
			of([]string{"c.bundle", "--kind", "cpu", "--node", "proxy-1"}, []string{
				"c.bundle", "--kind", "cpu", "--node", "proxy-2",
			}),
			[]string{"c.bundle", "--node", "proxy-1", "--node", "proxy-2"},
		},
		{of([]string{"c.bundle", "--kind", "heap"}), nil},
		{of([]string{"a.pb.gz", "--fold-preempt"}), []string{"a.pb.gz"}},
		{of(nil), nil},
	} {
		if got := judgeWords(x.items); !slices.Equal(got, x.want) {
			t.Errorf("%v: %q, want %q", x.items, got, x.want)
		}
	}
}
