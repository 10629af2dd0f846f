package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

func TestFooterHasAtMostEightKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 200, 50)
		d.Cluster(tuitest.Fixture())
		for _, page := range []string{"", "s", "esc c x", "esc*2 c d", "? "} {
			d.Keys(page)
			in := d.m.Top().Scope()
			foot := strings.Fields(frame{d.m}.hints(in))
			if n := strings.Count(frame{d.m}.hints(in), d.m.Styles.Key.Open); n > maxHints {
				t.Errorf("page %q has %d hints: %q", page, n, foot)
			}
			if !slices.Contains(foot, "jump") {
				t.Errorf("page %q does not say how to jump: %q", page, foot)
			}
		}
	})
}

func TestKeysThatDoNothingSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct{ keys, want string }{
			{"x", "x works in tables"},
			{"esc", "first page"},
			{"s =", "mark two rows with v first"},
			{"c o*2", "belongs to nothing else"},
			{"n x", "belongs to no collection"},
			{"c d n", "search with / first"},
			{"]", "newest page"},
		} {
			d := driven(t, testConfig(), 100, 24)
			d.Cluster(tuitest.Fixture())
			d.Keys(x.keys)
			d.Shows(x.want)
			d.Keys("down")
			d.Lacks(x.want)
		}
	})
}
