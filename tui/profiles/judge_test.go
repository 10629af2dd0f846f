package profiles

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/pgo"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// loadedItem is a profile of the fixtures, read.
func loadedItem(t *testing.T, name string) *profile.Profile {
	t.Helper()
	item := profileItem(name)
	p, err := item.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// judgementFixture is a judgement with everything that there can be in one.
func judgementFixture(t *testing.T) *pgo.Judgement {
	t.Helper()
	hnsw, nq1 := loadedItem(t, "milvus-cpu-hnsw.pb.gz"), loadedItem(t, "milvus-cpu-hnswcos-nq1.pb.gz")
	edge := func(caller string, offset int, callee string) pgo.Edge {
		return pgo.Edge{Caller: caller, Callee: callee, Offset: offset}
	}
	const grpc = "google.golang.org/grpc/internal/transport."
	hot := []pgo.HotEdge{
		{Edge: edge("runtime.mallocgc", 171, "runtime.mallocgcSmallScanNoHeader"), Share: 0.021, Hits: 14},
		{Edge: edge(grpc+"(*http2Server).HandleStreams", 88, grpc+"(*http2Server).operateHeaders"), Share: 0.018, Hits: 12},
		{Edge: edge("runtime.findRunnable", 3, "runtime.netpoll"), Share: 0.013, Hits: 9, Inlined: true},
		{Edge: edge("github.com/milvus-io/milvus/internal/proxy.(*searchTask).PostExecute.func1", -4, "github.com/milvus-io/milvus/internal/proxy.reduceSearchResultData"), Share: 0.0004, Hits: -1},
	}
	reach := func(native float64) pgo.Reach {
		return pgo.Reach{Go: 0.09, Runtime: 0.12, GC: 0.06, Assembly: 0.043, Syscall: 0.019, Native: native, Unknown: 1 - native - 0.332, Total: 0.271, Ceiling: 0.038}
	}
	weights := map[pgo.Edge]int64{}
	for i := range 1133 {
		weights[edge("main.main", i, "main.step")] = 1
	}
	return &pgo.Judgement{
		Verdict: pgo.LittleToGain, Reason: "67% of the samples are native code, which Go does not compile",
		Profiles: []pgo.Assessed{
			{Input: &pgo.Input{Name: "before/milvus-cpu-hnsw.pb.gz", Profile: hnsw, GoVersion: "go1.24.9"}, Events: 779, CPU: 7790 * time.Millisecond, Duration: 10 * time.Second, Reach: reach(0.666)},
			{Input: &pgo.Input{Name: "before/milvus-cpu-hnswcos-nq1.pb.gz", Node: "querynode-7", Profile: nq1}, Events: 685, CPU: 6850 * time.Millisecond, Duration: 10 * time.Second, Reach: reach(0.258)},
			{
				Input: &pgo.Input{Name: "before/heap.pb.gz", Profile: hnsw}, Events: -1,
				Refusals: []pgo.Refusal{{ID: "wrong-type", Message: "it is a heap profile: the compiler takes CPU time or samples only", Hint: "take a CPU profile: kitescope profile pull"}},
			},
			{Input: &pgo.Input{Name: "before/cut.pb.gz", Err: &hints.Error{Err: errors.New("unexpected EOF"), Advice: "take it again"}}, Events: -1},
		},
		Refusals: []pgo.Refusal{{ID: "few-samples", Message: "1,464 samples are too few to tell hot calls from others", Hint: "profile for longer, or more nodes: 2,000 samples are wanted"}},
		Cautions: []pgo.Refusal{{ID: "alike", Message: "the profiles of two loads are unlike: 0.67 of the calls are the same"}},
		Events:   1464, CPU: 14640 * time.Millisecond, Duration: 20 * time.Second, Preempted: 0.18,
		Edges: &pgo.Edges{Weight: weights, Total: 1133}, HotEdges: 890, FewHits: 0.74, Reach: reach(0.668),
		Overlaps: []pgo.Overlap{{Between: "windows", A: "milvus-cpu-hnsw.pb.gz", B: "milvus-cpu-hnswcos-nq1.pb.gz", Share: 0.67}, {Between: "halves", A: "milvus-cpu-hnsw.pb.gz", Share: 0.83}},
		Hot:      hot,
		Risks: []pgo.Risk{{
			ID: "grpc-process-data", Message: "grpc's processData may be inlined, and grow the stack of each stream: memory +18% was reported", Source: "golang/go issue 65532",
			Function: grpc + "(*loopyWriter).processData", Block: grpc + "(*loopyWriter).processData",
		}},
		Thresholds: pgo.Thresholds{Events: 2000, Overlap: 0.8, Ceiling: 0.05},
	}
}

func driveJudgement(t *testing.T, j *pgo.Judgement, w, h int, change ...func(*tui.Config)) *ui {
	t.Helper()
	cfg := testConfig()
	cfg.Title, cfg.Command, cfg.Args = "before", "kitescope", []string{"before", "--dir", "../my service"}
	for _, f := range change {
		f(&cfg)
	}
	return driven(t, judgementConfig(cfg, j), w, h)
}

var judgeScreens = []struct{ name, keys, typed string }{
	{"judge", "", ""},
	{"judge-hot", "end", ""},
	{"judge-profiles", "down*6", ""},
	{"judge-sorted", ">*2", ""},
	{"judge-filter", "/", "grpc"},
}

func TestJudgementScreens(t *testing.T) {
	for _, size := range tuitest.WideSizes {
		for _, s := range judgeScreens {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				j := judgementFixture(t)
				synctest.Test(t, func(t *testing.T) {
					d := driveJudgement(t, j, size.W, size.H)
					d.Keys(s.keys).Typed(s.typed)
					d.Fits()
					if size.W == 80 || s.keys+s.typed == "" {
						tuitest.Golden(t, name, d.Plain())
					}
				})
			})
		}
	}
}

