package tui

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
)

const replayHostile = "=cmd|' /C calc'!A0\x1b[31m\u202e"

func replayOf(r *replay.Result) *ReplayData {
	return &ReplayData{Result: r, Name: "after.json", Words: []string{"show", "after it.json"}}
}

// replayPrediction is the fixture with what nodes have to do.
func replayPrediction() *ReplayData {
	r := replayWhatIf()
	for i, p := range append([]*whatif.Prediction{&r.Base}, others(r)...) {
		for k := range p.Outcome.Nodes {
			n := &p.Outcome.Nodes[k]
			p.Nodes = append(p.Nodes, whatif.NodeShare{ID: n.ID, Name: n.Name, Segments: 12 + k + i, Growing: 4 - k, Rows: int64(900_000 - 7000*k), CPU: p.Cost.CPU / time.Duration(2+k), Part: 0.5 - 0.1*float64(k)})
		}
	}
	return &ReplayData{Report: r, Name: "whatif.json"}
}

func driveReplay(t *testing.T, d *ReplayData, w, h int, change ...func(*Config)) *ui {
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
	of          func() *ReplayData
	keys, typed string
}{
	{"replay-run", func() *ReplayData { return replayOf(replayRun()) }, "", ""},
	{"replay-run-charts", func() *ReplayData { return replayOf(replayRun()) }, "tab", ""},
	{"replay-run-costbars", func() *ReplayData { return replayOf(replayRun()) }, "tab left", ""},
	{"replay-run-costs", func() *ReplayData { return replayOf(replayRun()) }, "tab*2", ""},
	{"replay-run-segment", func() *ReplayData { return replayOf(replayRun()) }, "tab*2 enter", ""},
	{"replay-run-slow", func() *ReplayData { return replayOf(replayRun()) }, "tab*3", ""},
	{"replay-run-request", func() *ReplayData { return replayOf(replayRun()) }, "tab*3 down enter", ""},
	{"replay-run-drilled", func() *ReplayData { return replayOf(replayRun()) }, "tab*3 enter down enter", ""},
	{"replay-run-filter", func() *ReplayData { return replayOf(replayRun()) }, "tab*2 / ", "querynode-3"},
	{"replay-run-save", func() *ReplayData { return replayOf(replayRun()) }, "tab*2 s", ""},
	{"replay-trouble", func() *ReplayData { return replayOf(replayTrouble()) }, "", ""},
	{"replay-missing", func() *ReplayData { return replayOf(replayTrouble()) }, "shift+tab", ""},
	{"replay-missing-segment", func() *ReplayData { return replayOf(replayTrouble()) }, "shift+tab enter", ""},
	{"replay-sweep", func() *ReplayData { return replayOf(replaySweep()) }, "", ""},
	{"replay-points", func() *ReplayData { return replayOf(replaySweep()) }, "tab down*5", ""},
	{"replay-point", func() *ReplayData { return replayOf(replaySweep()) }, "tab down*5 enter", ""},
	{"replay-qps", func() *ReplayData { return replayOf(replaySweep()) }, "tab*2", ""},
	{"replay-front", func() *ReplayData { return replayOf(replaySweep()) }, "tab*2 right", ""},
	{"replay-share", func() *ReplayData { return replayOf(replaySweep()) }, "tab*2 right*3", ""},
	{"replay-whatif", replayPrediction, "", ""},
	{"replay-changes", replayPrediction, "tab", ""},
	{"replay-change", replayPrediction, "tab down*3 enter", ""},
	{"replay-curves", replayPrediction, "tab*2", ""},
}

func TestReplayScreens(t *testing.T) {
	for _, size := range wideSizes {
		for _, s := range replayScreens {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driveReplay(t, s.of(), size.w, size.h)
					d.keys(s.keys).typed(s.typed)
					d.fits()
					golden(t, name, d.plain())
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
					d := driveReplay(t, s.of(), 100, 34, func(c *Config) { c.NoColor, c.ASCII = true, ascii })
					d.keys(s.keys)
					d.fits()
					if screen := d.screen(); strings.Contains(screen, "[3") || strings.Contains(screen, "[4") || strings.Contains(screen, ";38;") {
						t.Errorf("a colour in spite of NO_COLOR: %q", screen)
					}
					golden(t, name, strings.ReplaceAll(d.screen(), "\x1b[", "«")+"\n")
				})
			})
		}
	}
}

