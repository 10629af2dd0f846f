package replays

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/whatif"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

const replayHostile = "=cmd|' /C calc'!A0\x1b[31m\u202e"

func replayOf(r *replay.Result) *Data {
	return &Data{Result: r, Name: "after.json", Words: []string{"show", "after it.json"}}
}

// replayPrediction is the fixture with what nodes have to do.
func replayPrediction() *Data {
	r := replayWhatIf()
	for i, p := range append([]*whatif.Prediction{&r.Base}, others(r)...) {
		for k := range p.Outcome.Nodes {
			n := &p.Outcome.Nodes[k]
			p.Nodes = append(p.Nodes, whatif.NodeShare{ID: n.ID, Name: n.Name, Segments: 12 + k + i, Growing: 4 - k, Rows: int64(900_000 - 7000*k), CPU: p.Cost.CPU / time.Duration(2+k), Part: 0.5 - 0.1*float64(k)})
		}
	}
	return &Data{Report: r, Name: "whatif.json"}
}

func driveReplay(t *testing.T, d *Data, w, h int, change ...func(*tui.Config)) *ui {
	t.Helper()
	cfg := testConfig()
	cfg.Title, cfg.Command = "docs", "kitescope"
	for _, f := range change {
		f(&cfg)
	}
	return driven(t, opened(cfg, d), w, h)
}

var replayScreens = []struct {
	name        string
	of          func() *Data
	keys, typed string
}{
	{"replay-run", func() *Data { return replayOf(replayRun()) }, "", ""},
	{"replay-run-charts", func() *Data { return replayOf(replayRun()) }, "tab", ""},
	{"replay-run-costs", func() *Data { return replayOf(replayRun()) }, "tab*2", ""},
	{"replay-run-segment", func() *Data { return replayOf(replayRun()) }, "tab*2 enter", ""},
	{"replay-run-slow", func() *Data { return replayOf(replayRun()) }, "tab*3", ""},
	{"replay-run-request", func() *Data { return replayOf(replayRun()) }, "tab*3 down enter", ""},
	{"replay-run-drilled", func() *Data { return replayOf(replayRun()) }, "tab*3 enter down enter", ""},
	{"replay-run-filter", func() *Data { return replayOf(replayRun()) }, "tab*2 / ", "querynode-3"},
	{"replay-run-save", func() *Data { return replayOf(replayRun()) }, "tab*2 s", ""},
	{"replay-trouble", func() *Data { return replayOf(replayTrouble()) }, "", ""},
	{"replay-missing", func() *Data { return replayOf(replayTrouble()) }, "shift+tab", ""},
	{"replay-missing-segment", func() *Data { return replayOf(replayTrouble()) }, "shift+tab enter", ""},
	{"replay-sweep", func() *Data { return replayOf(replaySweep()) }, "", ""},
	{"replay-points", func() *Data { return replayOf(replaySweep()) }, "tab down*5", ""},
	{"replay-point", func() *Data { return replayOf(replaySweep()) }, "tab down*5 enter", ""},
	{"replay-qps", func() *Data { return replayOf(replaySweep()) }, "tab*2", ""},
	{"replay-front", func() *Data { return replayOf(replaySweep()) }, "tab*2 right", ""},
	{"replay-whatif", replayPrediction, "", ""},
	{"replay-changes", replayPrediction, "tab", ""},
	{"replay-change", replayPrediction, "tab down*3 enter", ""},
}

func TestReplayScreens(t *testing.T) {
	for _, size := range []struct{ W, H int }{{80, 24}, {200, 50}} {
		for _, s := range replayScreens {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driveReplay(t, s.of(), size.W, size.H)
					d.Keys(s.keys).Typed(s.typed)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

func TestReplayWithoutColour(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		for _, s := range replayScreens {
			switch s.name {
			case "replay-run", "replay-qps", "replay-run-costs", "replay-run-request", "replay-change":
			default:
				continue
			}
			name := s.name + map[bool]string{false: "-nocolor", true: "-ascii"}[ascii]
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driveReplay(t, s.of(), 100, 34, func(c *tui.Config) { c.NoColor, c.ASCII = true, ascii })
					d.Keys(s.keys)
					d.Fits()
					if screen := d.Screen(); strings.Contains(screen, "[3") || strings.Contains(screen, "[4") || strings.Contains(screen, ";38;") {
						t.Errorf("a colour in spite of NO_COLOR: %q", screen)
					}
					tuitest.Golden(t, name, strings.ReplaceAll(d.Screen(), "\x1b[", "«")+"\n")
				})
			})
		}
	}
}