func TestJudgementWithoutColour(t *testing.T) {
	j := judgementFixture(t)
	synctest.Test(t, func(t *testing.T) {
		d := driveJudgement(t, j, 100, 40, func(c *tui.Config) { c.NoColor = true })
		if screen := d.Screen(); strings.Contains(screen, "[3") || strings.Contains(screen, "[4") || strings.Contains(screen, ";38;") {
			t.Errorf("a colour in spite of NO_COLOR: %q", screen)
		}
		tuitest.Golden(t, "judge-nocolor", strings.ReplaceAll(d.Screen(), "\x1b[", "«")+"\n")
	})
}

func TestJudgementOnAnySize(t *testing.T) {
	j := judgementFixture(t)
	for _, s := range judgeScreens {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driveJudgement(t, j, tui.MinWidth, tui.MinHeight, func(c *tui.Config) { c.ASCII = true })
				d.Keys(s.keys).Typed(s.typed)
				for w := tui.MinWidth; w < 240; w += 13 {
					for _, h := range []int{tui.MinHeight, 19, 20, 37} {
						d.Send(tea.WindowSizeMsg{Width: w, Height: h})
						d.Fits()
					}
				}
			})
		})
	}
}

// TestEveryLineOfAJudgementIsReached holds that going down step by step shows each line on the smallest screen.
func TestEveryLineOfAJudgementIsReached(t *testing.T) {
	j := judgementFixture(t)
	synctest.Test(t, func(t *testing.T) {
		d := driveJudgement(t, j, tui.MinWidth, tui.MinHeight)
		p := d.m.Top().(*judgePage)
		seen := make([]bool, len(p.lines))
		for range len(p.At) {
			d.Screen()
			for i := p.Top; i < min(p.Top+p.Height, len(p.lines)); i++ {
				seen[i] = true
			}
			d.Keys("down")
		}
		if i := slices.Index(seen, false); i >= 0 {
			t.Errorf("line %d is never seen: %q", i, p.lines[i].text)
		}
	})
}