// TestReplayDrawsASCII holds that a terminal without any other signs can show every drawing.
func TestReplayDrawsASCII(t *testing.T) {
	for _, d := range []*ReplayData{replayOf(replayRun()), replayOf(replaySweep()), replayPrediction()} {
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
func replayOdd() []*ReplayData {
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
	return []*ReplayData{
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
					d := driveReplay(t, data, minWidth, minHeight, func(c *Config) { c.ASCII = ascii })
					for range 8 {
						for _, size := range [][2]int{{60, 15}, {61, 19}, {79, 20}, {93, 27}, {119, 40}, {149, 33}, {160, 15}, {171, 60}, {233, 50}} {
							d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
							d.fits()
						}
						d.keys("enter")
						d.fits()
						if d.m.stack.top().scope() == inReplayRow {
							d.keys("end enter esc*3")
						}
						d.keys("tab")
					}
				}
			})
		})
	}
}

// TestReplayKeysInAnyOrder presses keys on every part: no order of them may break anything.
func TestReplayKeysInAnyOrder(t *testing.T) {
	const keys = "down enter right left enter esc end home pgdown y Y esc tab right right left down up y s esc tab > > > S < enter right down enter enter esc esc esc " +
		"tab G / x esc up ctrl+d ctrl+u enter right end enter enter enter esc s esc esc tab shift+tab p f v = c ? esc : esc H space ] tab enter esc tab enter y esc"
	for _, data := range append(replayOdd(), replayOf(replaySweep()), replayOf(replayRun()), replayPrediction()) {
		synctest.Test(t, func(t *testing.T) {
			d := driveReplay(t, data, 80, 24)
			for range 3 {
				for key := range strings.FieldsSeq(keys) {
					d.keys(key)
					d.fits()
				}
			}
			if d.quit {
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
				for _, keys := range []string{"tab", "enter", "y", "Y t", "esc"} {
					d.keys(keys)
					if screen := d.screen(); strings.Contains(screen, "\x1b[31m") || strings.ContainsAny(screen, "\a\r\u202e") {
						t.Errorf("after %q the screen has control characters: %q", keys, screen)
					}
					if strings.ContainsAny(d.clip, "\x1b\a\r\u202e") {
						t.Errorf("what is copied has control characters: %q", d.clip)
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
		d.keys("tab*3 down enter")
		d.shows("request 2 of 5", "request 887", "WHERE ITS TIME WENT", "470590569932852614")
		d.keys("down*2 enter")
		costs := d.m.stack.top().(*replayPage)
		if got, want := r.Costs.Segments[cursorRow(costs.listed(d.m))].Segment, r.Slowest[1].Segments[2].Segment; got != want {
			t.Errorf("the cursor is on segment %d, want %d", got, want)
		}
		d.shows("470590569932852612", "50 segments")
		d.keys("enter")
		d.shows("segment 470590569932852612", "SLOWEST REQUESTS", "per query", "sealed, no index")
		d.keys("down enter")
		d.shows("request 887", "request 2 of 5")
		d.keys("left")
		d.shows("request 900", "request 1 of 5")
		d.keys("left")
		d.shows("this is the first request")
		d.keys("esc*5")
		if p, ok := d.m.stack.top().(*replayPage); !ok || p.part() != partSlow || len(d.m.stack.pages) != 1 {
			t.Errorf("esc does not lead back to the slowest requests: %T", d.m.stack.top())
		}
	})
}

func TestReplayIsSortedFilteredAndTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, replayOf(replayRun()), 120, 40)
		d.keys("tab*2 /").typed("QUERYNODE-3").keys("enter")
		d.shows("12 of 50 segments", "/querynode-3")
		d.keys(">")
		d.shows("by segment")
		d.keys("Y t")
		if lines := strings.Split(strings.TrimSpace(d.clip), "\n"); len(lines) != 13 || !strings.HasPrefix(lines[0], "SEGMENT\tSTATE\tNODE\t") {
			t.Errorf("copied %q", d.clip)
		}
		d.keys("s t")
		d.keys("s j")
		d.keys("s g")
		d.keys("s h")
		d.keys("s 1")
		var names []string
		for name, text := range d.saved {
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
		d.keys("Y c")
		if want := "kitescope replay show 'after it.json'"; d.clip != want {
			t.Errorf("copied %q, want %q", d.clip, want)
		}
		d.keys("esc")
		d.shows("50 segments")
	})
}

// TestReplayWithinACluster opens the page from the palette, beside the pages of the cluster.
func TestReplayWithinACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Pages = ReplayPages(replayOf(replayRun()))
		d := driven(t, cfg, 100, 30)
		d.cluster(fixture())
		d.keys(":").typed("replay costs").keys("enter")
		d.shows("[costs]", "50 segments")
		d.keys("f")
		d.shows("findings")
		d.keys("esc :").typed("replay nothing").keys("enter")
		d.shows("this replay has no nothing: there are overview, charts, costs, slowest")

		cfg.Pages = ReplayPages(nil)
		d = driven(t, cfg, 100, 30)
		d.keys(":").typed("replay").keys("enter")
		d.shows("there is no replay here")
	})
}

func TestReplayOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, nil, 80, 24)
		d.shows("there is nothing to show")
		d.keys("tab")
		d.shows("there is no result yet")
		d.keys("s")
		d.keys("q")
		if !d.quit {
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
func replaySteps(ctx context.Context, emit func(ReplayUpdate), until int) {
	time.Sleep(7 * time.Millisecond) // no two things happen at the same moment: each time is its own
	emit(ReplayUpdate{Stage: "reading the layout"})
	time.Sleep(400 * time.Millisecond)
	for i := range 51 {
		emit(ReplayUpdate{Load: &replay.LoadProgress{Done: i, Missing: i / 25, Of: 50, Rows: int64(i) * 61_000, Bytes: int64(i) * 31 << 20}})
		time.Sleep(21 * time.Millisecond)
	}
	emit(ReplayUpdate{Run: &replay.RunProgress{Stage: "true neighbours"}})
	time.Sleep(3300 * time.Millisecond)
	for i := range until {
		if ctx.Err() != nil {
			return
		}
		p := replayProgress(i/100, i/20%5, time.Duration(i%100)*100*time.Millisecond, 4000+700*float64(i%13)+float64(20*i))
		if i > 150 {
			p.Load.Failed = 17
		}
		emit(ReplayUpdate{Run: &p})
		time.Sleep(103300 * time.Microsecond)
	}
}

// driveFeed runs a feed as Run does.
func driveFeed(t *testing.T, feed ReplayFeed, w, h int) (*ui, context.CancelFunc) {
	t.Helper()
	cfg := testConfig()
	cfg.Title = "docs"
	cfg.Now = time.Now
	cfg, session := measuring(cfg, feed)
	d := driven(t, cfg, w, h)
	ctx, cancel := context.WithCancel(t.Context())
	go session.run(ctx, func(m tea.Msg) { d.msgs <- m })
	d.settle()
	return d, cancel
}

func TestReplayProgressScreens(t *testing.T) {
	for _, size := range wideSizes {
		name := fmt.Sprintf("replay-live-%dx%d", size.w, size.h)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, cancel := driveFeed(t, func(ctx context.Context, emit func(ReplayUpdate)) (ReplayData, error) {
					replaySteps(ctx, emit, 260)
					<-ctx.Done()
					return ReplayData{}, ctx.Err()
				}, size.w, size.h)
				defer cancel()
				var all strings.Builder
				for _, steps := range []int{0, 9, 20, 240} {
					for range steps {
						d.sleep(100 * time.Millisecond)
					}
					d.fits()
					all.WriteString(d.plain())
				}
				golden(t, name, all.String())
			})
		})
	}
}

// TestReplayStops holds that q ends the run and shows what was done, and quits only then.
func TestReplayStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, cancel := driveFeed(t, func(ctx context.Context, emit func(ReplayUpdate)) (ReplayData, error) {
			replaySteps(ctx, emit, 100_000)
			r := replayRun()
			r.Stopped = "interrupted"
			return ReplayData{Result: r}, nil
		}, 80, 24)
		defer cancel()
		d.sleep(6 * time.Second)
		d.shows("measuring", "point", "round")
		d.keys("tab")
		d.shows("there is no result yet")
		d.keys("? q")
		if d.quit {
			t.Fatal("q quits although a run is under way")
		}
		d.sleep(200 * time.Millisecond)
		d.shows("STOPPED", "interrupted", "recall@10")
		d.keys(":").typed("q").keys("enter")
		if !d.quit {
			t.Error("once the run is over q does not quit")
		}
	})
}

func TestReplayThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, cancel := driveFeed(t, func(context.Context, func(ReplayUpdate)) (ReplayData, error) {
			return ReplayData{}, errors.New("read segment 7: \x1b[31mtruncated")
		}, 80, 24)
		defer cancel()
		d.shows("read segment 7:", "truncated")
		if strings.Contains(d.screen(), "\x1b[31mtrunc") {
			t.Error("the error has control characters")
		}
		d.keys("q")
		if !d.quit {
			t.Error("q does not quit")
		}
	})
}

// TestReplayFramesAreFew holds that a feed that never pauses costs no more than ten messages a second.
func TestReplayFramesAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &replaySession{now: time.Now, feed: func(_ context.Context, emit func(ReplayUpdate)) (ReplayData, error) {
			for i := range 20_000 {
				emit(ReplayUpdate{Load: &replay.LoadProgress{Done: i, Of: 20_000}})
				time.Sleep(100 * time.Microsecond)
			}
			return ReplayData{}, nil
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
		cfg, _ = measuring(cfg, func(ctx context.Context, emit func(ReplayUpdate)) (ReplayData, error) {
			defer func() { ended = true }()
			replaySteps(ctx, emit, 100)
			return ReplayData{Result: replayRun()}, nil
		})
		p := started(cfg, 100, 30)
		p.wait(t, "reading the layout")
		p.wait(t, "recall@10")
		for _, keys := range []string{"", "\t", "\t", "\r"} {
			p.press(keys)
			time.Sleep(time.Second)
			before := p.out.len()
			time.Sleep(time.Minute)
			if n := p.out.len() - before; n != 0 {
				t.Errorf("after %q %d bytes were written while nothing changed", keys, n)
			}
		}
		p.press("q")
		p.end(t)
		if !ended {
			t.Error("the feed has not returned")
		}
	})
}

// TestRunReplayInterrupted ends the program's context in the middle of a run: the feed ends with it.
func TestRunReplayInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		cfg, _ := measuring(testConfig(), func(ctx context.Context, emit func(ReplayUpdate)) (ReplayData, error) {
			replaySteps(ctx, emit, 100_000)
			ended = true
			return ReplayData{Result: replayRun()}, nil
		})
		p := started(cfg, 100, 30)
		p.wait(t, "true neighbours")
		p.interrupt(t)
		if !ended {
			t.Error("the feed has not returned")
		}
	})
}

func TestReplayByMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, replayOf(replayRun()), 120, 40)
		at := func(text string) (x, y int) {
			for y, line := range strings.Split(d.plain(), "\n") {
				if before, _, ok := strings.Cut(line, text); ok {
					return len([]rune(before)), y
				}
			}
			t.Fatalf("no %q on the screen:\n%s", text, d.plain())
			return 0, 0
		}
		click := func(text string) {
			x, y := at(text)
			d.send(tea.MouseClickMsg{X: x + 1, Y: y, Button: tea.MouseLeft})
		}
		click("costs")
		d.shows("[costs]")
		click("ROWS")
		d.shows("by rows")
		click("470590569932852649")
		if l := d.m.stack.top().(*replayPage).listed(d.m); l.columns(wideTable)[0].Shown(cursorRow(l)) != "470590569932852649" {
			t.Errorf("the cursor is on %q", cellsOf(l.columns(wideTable), cursorRow(l)))
		}
		d.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
		click("slowest")
		click("874")
		click("874")
		d.shows("request 874")
		click("470590569932852613")
		click("470590569932852613")
		d.shows("costs", "50 segments")
	})
}

// TestReplayHelp holds that help begins with what works here, and has nothing of clusters and profiles that are not there.
func TestReplayHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, replayOf(replayRun()), 120, 60)
		d.keys("?")
		d.shows("REPLAYS", "The next part: overview", "while a replay measures")
		d.lacks("Flame graph", "VChannels", "PROFILES")
		if lines := strings.Split(d.plain(), "\n"); strings.TrimSpace(lines[3]) != "REPLAYS" {
			t.Errorf("help begins with %q", lines[3])
		}
		d.keys("G")
		d.shows("A replay: recall, latency")
		d.keys("esc p")
		d.shows("there are no profiles here")
		d.keys("f")
		d.shows("there is no cluster here, only a replay")
		d.keys(":").typed("segments").keys("enter")
		d.shows("there is no cluster here, only a replay")
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
	columns := pointList(r, false).columns(wideTable)
	mark := slices.IndexFunc(columns, func(c column[int]) bool { return c.Title == "" })
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
