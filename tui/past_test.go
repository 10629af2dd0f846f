package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/tui/tuitest"
)

// withHistory starts a driver on a captured etcd with its history, at a moment if at is set. In the capture,
// query node 5 is killed at 08:04:10, auto-balance is switched off at 08:05:47 and node 12 joins at 08:09.
func withHistory(t *testing.T, w, h int, at string) *ui {
	t.Helper()
	cfg := testConfig()
	cfg.Checks = []*check.Check{}
	cfg.Title = "etcd_snapshot.db"
	d := driven(t, cfg, w, h)
	feed := &session.Feed{WithHistory: true, Open: func(ctx context.Context) (source.Source, error) {
		return source.Open(ctx, filepath.Join("..", "testdata", "snapshots", "cluster-2.3.5-t5", "etcd_snapshot.db.gz"),
			source.Options{})
	}}
	if at != "" {
		if err := feed.At.Set(at); err != nil {
			t.Fatal(err)
		}
	}
	d.followed(t, feed)
	return d
}

// followed passes updates of a feed to the model until there is a cluster or an error, and reads the events.
func (d *ui) followed(t *testing.T, feed *session.Feed) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	updates, done := make(chan history.Update, 16), make(chan struct{})
	go func() {
		defer close(done)
		feed.Follow(ctx, func(u history.Update) { updates <- u })
	}()
	t.Cleanup(func() { stop(); <-done })
	for u := range updates {
		d.Send(u)
		if u.Cluster != nil || u.Err != nil {
			break
		}
	}
	d.Sleep(time.Second)
}

func TestPastScreens(t *testing.T) {
	for _, size := range tuitest.Sizes[:1] {
		for _, s := range []struct{ name, at, keys, typed string }{
			{"newest", "", "", ""},
			{"nodes-stepped", "", "3 ,*3", ""},
			{"at", "08:04:10", "3", ""},
			{"prompt", "", "@", "08:0"},
		} {
			name := fmt.Sprintf("past-%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := withHistory(t, size.W, size.H, s.at)
					d.Keys(s.keys).Typed(s.typed)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

// TestSteps checks that stepping back and forth shows the state after the named event and marks its changes, in
// both directions.
func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := withHistory(t, 160, 40, "")
		d.Shows("○ snapshot", "212 events", "(press , to step back)")
		d.Keys("L")
		d.Shows("this is the newest state")
		d.Keys(".")
		d.Shows("this is the newest state")
		d.Keys("3 @").Typed("rev:1436").Keys("enter")
		d.Shows("◂ 2026-11-20 08:04:3", "before the end", "rev 1436")
		d.Lacks("querynode-12", "querynode-11")
		steps := []string{d.timeLine()}
		for range 12 {
			d.Keys(".")
			steps = append(steps, d.timeLine())
		}
		marked := d.Plain()
		for i := len(steps) - 2; i >= 0; i-- {
			d.Keys(",")
			if got := d.timeLine(); i > 0 && got != steps[i] {
				t.Errorf("back at step %d it is\n%s, was\n%s", i, got, steps[i])
			}
		}
		for range 12 {
			d.Keys(".")
		}
		if got := d.Plain(); got != marked {
			t.Errorf("the same step looks different the second time:\n%s\n%s", marked, got)
		}
		d.Keys("L")
		d.Shows("○ snapshot", "querynode-12")
	})
}

// timeLine returns the line above the footer.
func (d *ui) timeLine() string {
	lines := strings.Split(strings.TrimSuffix(d.Plain(), "\n"), "\n")
	return lines[len(lines)-2]
}

// TestStepMarksWhatTheEventChanged checks that a node that joins is marked as new at that step, also when
// stepping back from a later state.
func TestStepMarksWhatTheEventChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := withHistory(t, 160, 40, "")
		d.Keys("3")
		joined := false
		for range 40 {
			d.Keys(",")
			if strings.Contains(d.timeLine(), "querynode-12 joined") {
				joined = true
				d.Shows("+ querynode-12")
				break
			}
		}
		if !joined {
			t.Errorf("node 12 never joined:\n%s", d.Plain())
		}
		d.Keys(",")
		d.Lacks("querynode-12")
	})
}

