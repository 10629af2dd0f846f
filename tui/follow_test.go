package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/model"
	"kitescope/tui/tuitest"
)

// TestHealthWithoutRefresh checks that a new status of etcd is not a refresh: the highlights, the age and the base of
// a diff stay.
func TestHealthWithoutRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 40)
		d.Cluster(tuitest.Fixture())
		later := tuitest.FixtureLater()
		d.Cluster(later)
		d.Keys("5")
		d.Shows("+ 470590760626295003")
		d.Cluster(later.WithEtcd(&model.Etcd{Problem: "no leader"}))
		d.Shows("+ 470590760626295003")
		d.Keys("H")
		d.Shows("no leader")
		d.Keys(": d i f f enter")
		d.Lacks("nothing changed")
		d.Keys("p")
		d.Cluster(later)
		d.Lacks("newer")
	})
}

// TestDetailDropped checks that a described object stays on the screen after it was dropped.
func TestDetailDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		c := tuitest.Fixture()
		d.Cluster(c)
		d.Keys("4 d")
		d.Shows("docs_hnsw_cos", "consistency")
		parts := c.Parts
		parts.Origin.Revision++
		parts.Collections = parts.Collections[1:]
		d.Cluster(model.Build(parts))
		d.Shows("is gone from the metadata", "consistency")
		d.Keys("o")
		d.Shows("the object is gone")
	})
}

// TestSortedColumnStays checks that the sort column is not dropped for lack of room.
func TestSortedColumnStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 60, 15)
		d.Cluster(tuitest.Fixture())
		d.Keys("5")
		for range 12 {
			d.Keys(">")
			if head := strings.Split(d.Plain(), "\n")[2]; !strings.ContainsAny(head, "↑↓") {
				t.Errorf("the sorted column has no room:\n%s", d.Plain())
			}
		}
	})
}