// TestReplayDrawsASCII holds that a terminal without any other signs can show every drawing.
func TestReplayDrawsASCII(t *testing.T) {
	for _, d := range []*Data{replayOf(replayRun()), replayOf(replaySweep()), replayPrediction()} {
		for _, kind := range d.charts() {
			for _, size := range [][2]int{{56, 9}, {100, 20}, {150, 40}} {
				for _, line := range d.drawChart(kind, 0, size[0], size[1], true) {
					if i := strings.IndexFunc(strings.ReplaceAll(line.Plain(), "…", ""), func(r rune) bool { return r > 0x7e }); i >= 0 {
						t.Errorf("chart %d: %q is not ASCII", kind, line.Plain())
					}
				}
			}
		}
	}
}

// replayOdd are results that no run makes, but a file can have.
func replayOdd() []*Data {
	r := replayTrouble()
	r.Points = append(r.Points, load.Point{}, load.Point{Plan: load.Plan{Timed: true}, QPS: 3}, load.Point{
		Plan: load.Plan{Rate: 1e300}, QPS: 1e308, QPSHigh: 1e308, Recall: 2, Latency: load.Latency{Count: 1, Bars: []load.Bar{{UpTo: -5, Count: -3}, {UpTo: 7, Count: 1 << 60}, {UpTo: 7, Count: 4}, {UpTo: 1 << 62, Count: 1}}},
	}, load.Point{Plan: load.Plan{Sessions: -4}, QPS: -7, Latency: load.Latency{Count: 3, Bars: []load.Bar{{}, {}}}})
	r.Costs.Segments[2].State, r.Costs.Segments[2].Queries, r.Costs.Segments[2].Time = 77, 0, -5
	r.Slowest = append(r.Slowest, replay.SlowQuery{Request: -1, Segments: []replay.SegmentTime{{Segment: -8, State: 9, Took: -3}}})
	broken := replayPrediction()
	broken.Report.Base.Outcome, broken.Report.Others[0].Outcome, broken.Report.Others[1].Curve = nil, nil, nil
	broken.Report.Others[2].Change.Name, broken.Report.Others[2].Notes = replayHostile, []string{replayHostile}
	broken.Report.Sessions = []int{0, -3}
	both := replayOf(replaySweep())
	both.Report = replayWhatIf()
	return []*Data{
		replayOf(r), broken, both, replayOf(&replay.Result{}),
		{Report: &whatif.Report{}},
		replayOf(replayOfTarget()),
		replayOf(&replay.Result{Points: []load.Point{{}}, Costs: &replay.Costs{Segments: []replay.SegmentCost{{}}}, Slowest: []replay.SlowQuery{{}}}),
	}
}

// TestReplayOnAnySize draws every part, and what no run makes, on every size.
func TestReplayOnAnySize(t *testing.T) {
	for i, data := range append(replayOdd(), replayOf(replaySweep()), replayPrediction()) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, ascii := range []bool{false, true} {
					d := driveReplay(t, data, tui.MinWidth, tui.MinHeight, func(c *tui.Config) { c.ASCII = ascii })
					for range 8 {
						for _, size := range [][2]int{{60, 15}, {61, 19}, {79, 20}, {93, 27}, {119, 40}, {149, 33}, {160, 15}, {171, 60}, {233, 50}} {
							d.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
							d.Fits()
						}
						d.Keys("enter")
						d.Fits()
						if d.m.Top().Scope() == tui.InReplayRow {
							d.Keys("end enter esc*3")
						}
						d.Keys("tab")
					}
				}
			})
		})
	}
}

