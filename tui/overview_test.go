package tui

import (
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"kitescope/tui/tuitest"
)

// TestOverviewWheel scrolls without what is selected, and a key brings that back.
func TestOverviewWheel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 24)
		d.Cluster(tuitest.Fixture())
		d.Shows("FINDINGS")
		p := d.m.Top().(*overviewPage)
		at := p.selected().Key
		for range 3 {
			d.Send(tea.MouseWheelMsg{X: 10, Y: 5, Button: tea.MouseWheelDown})
			d.Fits()
		}
		d.Lacks("FINDINGS")
		if p.Top != 9 || p.selected().Key != at {
			t.Errorf("three notches lead to line %d and %q, want 9 and %q", p.Top, p.selected().Key, at)
		}
		d.Send(tea.MouseWheelMsg{X: 10, Y: 5, Button: tea.MouseWheelUp})
		d.Plain()
		if p.Top != 6 {
			t.Errorf("one back leads to line %d, want 6", p.Top)
		}
		d.Keys("up")
		d.Shows("FINDINGS")
	})
}

// TestOverviewItemsWithoutAPage: enter on what opens nothing says so.
func TestOverviewItemsWithoutAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Cluster(tuitest.Fixture())
		p := d.m.Top().(*overviewPage)
		d.Plain()
		told := 0
		for range p.items {
			if x := p.selected(); x.Finding == nil && x.Page == "" && x.Object.Resource == "" {
				told++
				d.Keys("enter")
				d.Shows("enter: there is nothing to open")
			}
			d.Keys("down")
			d.Plain()
		}
		if told == 0 {
			t.Error("every item opens something")
		}
	})
}
