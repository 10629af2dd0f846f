package tui_test

import (
	"testing"
	"testing/synctest"

	"kitescope/inspect/model"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// keysOn returns the keys that are bound on the page that way leads to. Keys for places are included only on the
// first page, because they do the same everywhere.
func keysOn(d *tuitest.Driver, m *tui.Model, way string) (keys []string) {
	d.Keys(way)
	for _, b := range tui.KeyMap(everyPage()) {
		if b.In&m.Top().Scope() != 0 && (way == "" || b.Group != tui.GroupGo) {
			keys = append(keys, b.Keys...)
		}
	}
	return keys
}

// TestPressEveryKey presses all keys on all pages, before there is a cluster and with one after another.
func TestPressEveryKey(t *testing.T) {
	for _, x := range []struct {
		name     string
		clusters []*model.Cluster
	}{
		{"none", nil},
		{"full", []*model.Cluster{tuitest.Fixture(), tuitest.FixtureLater()}},
	} {
		for _, way := range []string{
			"", "2", "2 enter", "4 d", "4 t", "5", "7", "8", ": d i f f enter", ": c h e c k s enter", "?",
		} {
			t.Run(x.name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d, m := drive(t, 100, 30, everyPage())
					for _, c := range x.clusters {
						d.Cluster(c)
					}
					d.PressEach(way, keysOn(d, m, way))
				})
			})
		}
	}
}