// TestReplayKeysInAnyOrder presses keys on every part: no order of them may break anything.
func TestReplayKeysInAnyOrder(t *testing.T) {
	const keys = "down enter right left enter esc end home pgdown y Y esc tab right right left down up y s esc tab > > > S esc < enter right down enter enter esc esc esc " +
		"tab G / x esc up ctrl+d ctrl+u enter right end enter enter enter esc s esc esc tab shift+tab p f space = r 9 3 ? esc : esc H space ] tab enter esc tab enter y esc"
	for _, data := range append(replayOdd(), replayOf(replaySweep()), replayOf(replayRun()), replayPrediction()) {
		synctest.Test(t, func(t *testing.T) {
			d := driveReplay(t, data, 80, 24)
			for range 3 {
				for key := range strings.FieldsSeq(keys) {
					d.Keys(key)
					d.Fits()
				}
			}
			if d.Quit {
				t.Error("a key that does not quit did")
			}
		})
	}
}

// TestReplayIsHarmless holds that no text of a file reaches the terminal as anything but text.
func TestReplayIsHarmless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, data := range replayOdd()[:2] {
			d := driveReplay(t, data, 120, 40)
			for range 9 {
				for _, keys := range []string{"tab", "enter", "y", "Y 2", "esc"} {
					d.Keys(keys)
					if screen := d.Screen(); strings.Contains(screen, "\x1b[31m") || strings.ContainsAny(screen, "\a\r\u202e") {
						t.Errorf("after %q the screen has control characters: %q", keys, screen)
					}
					if strings.ContainsAny(d.Clip, "\x1b\a\r\u202e") {
						t.Errorf("what is copied has control characters: %q", d.Clip)
					}
				}
			}
		}
	})
}

// TestReplayDrillsDown goes from a slow request to its segment and what that costs, and to the requests that were slow in it.
func TestReplayDrillsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := replayRun()
		d := driveReplay(t, replayOf(r), 120, 40)
		d.Keys("tab*3 down enter")
		d.Shows("request 2 of 5", "request 887", "WHERE ITS TIME WENT", "470590569932852614")
		d.Keys("down*2 enter")
		costs := d.m.Top().(*replayPage)
		if got, want := r.Costs.Segments[cursorRow(costs.listed(d.m))].Segment, r.Slowest[1].Segments[2].Segment; got != want {
			t.Errorf("the cursor is on segment %d, want %d", got, want)
		}
		d.Shows("470590569932852612", "50 segments")
		d.Keys("enter")
		d.Shows("segment 470590569932852612", "SLOWEST REQUESTS", "per query", "sealed, no index")
		d.Keys("down enter")
		d.Shows("request 887", "request 2 of 5")
		d.Keys("left")
		d.Shows("request 900", "request 1 of 5")
		d.Keys("left")
		d.Shows("this is the first request")
		d.Keys("esc*5")
		if p, ok := d.m.Top().(*replayPage); !ok || p.part() != partSlow || strings.Contains(d.Plain(), "›") {
			t.Errorf("esc does not lead back to the slowest requests: %T", d.m.Top())
		}
	})
}

func TestReplayIsSortedFilteredAndTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, replayOf(replayRun()), 120, 40)
		d.Keys("tab*2 /").Typed("QUERYNODE-3").Keys("enter")
		d.Shows("12 of 50 segments", "/querynode-3")
		d.Keys(">")
		d.Shows("by segment")
		d.Keys("Y 2")
		if lines := strings.Split(strings.TrimSpace(d.Clip), "\n"); len(lines) != 13 || !strings.HasPrefix(lines[0], "SEGMENT\tSTATE\tNODE\t") {
			t.Errorf("copied %q", d.Clip)
		}
		for _, key := range []string{"1", "2", "4", "6", "7"} { // the table, the result, costs, the report, a plot
			d.Keys("s " + key + " enter")
		}
		var names []string
		for name, text := range d.Saved {
			names = append(names, strings.SplitN(name, "-2026", 2)[0])
			if len(text) < 100 {
				t.Errorf("%s has %d bytes", name, len(text))
			}
			if strings.HasSuffix(name, ".json") {
				if _, err := replay.ReadResult(strings.NewReader(text)); err != nil {
					t.Errorf("the saved result cannot be read: %v", err)
				}
			}
		}
		slices.Sort(names)
		if got, want := strings.Join(names, " "), "kitescope-replay kitescope-replay kitescope-replay-costs kitescope-replay-latency kitescope-replay-segments"; got != want {
			t.Errorf("saved %q, want %q", got, want)
		}
		d.Keys("Y 1")
		if want := "kitescope replay show 'after it.json'"; d.Clip != want {
			t.Errorf("copied %q, want %q", d.Clip, want)
		}
		d.Keys("esc")
		d.Shows("50 segments")
	})
}

