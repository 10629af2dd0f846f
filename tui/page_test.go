package tui

import (
	"image/color"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestThemeFollowsTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Theme = ""
		d := driven(t, cfg, 80, 24)
		d.cluster(fixture())
		frames := map[string]bool{d.screen(): true}
		d.send(tea.BackgroundColorMsg{Color: color.Black})
		frames[d.screen()] = true
		d.send(tea.BackgroundColorMsg{Color: color.White})
		frames[d.screen()] = true
		if len(frames) != 3 {
			t.Errorf("%d different looks for an unknown, a dark and a light background", len(frames))
		}
	})
}

func TestIdenticalFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, s := range screens {
			d := at(t, s.keys)
			d.typed(s.typed)
			before := d.screen()
			d.m.Update(struct{}{})
			d.sleep(10 * time.Second)
			if d.screen() != before {
				t.Errorf("%s: the frame changed by itself", s.name)
			}
		}
	})
}

func TestDiffBaselines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "d")
		d.shows("no refresh yet")
		d.cluster(fixtureLater())
		d.shows("since the last refresh", "470590760626295003", "470590760626295014")
		d.keys("B")
		d.shows("nothing changed since the mark")
		d.cluster(fixture())
		d.shows("since the mark of 09:30:00", "removed")
		d.keys("b*2")
		d.shows("nothing changed since the start")
		d.keys("b b / ").typed("2174").keys("enter")
		d.shows("470590760626295014", "2174", "1674")
		d.lacks("470590760626295003")
	})
}

func TestTreeFolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "c x")
		n := len(d.m.stack.top().(*treePage).lines)
		d.keys("left")
		d.shows("line 1 / 1")
		d.keys("e")
		if got := len(d.m.stack.top().(*treePage).lines); got != n {
			t.Errorf("expanded again it has %d lines, had %d", got, n)
		}
		d.keys("down*3")
		id := d.under()
		d.cluster(fixtureLater())
		if got := d.under(); got != id {
			t.Errorf("after a refresh the cursor is on %s, was on %s", got, id)
		}
		d.keys("/").typed("growing").keys("enter")
		d.shows("Growing")
		d.lacks("Importing")
		d.keys("esc enter d")
		d.shows("vchannel")
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Now = time.Now
		d := driven(t, cfg, 120, 30)
		d.cluster(fixture())
		d.keys("s space")
		d.shows("‖ paused", "0s old")
		d.cluster(fixtureLater())
		d.shows("rev 1643", "1 newer")
		d.sleep(25 * time.Second)
		d.shows("20s old")
		d.keys("space")
		d.shows("rev 1650", "● live", "+ 470590760626295003", "~ 470590760626295014")
	})
}

func TestHighlightsFade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Now = time.Now
		d := driven(t, cfg, 120, 30)
		d.cluster(fixture())
		d.keys("s down*5")
		d.cluster(fixtureLater())
		bright := d.screen()
		d.shows("+ 470590760626295003", "~ 470590760626295014")
		if !strings.Contains(bright, d.m.st.Added.Open+" + 470590760626295003") {
			t.Error("a new row has no colour")
		}
		d.sleep(brightFor + time.Second)
		d.shows("+ 470590760626295003")
		if d.screen() == bright {
			t.Error("highlights keep their colour")
		}
		d.sleep(fadesFor)
		d.lacks("+ 470590760626295003", "~ 470590760626295014")
	})
}