// TestDiffOfThePast checks that the diff page compares a past moment with now, and the state after an event
// with the state before it. Both the diff and the marks of tables go forward in time.
func TestDiffOfThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := withHistory(t, 160, 40, "")
		d.Keys("3 @").Typed("08:04:10").Keys("enter")
		d.Shows("querynode-5")
		d.Lacks("+ 5 ")
		d.Keys(":").Typed("diff").Keys("enter")
		untilNow := []string{
			"08:04:09 → 08:09:38 (now) · ", "- removed  nodes            querynode-5",
			"+ added    nodes            querynode-12",
		}
		d.Shows(untilNow...)
		d.Keys("b")
		d.Shows("no state before this one to compare with")
		d.Keys(".*5 b")
		d.Shows(" → 08:09:38 (now) · ")
		d.Keys("b")
		for range 40 {
			if strings.Contains(d.timeLine(), "querynode-12 joined") {
				break
			}
			d.Keys(".")
		}
		d.Shows("+ added    nodes            querynode-12")
		d.Lacks("(now)", "removed")
		d.Keys("@").Typed("08:04:10").Keys("enter")
		d.Shows(untilNow...)
		d.Keys("L")
		d.Shows(untilNow...)

		d = withHistory(t, 160, 40, "08:04:10")
		d.Keys(":").Typed("diff").Keys("enter")
		d.Shows("08:04:09 → 08:09:35 (now) · ")
		d.Shows(untilNow[1:]...)
	})
}

// TestAtRefuses checks that an unavailable moment is reported and the displayed state stays.
func TestAtRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := withHistory(t, 160, 40, "")
		for form, want := range map[string]string{
			"yesterday": "expected one of", "07:00": "is before the oldest state available",
			"rev:9999": "there is no revision 9999", "2036-01-01": "is after its end",
		} {
			d.Keys("@").Typed(form).Keys("enter")
			d.Shows("○ snapshot", want, " @"+form) // to be corrected
			d.Keys("esc")
		}
		d.Keys("@").Typed("yesterday").Keys("enter ctrl+k").Typed("5m").Keys("enter")
		d.Shows("◂ 08:04:3")
		d.Keys("@").Typed("rev:1").Keys("enter")
		d.Shows("◂ 08:04:3", "etcd was compacted there")
		d.Keys("esc")
		d.Keys("@").Typed("now").Keys("enter")
		d.Shows("○ snapshot")
		d.Keys(":").Typed("at 08:05:00").Keys("enter")
		d.Shows("◂ 08:04:58")
		d.Keys(":").Typed("live").Keys("enter")
		d.Shows("○ snapshot")
	})
}

// TestOpenedAtAMoment checks that a UI opened at a moment shows that moment and can go to the newest state.
func TestOpenedAtAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := withHistory(t, 160, 40, "rev:1419")
		d.Keys("3")
		d.Shows("rev 1419", "querynode-5", "◂ 08:04:09")
		d.Keys("Y 1")
		if !strings.Contains(d.Clip, "get nodes") || !strings.HasSuffix(d.Clip, " --at rev:1419") {
			t.Errorf("the command is %q", d.Clip)
		}
		d.Keys("L")
		d.Shows("rev 1643", "○ snapshot")
		d.Lacks("querynode-5")
		d = withHistory(t, 160, 40, "07:00")
		d.Shows("is before the oldest state available")
	})
}

// TestWithoutPast checks that without a history the screen does not mention it, and that the keys report the
// reason.
func TestWithoutPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Lacks("earlier", "step back", "events")
		for key := range strings.FieldsSeq(", . @ L") {
			d.Keys(key)
			d.Shows("no history here")
		}
	})
}
