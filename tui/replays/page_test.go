package replays

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/whatif"
	"kitescope/tui"
	"kitescope/tui/pagetest"
	"kitescope/tui/tuitest"
)

func testData(t *testing.T, path ...string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{"..", "..", "replay"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func resultData(t *testing.T) *Data {
	t.Helper()
	r, err := replay.ReadResult(testData(t, "testdata", "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	return &Data{Result: r, Name: "after.json", Words: []string{"show", "after it.json"}}
}

func predictionData(t *testing.T) *Data {
	t.Helper()
	r, err := whatif.ReadReport(testData(t, "whatif", "testdata", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	return &Data{Report: r, Name: "whatif.json"}
}

func driveReplay(t *testing.T, d *Data, w, h int, change ...func(*tui.Config)) *ui {
	t.Helper()
	cfg := pagetest.Config()
	cfg.Title, cfg.Command = "docs", "kitescope"
	for _, f := range change {
		f(&cfg)
	}
	return driven(t, resultConfig(cfg, d), w, h)
}

// TestReplayScreens checks that the page shows the report of the command, with colour, without colour, and in
// ASCII.
func TestReplayScreens(t *testing.T) {
	for _, x := range []struct {
		name    string
		data    func(*testing.T) *Data
		w, h    int
		noColor bool
	}{
		{"replay-result", resultData, 120, 60, false},
		{"replay-prediction", predictionData, 120, 60, false},
		{"replay-ascii", resultData, 80, 24, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driveReplay(t, x.data(t), x.w, x.h, func(c *tui.Config) {
					c.NoColor, c.ASCII = x.noColor, x.noColor
				})
				d.Fits()
				if screen := d.Screen(); x.noColor && strings.Contains(screen, ";38;") {
					t.Errorf("a colour in spite of NO_COLOR: %q", screen)
				}
				tuitest.Golden(t, x.name, d.Plain())
			})
		})
	}
}

// TestReplayIsHarmless checks the page at any size, with files that no run writes.
func TestReplayIsHarmless(t *testing.T) {
	const hostile = "=cmd|' /C calc'!A0\x1b[31m\u202e"
	odd := resultData(t)
	odd.Result.Setup.Collection, odd.Result.Stopped, odd.Name = hostile, hostile, hostile
	odd.Result.Points = append(odd.Result.Points, load.Point{}, load.Point{
		Plan: load.Plan{Rate: 1e300}, QPS: 1e308, Recall: 2,
	})
	broken := predictionData(t)
	broken.Report.Base.Outcome, broken.Report.Others[0].Change.Name = nil, hostile
	for i, data := range []*Data{odd, broken, {Result: &replay.Result{}}, {Report: &whatif.Report{}}} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driveReplay(t, data, tui.MinWidth, tui.MinHeight)
				for _, size := range [][2]int{{60, 15}, {93, 27}, {233, 50}} {
					d.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					d.Fits()
					d.Keys("end home y")
					if all := d.Screen() + d.Clip; strings.Contains(all, "\x1b[31m=") ||
						strings.ContainsAny(all, "\a\r\u202e") {
						t.Errorf("control characters: %q", all)
					}
				}
			})
		})
	}
}

func TestReplaySave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, resultData(t), 120, 40)
		for i := range 5 {
			d.Keys(fmt.Sprintf("s %d enter", i+1))
		}
		var names []string
		for name, text := range d.Saved {
			names = append(names, strings.SplitN(name, "-2026", 2)[0]+filepath.Ext(name))
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
		want := "kitescope-replay-points.csv kitescope-replay-segments.csv kitescope-replay.html " +
			"kitescope-replay.json kitescope-replay.md"
		if got := strings.Join(names, " "); got != want {
			t.Errorf("saved %q, want %q", got, want)
		}
		d.Keys("Y 1")
		if want := "kitescope replay show 'after it.json'"; d.Clip != want {
			t.Errorf("copied %q, want %q", d.Clip, want)
		}
	})
}

// TestReplayWithinACluster checks that the palette opens the page next to the pages of the cluster.
func TestReplayWithinACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := pagetest.Config()
		cfg.Pages = Pages(resultData(t))
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys(":").Typed("replay").Keys("enter")
		d.Shows("recall@")
		cfg.Pages = Pages(nil)
		d = driven(t, cfg, 100, 30)
		d.Keys(":").Typed("replay").Keys("enter")
		d.Shows("no replay here")
	})
}

func TestReplayOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, nil, 80, 24)
		d.Shows("nothing to show")
		d.Keys("s")
		d.Shows("no result yet")
		d.Keys("q")
		if !d.Quit {
			t.Error("q does not quit")
		}
	})
}

// steps reports progress as a sweep does.
func steps(ctx context.Context, step func(stage, text string), points int) {
	step("read the layout", "")
	time.Sleep(407 * time.Millisecond)
	for i := range 50 {
		step("read segments", fmt.Sprintf("%d of 50", i+1))
		time.Sleep(20 * time.Millisecond)
	}
	for i := range points {
		if ctx.Err() != nil {
			return
		}
		step(fmt.Sprintf("point %d of 28", i+1), "4500 QPS")
		time.Sleep(1100 * time.Millisecond)
	}
}

// driveFeed runs a feed as Measure does.
func driveFeed(t *testing.T, feed Feed, w, h int) (*ui, context.CancelFunc) {
	t.Helper()
	cfg := pagetest.Config()
	cfg.Title = "docs"
	cfg.Now = time.Now
	cfg, session := measureConfig(cfg, feed)
	d := driven(t, cfg, w, h)
	ctx, cancel := context.WithCancel(t.Context())
	go session.run(ctx, func(m tea.Msg) { d.Messages <- m })
	d.Settle()
	return d, cancel
}

// TestReplayStops checks that q during a run stops it and shows the results so far, and that :q quits after the
// run.
func TestReplayStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result := resultData(t).Result
		result.Stopped = "interrupted"
		d, cancel := driveFeed(t, func(ctx context.Context, step func(stage, text string)) (Data, error) {
			steps(ctx, step, 100_000)
			return Data{Result: result}, nil
		}, 80, 24)
		defer cancel()
		d.Sleep(6 * time.Second)
		d.Shows("measuring", "read segments: 50 of 50", "point 4 of 28: 4500 QPS")
		d.Fits()
		d.Keys("s")
		d.Shows("no result yet")
		d.Keys("? q")
		if d.Quit {
			t.Fatal("q quits although a run is under way")
		}
		d.Sleep(2 * time.Second)
		d.Shows("STOPPED", "interrupted")
		d.Keys(":").Typed("q").Keys("enter")
		if !d.Quit {
			t.Error("once the run is over q does not quit")
		}
	})
}

func TestReplayThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, cancel := driveFeed(t, func(context.Context, func(string, string)) (Data, error) {
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

// TestRunReplay checks that the whole program writes nothing while nothing changes, and returns after the feed has
// returned.
func TestRunReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		data := *resultData(t)
		cfg := pagetest.Config()
		cfg.Now = time.Now
		cfg, _ = measureConfig(cfg, func(ctx context.Context, step func(stage, text string)) (Data, error) {
			defer func() { ended = true }()
			steps(ctx, step, 3)
			return data, nil
		})
		p := pagetest.Start(cfg, 100, 30)
		p.Wait(t, "read the layout")
		p.Wait(t, "recall@")
		time.Sleep(time.Second)
		before := p.Out.Len()
		time.Sleep(time.Minute)
		if n := p.Out.Len() - before; n != 0 {
			t.Errorf("%d bytes were written while nothing changed", n)
		}
		p.Press("q")
		p.End(t)
		if !ended {
			t.Error("the feed has not returned")
		}
	})
}

// TestRunReplayInterrupted checks that the feed ends when the program's context ends during a run.
func TestRunReplayInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		cfg, _ := measureConfig(pagetest.Config(),
			func(ctx context.Context, step func(stage, text string)) (Data, error) {
				steps(ctx, step, 100_000)
				ended = true
				return Data{}, ctx.Err()
			})
		p := pagetest.Start(cfg, 100, 30)
		p.Wait(t, "read segments")
		p.Interrupt(t)
		if !ended {
			t.Error("the feed has not returned")
		}
	})
}

// TestReplayHelp checks that the help omits keys for clusters and profiles that do not exist.
func TestReplayHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driveReplay(t, resultData(t), 120, 60)
		d.Keys("?")
		d.Shows("REPLAYS", "Copy the report")
		d.Lacks("Flame graph", "To the vchannels", "PROFILES")
		d.Keys("esc f")
		d.Shows("findings need a cluster; this session has only a replay")
		d.Keys(":").Typed("segments").Keys("enter")
		d.Shows("no cluster here, only a replay")
	})
}
