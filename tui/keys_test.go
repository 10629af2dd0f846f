package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
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

func TestKeysThatDoNothingSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct{ keys, want string }{
			{"C", "C is not available here: it chooses columns on tables"},
			{"c", "c on the overview: collections is 4 or g c now"},
			{"r", "r on the overview: raw keys is g k now"},
			{"5 x", "x on tables: the tree is t now"},
			{"5 v", "v on tables: marking is space now"},
			{"space", "space: pausing is p now"},
			{"T", "T: the timeline is 0 or g h now"},
			{"4 t e", "e on trees: expanding all is E now"},
			{"5 Y q", "q on menus: closing is esc now"},
			{"5 Y x", "x chooses nothing here: enter or a number does"},
			{"5 / ctrl+u", "deleting the line is ctrl+k now"},
			{"5 5", "this is the segments page"},
			{"g x", "g x goes nowhere: g lists where to"},
			{"9", "there is no profiles page here"},
			{"esc", "first page"},
			{"5 =", "mark two rows with space first"},
			{"4 o*2", "belongs to nothing else"},
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

// TestTwoKeysAskWhetherTheyCan: what a person put behind g is possible or not as behind one key.
func TestTwoKeysAskWhetherTheyCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Keys = map[string][]string{"describe": {"g D"}, "save": {"g S"}, "owner": {"g O"}}
		d := driven(t, cfg, 100, 24)
		d.Keys("5 g O")
		d.Shows("g O: no data yet")
		d.Cluster(tuitest.Fixture())
		d.Keys("5 / n o s u c h enter g D")
		d.Shows("g D: there is no row")
		d.m.Config.SaveFile = nil
		d.Keys("esc g S")
		d.Shows("g S: saving is switched off")
	})
}

// TestClickEndsTwoKeys: the key that another one belongs behind is forgotten with a click.
func TestClickEndsTwoKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 24)
		d.Cluster(tuitest.Fixture())
		d.Keys("5 g")
		d.Shows("go to: g and a key")
		d.Send(tea.MouseClickMsg{X: 10, Y: 10, Button: tea.MouseLeft})
		d.Lacks("go to: g and a key")
		d.Keys("down")
		d.Lacks("goes nowhere")
	})
}
