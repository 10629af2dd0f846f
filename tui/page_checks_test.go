package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/check"
	"kitescope/tui/tuitest"
)

func TestChecksPage(t *testing.T) {
	for _, size := range tuitest.Sizes {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, testConfig(), size.W, size.H)
			d.Cluster(tuitest.Fixture())
			d.Keys(":").Typed("checks").Keys("enter")
			d.Fits()
			tuitest.Golden(t, fmt.Sprintf("checks-%dx%d", size.W, size.H), d.Plain())
		})
	}
}

func TestChecksFilterSortCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Keys(":").Typed("checks").Keys("enter")
		d.Shows("checks", "…")
		d.Cluster(tuitest.Fixture())
		first := func() string {
			r, _ := d.m.Top().(*TablePage[*check.Result]).Current()
			return r.Check.ID
		}
		d.Keys("> > >") // findings
		most := first()
		d.Keys("S enter")
		if first() != most {
			t.Errorf("reversed the cursor is on %s, was on %s", first(), most)
		}
		d.Keys("/").Typed("growing").Keys("enter")
		d.Shows("/growing", "of")
		d.Keys("Y 2")
		if lines := strings.Split(d.Clip, "\n"); !strings.HasPrefix(lines[0], "CHECK\tSTATUS\t") ||
			!strings.Contains(lines[1], "growing") {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("s enter")
		for name, text := range d.Saved {
			if !strings.HasPrefix(name, "kitescope-checks-") || !strings.HasPrefix(text, "CHECK,STATUS,") {
				t.Errorf("saved %s: %q", name, text)
			}
		}
		d.Keys("enter")
		d.Shows("growing")
		d.Keys("esc*2")
		d.Lacks("/growing")
	})
}
