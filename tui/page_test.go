package tui

import (
	"image/color"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"kitescope/tui/tuitest"
)

func TestThemeFollowsTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Theme = ""
		d := driven(t, cfg, 80, 24)
		d.Cluster(tuitest.Fixture())
		frames := map[string]bool{d.Screen(): true}
		d.Send(tea.BackgroundColorMsg{Color: color.Black})
		frames[d.Screen()] = true
		d.Send(tea.BackgroundColorMsg{Color: color.White})
		frames[d.Screen()] = true
		if len(frames) != 3 {
			t.Errorf("%d different looks for an unknown, a dark and a light background", len(frames))
		}
	})
}

func TestIdenticalFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, keys := range []string{"", "5", "4 t", "f"} {
			d := at(t, keys)
			before := d.Screen()
			d.m.Update(struct{}{})
			d.Sleep(10 * time.Second)
			if d.Screen() != before {
				t.Errorf("%q: the frame changed by itself", keys)
			}
		}
	})
}

func TestDiffBaselines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, ": d i f f enter")
		d.Shows("no changes since you opened it")
		d.Cluster(tuitest.FixtureLater())
		d.Shows("09:30:00 → 09:30:30 (now) · 2 changes", "470590760626295003", "470590760626295014")
		d.Keys("b")
		d.Shows("since the start: 09:30:00 → 09:30:30 (now)", "470590760626295003")
		d.Keys("b / ").Typed("2174").Keys("enter")
		d.Shows("470590760626295014", "2174", "1674")
		d.Lacks("470590760626295003")
	})
}

func TestTreeFolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "4 t")
		n := len(d.m.Top().(*treePage).lines)
		d.Keys("left")
		d.Shows("line 1 / 1")
		d.Keys("right")
		if got := len(d.m.Top().(*treePage).lines); got != n {
			t.Errorf("expanded again it has %d lines, had %d", got, n)
		}
		d.Keys("down*3")
		id := d.cursorID()
		d.Cluster(tuitest.FixtureLater())
		if got := d.cursorID(); got != id {
			t.Errorf("after a refresh the cursor is on %s, was on %s", got, id)
		}
		d.Keys("/").Typed("growing").Keys("enter")
		d.Shows("Growing")
		d.Lacks("Importing")
		d.Keys("esc enter d")
		d.Shows("vchannel")
	})
}
