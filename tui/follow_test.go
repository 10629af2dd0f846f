package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/model"
)

// News of etcd's health are no refresh: the highlights, the age and what a diff starts
// from stay as they are.
func TestHealthIsNoRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 40)
		d.cluster(fixture())
		later := fixtureLater()
		d.cluster(later)
		d.keys("s")
		d.shows("+ 470590760626295003")
		d.cluster(later.WithEtcd(&model.Etcd{Problem: "no leader"}))
		d.shows("+ 470590760626295003")
		d.keys("H")
		d.shows("no leader")
		d.keys(": d i f f enter")
		d.lacks("nothing changed")
		d.keys("space")
		d.cluster(later)
		d.lacks("newer")
	})
}

// What is described stays on the screen when it is dropped.
func TestDetailOfSomethingDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 24)
		c := fixture()
		d.cluster(c)
		d.keys("c d")
		d.shows("docs_hnsw_cos", "consistency level")
		parts := c.Parts
		parts.Origin.Revision++
		parts.Collections = parts.Collections[1:]
		d.cluster(model.Build(parts))
		d.shows("is gone from the metadata", "consistency level")
		d.keys("o")
		d.shows("the object is gone")
	})
}

// The column that explains the order is not the one that gives way.
func TestSortedColumnStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 60, 15)
		d.cluster(fixture())
		d.keys("s")
		for range 12 {
			d.keys(">")
			if head := strings.Split(d.plain(), "\n")[2]; !strings.ContainsAny(head, "↑↓") {
				t.Errorf("the sorted column has no room:\n%s", d.plain())
			}
		}
	})
}