// TestReplayWithinACluster opens the page from the palette, beside the pages of the cluster.
func TestReplayWithinACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Pages = Pages(replayOf(replayRun()))
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys(":").Typed("replay costs").Keys("enter")
		d.Shows("[costs]", "50 segments")
		d.Keys("f")
		d.Shows("findings")
		d.Keys("esc :").Typed("replay nothing").Keys("enter")
		d.Shows("this replay has no nothing: there are overview, charts, costs, slowest")

		cfg.Pages = Pages(nil)
		d = driven(t, cfg, 100, 30)
		d.Keys(":").Typed("replay").Keys("enter")
		d.Shows("there is no replay here")
	})
}

func TestReplayOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, nil, 80, 24)
		d.Shows("there is nothing to show")
		d.Keys("tab")
		d.Shows("there is no result yet")
		d.Keys("s")
		d.Keys("q")
		if !d.Quit {
			t.Error("q does not quit")
		}
	})
}

// progress is a point under way.
func replayProgress(point, round int, elapsed time.Duration, qps float64) replay.RunProgress {
	return replay.RunProgress{
		Stage: "load", Point: point, Points: 28, Sessions: 1 << point, EF: 64,
		Load: load.Progress{Round: round, Rounds: 5, Elapsed: elapsed, Of: 10 * time.Second, Asked: int64(qps * elapsed.Seconds()), QPS: qps, P50: 900 * time.Microsecond, P99: 3 * time.Millisecond},
	}
}

// replaySteps has a feed say what a sweep says.
func replaySteps(ctx context.Context, emit func(Update), until int) {
	time.Sleep(7 * time.Millisecond) // no two things happen at the same moment: each time is its own
	emit(Update{Stage: "reading the layout"})
	time.Sleep(400 * time.Millisecond)
	for i := range 51 {
		emit(Update{Load: &replay.LoadProgress{Done: i, Missing: i / 25, Of: 50, Rows: int64(i) * 61_000, Bytes: int64(i) * 31 << 20}})
		time.Sleep(21 * time.Millisecond)
	}
	emit(Update{Run: &replay.RunProgress{Stage: "true neighbours"}})
	time.Sleep(3300 * time.Millisecond)
	for i := range until {
		if ctx.Err() != nil {
			return
		}
		p := replayProgress(i/100, i/20%5, time.Duration(i%100)*100*time.Millisecond, 4000+700*float64(i%13)+float64(20*i))
		if i > 150 {
			p.Load.Failed = 17
		}
		emit(Update{Run: &p})
		time.Sleep(103300 * time.Microsecond)
	}
}

// driveFeed runs a feed as Run does.
func driveFeed(t *testing.T, feed Feed, w, h int) (*ui, context.CancelFunc) {
	t.Helper()
	cfg := testConfig()
	cfg.Title = "docs"
	cfg.Now = time.Now
	cfg, session := measuring(cfg, feed)
	d := driven(t, cfg, w, h)
	ctx, cancel := context.WithCancel(t.Context())
	go session.run(ctx, func(m tea.Msg) { d.Messages <- m })
	d.Settle()
	return d, cancel
}

