package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/check"
)

func TestChecksPage(t *testing.T) {
	for _, size := range sizes {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, testConfig(), size.w, size.h)
			d.cluster(fixture())
			d.keys(":").typed("checks").keys("enter")
			d.fits()
			golden(t, fmt.Sprintf("checks-%dx%d", size.w, size.h), d.plain())
		})
	}
}

func TestChecksAreFilteredSortedAndTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.keys(":").typed("checks").keys("enter")
		d.shows("checks", "…")
		d.cluster(fixture())
		first := func() string {
			r, _ := d.m.stack.top().(*tablePage[*check.Result]).current()
			return r.Check.ID
		}
		d.keys("> > >") // findings
		most := first()
		d.keys("S")
		if first() != most {
			t.Errorf("reversed the cursor is on %s, was on %s", first(), most)
		}
		d.keys("/").typed("growing").keys("enter")
		d.shows("/growing", "of")
		d.keys("Y t")
		if lines := strings.Split(d.clip, "\n"); !strings.HasPrefix(lines[0], "CHECK\tSTATUS\t") || !strings.Contains(lines[1], "growing") {
			t.Errorf("copied %q", d.clip)
		}
		d.keys("s")
		for name, text := range d.saved {
			if !strings.HasPrefix(name, "kitescope-checks-") || !strings.HasPrefix(text, "CHECK,STATUS,") {
				t.Errorf("saved %s: %q", name, text)
			}
		}
		d.keys("enter")
		d.shows("growing")
		d.keys("esc*2")
		d.lacks("/growing")
	})
}