func goToProfile(p *judgePage, i int) {
	p.Find(func(line int) bool { return p.lines[line].part == ofProfile && p.lines[line].at == i })
}

func goToEdge(p *judgePage, i int) {
	p.Find(func(line int) bool { return p.lines[line].edge == &p.made.Hot[i] })
}

func TestJudgementOpensFlameGraphs(t *testing.T) {
	j := judgementFixture(t)
	j.Hot[3].Callee = ""
	synctest.Test(t, func(t *testing.T) {
		d := driveJudgement(t, j, 120, 40)
		d.Keys("enter")
		d.Shows("go to a profile or a call first")
		p := d.m.Top().(*judgePage)
		goToProfile(p, 1)
		d.Keys("enter")
		d.Shows("flame querynode-7")
		d.Keys("esc")
		goToProfile(p, 3)
		d.Keys("enter")
		d.Shows("it could not be read")
		goToEdge(p, 0)
		d.Keys("enter")
		if got := d.flame().query.focus; got != "runtime.mallocgcSmallScanNoHeader" {
			t.Errorf("the graph is of %q, want what is called", got)
		}
		d.Keys("esc")
		goToEdge(p, 3)
		d.Keys("enter")
		d.Shows("no name that Go would know it by")
		d.Keys("9")
		d.Shows("milvus-cpu-hnsw.pb.gz", "unexpected EOF")
	})
}

