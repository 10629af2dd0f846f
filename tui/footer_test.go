package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/tui/draw"
)

// TestOverviewFooterHasAllPlaces: with profiles the footer of 80 columns leads to all pages that it leads to without, and to theirs.
func TestOverviewFooterHasAllPlaces(t *testing.T) {
	for _, x := range []struct {
		width    int
		profiles bool
		want     string
	}{
		{80, false, "c collections  s segments  n nodes  b balance  f findings  : jump  ? help"},
		{80, true, "c coll  s segments  n nodes  b balance  f findings  p profiles  : jump  ? help"},
		{100, true, "c collections  s segments  n nodes  b balance  f findings  p profiles  : jump  ? help"},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := testConfig()
			if x.profiles {
				cfg.Pages = ProfilePages(ProfileFiles(ProfileSet{}))
			}
			d := driven(t, cfg, x.width, 24)
			d.cluster(fixture())
			lines := strings.Split(strings.TrimRight(d.plain(), "\n"), "\n")
			if got := strings.TrimSpace(lines[len(lines)-1]); got != x.want {
				t.Errorf("%d columns, profiles %v: %q, want %q", x.width, x.profiles, got, x.want)
			}
		})
	}
}

// TestBarTitle: what the bars of query nodes mean stands above them whole, in whatever room they have.
func TestBarTitle(t *testing.T) {
	for room := 6; room <= 40; room++ {
		if got := barTitle(room); strings.Contains(got, "…") || !strings.Contains(got, "█") || !strings.Contains(got, "░") || draw.Width(got) != room {
			t.Errorf("%d cells: %q", room, got)
		}
	}
}
