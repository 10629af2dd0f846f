package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/x/ansi"

	"kitescope/tui/tuitest"
)

func TestFooterHasAtMostEightKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 200, 50)
		d.Cluster(tuitest.Fixture())
		for _, page := range []string{"", "5", "4 t", "4 d", "? "} {
			d.Keys(page)
			in := d.m.Top().Scope()
			foot := strings.Fields(ansi.Strip(frame{d.m}.hints(in)))
			if n := strings.Count(frame{d.m}.hints(in), d.m.Styles.Key.Open); n > maxHints {
				t.Errorf("page %q has %d hints: %q", page, n, foot)
			}
			if !slices.Contains(foot, "?") || page != "" && page != "? " && !slices.Contains(foot, "y") {
				t.Errorf("page %q does not say how to copy and where help is: %q", page, foot)
			}
		}
	})
}

func TestUnboundKeyMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct{ keys, want string }{
			{"5 b", "b is not available here: ? lists the keys of this page"},
			{"5 Y x", "x does nothing here: press enter or a number"},
			{"5 5", "this is the segments page"},
			{"9", "no profiles page here"},
			{"esc", "first page"},
			{"4 o*2", "has no owner"},
			{"3 t", "belongs to no collection"},
			{"4 d n", "search with / first"},
			{"]", "newest page"},
		} {
			d := driven(t, testConfig(), 100, 24)
			d.Cluster(tuitest.Fixture())
			d.Keys(x.keys)
			d.Shows(x.want)
			d.Keys("esc*3 down")
			d.Lacks(x.want)
		}
	})
}
