package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/view"
	"kitescope/tui"
	"kitescope/tui/cluster"
	"kitescope/tui/profiles"
	"kitescope/tui/replays"
	"kitescope/tui/timeline"
	"kitescope/tui/tuitest"
)

// everyPage returns all page kinds of the UI: profiles are possible, a replay is not open.
func everyPage() []tui.PageKind {
	return slices.Concat(profiles.Pages(profiles.Files(profiles.Set{})), replays.Pages(nil), cluster.Pages(),
		timeline.Pages())
}

// drive starts a driver on the UI with the given pages.
func drive(t *testing.T, w, h int, pages []tui.PageKind) (*tuitest.Driver, *tui.Model) {
	t.Helper()
	m := tui.New(tui.Config{
		Resources: view.Resources, Title: "127.0.0.1:2379", Theme: "dark", Now: tuitest.Epoch,
		Checks: tuitest.FixtureChecks(), Pages: pages,
	})
	return tuitest.Drive(t, w, h, func(tuitest.SaveFunc) tea.Model { return m }), m
}

// TestHelpScreens checks the help screens of the UI with all its pages.
func TestHelpScreens(t *testing.T) {
	for _, size := range tuitest.Sizes {
		name := fmt.Sprintf("help-%dx%d", size.W, size.H)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, _ := drive(t, size.W, size.H, everyPage())
				d.Keys("?")
				d.Fits()
				d.Keys("esc")
				d.Cluster(tuitest.Fixture())
				d.Cluster(tuitest.FixtureLater())
				d.Keys("?")
				d.Fits()
				tuitest.Golden(t, name, d.Plain())
			})
		})
	}
}

// TestOverviewFooterHasAllPlaces checks that the footer of the overview lists the actions for the selected
// item, followed by the most important pages, with and without profiles.
func TestOverviewFooterHasAllPlaces(t *testing.T) {
	for _, x := range []struct {
		width int
		pages []tui.PageKind
		want  string
	}{
		{80, nil, "enter open  2 findings  3 nodes  4 coll  o object  y copy fix  : jump  ? help"},
		{100, everyPage(), "enter open  2 findings  3 nodes  4 collections  5 segments  y copy fix  : jump  ? help"},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, _ := drive(t, x.width, 24, x.pages)
			d.Cluster(tuitest.Fixture())
			lines := strings.Split(strings.TrimRight(d.Plain(), "\n"), "\n")
			if got := strings.TrimSpace(lines[len(lines)-1]); got != x.want {
				t.Errorf("%d columns, %d pages: %q, want %q", x.width, len(x.pages), got, x.want)
			}
		})
	}
}

func TestEveryBindingIsDocumented(t *testing.T) {
	for _, b := range tui.KeyMap(everyPage()) {
		if len(b.Keys) == 0 || b.In == 0 || b.Group == "" || !strings.HasSuffix(b.Doc, ".") {
			t.Errorf("binding %+v lacks keys, scope, group or a sentence", b)
		}
		if (b.Hint == "") != (b.Weight == 0) {
			t.Errorf("binding %q: a hint needs a weight, and the reverse", b.Doc)
		}
	}
}

func TestHelpHasEveryKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m := drive(t, 200, 50, everyPage())
		d.Keys("?")
		d.Screen() // lays it out
		help := tui.HelpText(m)
		for _, b := range tui.KeyMap(everyPage()) {
			if b.In&tui.InOverview != 0 && !strings.Contains(help, b.Doc) {
				t.Errorf("help lacks %q", b.Doc)
			}
		}
		for _, r := range view.Resources {
			if !strings.Contains(help, r.Name) {
				t.Errorf("help lacks the page %q", r.Name)
			}
		}
		d.Keys("/").Typed("newest").Keys("enter")
		d.Shows("/newest 1 of")
	})
}
