package tui

import (
	"image/color"
	"strings"
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
		for _, s := range screens {
			d := at(t, s.keys)
			d.Typed(s.typed)
			before := d.Screen()
			d.m.Update(struct{}{})
			d.Sleep(10 * time.Second)
			if d.Screen() != before {
				t.Errorf("%s: the frame changed by itself", s.name)
			}
		}
	})
}

func TestDiffBaselines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "g d")
		d.Shows("no refresh yet")
		d.Cluster(tuitest.FixtureLater())
		d.Shows("since the last refresh", "470590760626295003", "470590760626295014")
		d.Keys("B")
		d.Shows("nothing changed since the mark")
		d.Cluster(tuitest.Fixture())
		d.Shows("since the mark of 09:30:00", "removed")
		d.Keys("b*2")
		d.Shows("nothing changed since the start")
		d.Keys("b b / ").Typed("2174").Keys("enter")
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
		d.Keys("E")
		if got := len(d.m.Top().(*treePage).lines); got != n {
			t.Errorf("expanded again it has %d lines, had %d", got, n)
		}
		d.Keys("down*3")
		id := d.under()
		d.Cluster(tuitest.FixtureLater())
		if got := d.under(); got != id {
			t.Errorf("after a refresh the cursor is on %s, was on %s", got, id)
		}
		d.Keys("/").Typed("growing").Keys("enter")
		d.Shows("Growing")
		d.Lacks("Importing")
		d.Keys("esc enter d")
		d.Shows("vchannel")
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Now = time.Now
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("5 p")
		d.Shows("‖ paused", "0s old")
		d.Cluster(tuitest.FixtureLater())
		d.Shows("rev 1643", "1 newer")
		d.Sleep(25 * time.Second)
		d.Shows("20s old")
		d.Keys("p")
		d.Shows("rev 1650", "● live", "+ 470590760626295003", "~ 470590760626295014")
	})
}

func TestHighlightsFade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Now = time.Now
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("5 down*5")
		d.Cluster(tuitest.FixtureLater())
		bright := d.Screen()
		d.Shows("+ 470590760626295003", "~ 470590760626295014")
		if !strings.Contains(bright, d.m.Styles.Added.Open+" + 470590760626295003") {
			t.Error("a new row has no colour")
		}
		d.Sleep(brightFor + time.Second)
		d.Shows("+ 470590760626295003")
		if d.Screen() == bright {
			t.Error("highlights keep their colour")
		}
		d.Sleep(fadesFor)
		d.Lacks("+ 470590760626295003", "~ 470590760626295014")
	})
}