func TestReplayProgressScreens(t *testing.T) {
	for _, size := range []struct{ W, H int }{{80, 24}, {200, 50}} {
		name := fmt.Sprintf("replay-live-%dx%d", size.W, size.H)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, cancel := driveFeed(t, func(ctx context.Context, emit func(Update)) (Data, error) {
					replaySteps(ctx, emit, 260)
					<-ctx.Done()
					return Data{}, ctx.Err()
				}, size.W, size.H)
				defer cancel()
				var all strings.Builder
				for _, steps := range []int{0, 9, 20, 240} {
					for range steps {
						d.Sleep(100 * time.Millisecond)
					}
					d.Fits()
					all.WriteString(d.Plain())
				}
				tuitest.Golden(t, name, all.String())
			})
		})
	}
}

// TestReplayStops holds that q ends the run and shows what was done, and quits only then.
func TestReplayStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, cancel := driveFeed(t, func(ctx context.Context, emit func(Update)) (Data, error) {
			replaySteps(ctx, emit, 100_000)
			r := replayRun()
			r.Stopped = "interrupted"
			return Data{Result: r}, nil
		}, 80, 24)
		defer cancel()
		d.Sleep(6 * time.Second)
		d.Shows("measuring", "point", "round")
		d.Keys("tab")
		d.Shows("there is no result yet")
		d.Keys("? q")
		if d.Quit {
			t.Fatal("q quits although a run is under way")
		}
		d.Sleep(200 * time.Millisecond)
		d.Shows("STOPPED", "interrupted", "recall@10")
		d.Keys(":").Typed("q").Keys("enter")
		if !d.Quit {
			t.Error("once the run is over q does not quit")
		}
	})
}

func TestReplayThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, cancel := driveFeed(t, func(context.Context, func(Update)) (Data, error) {
			return Data{}, errors.New("read segment 7: \x1b[31mtruncated")
		}, 80, 24)
		defer cancel()
		d.Shows("read segment 7:", "truncated")
		if strings.Contains(d.Screen(), "\x1b[31mtrunc") {
			t.Error("the error has control characters")
		}
		d.Keys("q")
		if !d.Quit {
			t.Error("q does not quit")
		}
	})
}

// TestReplayFramesAreFew holds that a feed that never pauses costs no more than ten messages a second.
func TestReplayFramesAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &replaySession{now: time.Now, feed: func(_ context.Context, emit func(Update)) (Data, error) {
			for i := range 20_000 {
				emit(Update{Load: &replay.LoadProgress{Done: i, Of: 20_000}})
				time.Sleep(100 * time.Microsecond)
			}
			return Data{}, nil
		}}
		var got []tea.Msg
		s.run(t.Context(), func(m tea.Msg) { got = append(got, m) })
		if len(got) < 15 || len(got) > 23 {
			t.Errorf("%d messages in 2 s", len(got))
		}
		if _, ok := got[len(got)-1].(replayedMsg); !ok {
			t.Errorf("the last message is a %T", got[len(got)-1])
		}
	})
}

// TestRunReplay is the whole program; while nothing changes it writes nothing, and it returns when the feed has.
func TestRunReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		cfg := testConfig()
		cfg.Now = time.Now
		cfg, _ = measuring(cfg, func(ctx context.Context, emit func(Update)) (Data, error) {
			defer func() { ended = true }()
			replaySteps(ctx, emit, 100)
			return Data{Result: replayRun()}, nil
		})
		p := started(cfg, 100, 30)
		p.Wait(t, "reading the layout")
		p.Wait(t, "recall@10")
		for _, keys := range []string{"", "\t", "\t", "\r"} {
			p.Press(keys)
			time.Sleep(time.Second)
			before := p.Out.Len()
			time.Sleep(time.Minute)
			if n := p.Out.Len() - before; n != 0 {
				t.Errorf("after %q %d bytes were written while nothing changed", keys, n)
			}
		}
		p.Press("q")
		p.End(t)
		if !ended {
			t.Error("the feed has not returned")
		}
	})
}

