package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestOrphanNames(t *testing.T) {
	rulestest.Hold(t, rulestest.Named("orphan-load"), []rulestest.Verdict{
		{Name: "load state", Change: func(w *rulestest.World) { w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: 900}) }, Want: []string{"warning load-states/900 collection 900 is gone but still has a load state"}},
		{Name: "replica", Change: func(w *rulestest.World) { w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: 900}) }, Want: []string{"warning load-states/900 replica"}},
		{Name: "both are one finding", Change: func(w *rulestest.World) {
			w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: 900})
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: 900})
		}, Want: []string{"warning load-states/900 load state"}},
		{Name: "being dropped", Change: func(w *rulestest.World) { w.Collections[0].State = "Dropping" }},
	})
	alias := func(collection model.CollectionID, state model.ObjectState) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Aliases = []*model.Alias{{Name: "prod", Database: 1, Collection: collection, State: state}}
		}
	}
	rulestest.Hold(t, rulestest.Named("orphan-alias"), []rulestest.Verdict{
		{Name: "of a collection", Change: alias(rulestest.WellColl, "Created")},
		{Name: "of nothing", Change: alias(900, "Created"), Want: []string{"warning aliases/default/prod alias prod points to collection 900 (gone)"}},
		{Name: "of a dropped collection", Change: func(w *rulestest.World) { alias(rulestest.WellColl, "")(w); w.Collections[0].State = "Dropping" }, Want: []string{"warning aliases/default/prod Dropping"}},
		{Name: "dropped itself", Change: alias(900, "Dropped")},
	})
	task := func(collection model.CollectionID, age time.Duration) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Tasks = []*model.Task{{ID: 7, Type: "compaction", State: "executing", Collection: collection, StartedAt: rulestest.BackT(age)}}
		}
	}
	rulestest.Hold(t, rulestest.Named("orphan-task"), []rulestest.Verdict{
		{Name: "of a collection", Change: task(rulestest.WellColl, 2*time.Hour)},
		{Name: "of nothing", Change: task(900, 2*time.Hour), Want: []string{"info / 1 task of collections that are gone, 1 of them unfinished"}},
		{Name: "of nothing, young", Change: task(900, 30*time.Minute)},
		{Name: "of everything", Change: task(0, 2*time.Hour)},
	})
}
