package tui

import (
	"testing"
	"testing/synctest"

	"kitescope/tui/tuitest"
)

// TestOverviewItemsWithoutAPage checks that enter shows a message on items that open nothing.
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
				d.Shows("enter: nothing to open")
			}
			d.Keys("down")
			d.Plain()
		}
		if told == 0 {
			t.Error("every item opens something")
		}
	})
}