// TestRunReplayInterrupted ends the program's context in the middle of a run: the feed ends with it.
func TestRunReplayInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		cfg, _ := measuring(testConfig(), func(ctx context.Context, emit func(Update)) (Data, error) {
			replaySteps(ctx, emit, 100_000)
			ended = true
			return Data{Result: replayRun()}, nil
		})
		p := started(cfg, 100, 30)
		p.Wait(t, "true neighbours")
		p.Interrupt(t)
		if !ended {
			t.Error("the feed has not returned")
		}
	})
}

func TestReplayByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, replayOf(replayRun()), 120, 40)
		at := func(text string) (x, y int) {
			for y, line := range strings.Split(d.Plain(), "\n") {
				if before, _, ok := strings.Cut(line, text); ok {
					return len([]rune(before)), y
				}
			}
			t.Fatalf("no %q on the screen:\n%s", text, d.Plain())
			return 0, 0
		}
		click := func(text string) {
			x, y := at(text)
			d.Send(tea.MouseClickMsg{X: x + 1, Y: y, Button: tea.MouseLeft})
		}
		click("costs")
		d.Shows("[costs]")
		click("ROWS")
		d.Shows("by rows")
		click("470590569932852649")
		if l := d.m.Top().(*replayPage).listed(d.m); l.Columns(tui.WideTable)[0].Shown(cursorRow(l)) != "470590569932852649" {
			t.Errorf("the cursor is on %q", tui.CellsOf(l.Columns(tui.WideTable), cursorRow(l)))
		}
		d.Send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
		click("slowest")
		click("874")
		click("874")
		d.Shows("request 874")
		click("470590569932852613")
		click("470590569932852613")
		d.Shows("costs", "50 segments")
	})
}

// TestReplayHelp holds that help begins with what works here, and has nothing of clusters and profiles that are not there.
func TestReplayHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, replayOf(replayRun()), 120, 60)
		d.Keys("?")
		d.Shows("REPLAYS", "The next part: overview")
		d.Lacks("Flame graph", "To the vchannels", "PROFILES")
		if lines := strings.Split(d.Plain(), "\n"); !strings.HasPrefix(strings.TrimSpace(lines[3]), "ON THIS PAGE: ") {
			t.Errorf("help begins with %q", lines[3])
		}
		d.Keys("G")
		d.Shows("A replay: recall, latency")
		d.Keys("/").Typed("while a replay").Keys("enter")
		d.Shows("while a replay measures")
		d.Keys("esc esc 9")
		d.Shows("the profiles page needs a cluster")
		d.Keys("f")
		d.Shows("findings need a cluster; here there is only a replay")
		d.Keys("g n")
		d.Shows("the nodes page needs a cluster; here there is only a replay")
		d.Keys(":").Typed("segments").Keys("enter")
		d.Shows("there is no cluster here, only a replay")
	})
}

// TestStarsOfASweep: the UI, the table of commands and the front name the same points, ties included.
func TestStarsOfASweep(t *testing.T) {
	r := replaySweep()
	for i := range r.Points { // half of them differ from another in one figure alone, or in none
		p := &r.Points[i]
		p.Recall, p.QPS = []float64{0.8, 0.9, 0.9, 0.95, 0.95}[i%5], []float64{900, 700, 650, 700, 700}[i%5]
	}
	front := load.OnFront(r.Points)
	columns := pointList(r, false).Columns(tui.WideTable)
	mark := slices.IndexFunc(columns, func(c tui.Column[int]) bool { return c.Title == "" })
	var out strings.Builder
	format, err := render.ReportFormats().Parse("wide")
	if err != nil {
		t.Fatal(err)
	}
	if err := replays.WriteResult(&out, r, format, render.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	stars := 0
	for i, on := range front {
		if got := columns[mark].Shown(i) == "*"; got != on {
			t.Errorf("point %d: the UI stars it: %v, want %v", i, got, on)
		}
		if on {
			stars++
		}
	}
	if got := strings.Count(out.String(), "0* "); stars < 2 || got != stars {
		t.Errorf("the table has %d stars, want %d:\n%s", got, stars, &out)
	}
}