func TestJudgementIsSortedFilteredAndTakenAway(t *testing.T) {
	j := judgementFixture(t)
	synctest.Test(t, func(t *testing.T) {
		d := driveJudgement(t, j, 120, 40)
		p := d.m.Top().(*judgePage)
		d.Keys("> >") // samples, then what is called
		if l := p.current(); l.part != ofEdge || p.edges.Shown[0].Callee != "github.com/milvus-io/milvus/internal/proxy.reduceSearchResultData" {
			t.Errorf("sorted by name the first is %q", p.edges.Shown[0].Callee)
		}
		at := p.current().edge
		d.Keys("S enter")
		if p.edges.Shown[0].Callee != "runtime.netpoll" || p.current().edge != at {
			t.Errorf("reversed the first is %q, and the cursor on %v, was on %v", p.edges.Shown[0].Callee, p.current().edge, at)
		}
		d.Keys("y")
		if !strings.Contains(d.Clip, "\t"+at.Callee+"\t") || strings.Count(d.Clip, "\n") != 1 {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("/").Typed("GRPC").Keys("enter")
		d.Shows("/grpc", "1 of 890")
		d.Keys("Y 2")
		if n := strings.Count(d.Clip, "\n"); n != 2 {
			t.Errorf("%d lines were copied, want a header and a call: %q", n, d.Clip)
		}
		d.Keys("esc home y")
		if !strings.Contains(d.Clip, "little to gain: 67% of the samples are native code, which Go does not compile\n") {
			t.Errorf("copied %q, want the whole paragraph", d.Clip)
		}
		d.Send(tea.WindowSizeMsg{Width: tui.MinWidth, Height: tui.MinHeight})
		d.Keys("down*4 y")
		if !strings.Contains(d.Clip, "--block 'google.golang.org/grpc/internal/transport.(*loopyWriter).processData'") {
			t.Errorf("copied %q, want the name in one piece", d.Clip)
		}
		d.Keys("Y 1")
		if want := "kitescope pgo judge before --dir '../my service'"; d.Clip != want {
			t.Errorf("copied %q, want %q", d.Clip, want)
		}
		d.Keys("s 3 enter")
		d.Keys("s 2 enter")
		if len(d.Saved) != 2 {
			t.Errorf("saved %d files, want 2", len(d.Saved))
		}
	})
}

// TestJudgementIsHarmless holds that no text of a profile, nor of a compiler, reaches the terminal as anything but text.
func TestJudgementIsHarmless(t *testing.T) {
	j := judgementFixture(t)
	bad := "\x1b[31mred\x1b]52;c;aGk=\a\r\nnext\u202e" + strings.Repeat("界", 40)
	for i := range j.Profiles {
		in := j.Profiles[i].Input
		in.Name, in.Node, in.GoVersion = bad, bad, bad
	}
	for i := range j.Hot {
		j.Hot[i].Edge = pgo.Edge{Caller: bad, Callee: bad, Offset: -i}
	}
	j.Reason, j.Overlaps[0].A, j.Overlaps[0].Between = bad, bad, bad
	j.Refusals[0], j.Cautions[0] = pgo.Refusal{ID: bad, Message: bad, Hint: bad}, pgo.Refusal{ID: bad, Message: bad, Hint: bad}
	j.Risks[0] = pgo.Risk{ID: bad, Message: bad, Source: bad, Function: bad, Block: bad}
	synctest.Test(t, func(t *testing.T) {
		for _, size := range tuitest.WideSizes {
			d := driveJudgement(t, j, size.W, size.H)
			for range len(d.m.Top().(*judgePage).items) + 20 {
				d.Fits()
				if screen := d.Screen(); strings.Contains(screen, "\x1b[31m") || strings.ContainsAny(screen, "\a\r\u202e") || strings.Contains(screen, "\x1b]") {
					t.Fatalf("the screen has control characters: %q", screen)
				}
				d.Keys("y")
				if strings.ContainsAny(d.Clip, "\x1b\a\r") {
					t.Fatalf("what is copied has control characters: %q", d.Clip)
				}
				d.Keys("down")
			}
		}
	})
}

func TestJudgementTellsProfilesOfOneNameApart(t *testing.T) {
	list := []pgo.Assessed{{Input: &pgo.Input{Name: "a/cpu.pb.gz"}}, {Input: &pgo.Input{Name: "b/cpu.pb.gz"}}, {Input: &pgo.Input{Name: "b/other.pb.gz"}}, {Input: &pgo.Input{Name: "x/7.pb.gz", Node: "querynode-7"}}}
	want := []string{"a/cpu.pb.gz", "b/cpu.pb.gz", "b/other.pb.gz", "querynode-7 x/7.pb.gz"}
	if got := assessedNames(list); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
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
		{of([]string{"c.bundle", "--kind", "cpu", "--node", "proxy-1"}, []string{"c.bundle", "--kind", "cpu", "--node", "proxy-2"}), []string{"c.bundle", "--node", "proxy-1", "--node", "proxy-2"}},
		{of([]string{"c.bundle", "--kind", "heap"}), nil},
		{of([]string{"a.pb.gz", "--fold-preempt"}), []string{"a.pb.gz"}},
		{of([]string{"perf.txt", "--weight-by", "count"}), nil},
		{of(nil), nil},
	} {
		if got := judgeWords(x.items); !slices.Equal(got, x.want) {
			t.Errorf("%v: %q, want %q", x.items, got, x.want)
		}
	}
}

// TestRunJudgement is the whole program; while nothing changes it writes nothing.
func TestRunJudgement(t *testing.T) {
	j := judgementFixture(t)
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Mouse = true
		p := started(judgementConfig(cfg, j), 100, 40)
		p.Wait(t, "little to gain")
		for _, keys := range []string{"", "j", ">", "G", "s"} {
			p.Press(keys)
			time.Sleep(10 * time.Second) // messages are gone
			before := p.Out.Len()
			time.Sleep(time.Minute)
			if n := p.Out.Len() - before; n != 0 {
				t.Errorf("after %q %d bytes were written while nothing changed", keys, n)
			}
		}
		p.Press("\x1b") // closes the menu
		time.Sleep(time.Second)
		p.Press("q")
		p.End(t)
	})
}
