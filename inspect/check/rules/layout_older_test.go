package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestLayoutOlder(t *testing.T) {
	upgraded := func(w *rulestest.World) {
		w.KeysByKind = map[string]int64{
			"index-2.1": 4, "segment-index-2.1": 9, "index-meta-2.1": 9, "collection-load-2.1": 6, "collection": 1,
		}
		w.Collections[0].Layout = "2.1"
		w.Version.Text = "2.2.16"
		w.Indexes = nil
	}
	indexed := func(w *rulestest.World, n int64) { w.Indexes, w.KeysByKind["index"] = rulestest.Healthy().Indexes, n }
	rulestest.RunCases(t, rulestest.ByID("layout-older"), []rulestest.Case{
		{
			Name: "not migrated", Change: upgraded,
			Want: []string{
				"error / Milvus 2.2.16 runs on unmigrated metadata of 2.1 and does not see 4 index definitions and " +
					"the load states of 6 collections",
			},
		},
		{
			Name: "not migrated, under 2.3", Change: func(w *rulestest.World) { upgraded(w); w.Version.Text = "2.3.5" },
			Want: []string{"error / does not see 4 index definitions and the load states of 6 collections"},
		},
		{Name: "made again, and works", Change: func(w *rulestest.World) {
			upgraded(w)
			indexed(w, 1)
			w.Version.Text, w.KeysByKind["collection-load"] = "2.3.5", 1
		}, Want: []string{"info / 28 keys of Milvus 2.1 are left over, ignored by Milvus 2.3.5"}},
		{Name: "indexes made again, all released", Change: func(w *rulestest.World) {
			upgraded(w)
			indexed(w, 1)
			w.LoadStates = nil
		}, Want: []string{"info / are left over"}},
		{Name: "one made again, one not", Change: func(w *rulestest.World) {
			upgraded(w)
			indexed(w, 1)
			w.KeysByKind["collection-load"] = 1
			w.Collections = append(w.Collections, &model.Collection{
				ID: 1001, Database: 1, Name: "old", State: "Created", Layout: "2.1", Fields: w.Collections[0].Fields,
			})
		}, Want: []string{"info / 1 of 2 collections from before the upgrade has no index"}},
		{
			Name:   "all from before was dropped",
			Change: func(w *rulestest.World) { upgraded(w); w.Collections[0].State = "Dropped" },
			Want:   []string{"info / are left over"},
		},
		{Name: "migrated, with leftovers", Change: func(w *rulestest.World) {
			upgraded(w)
			indexed(w, 4)
			w.KeysByKind["collection-load"] = 6
			w.Collections[0].Layout = "2.2"
		}, Want: []string{"info / 28 keys of Milvus 2.1 are left over"}},
		{Name: "2.1 itself", Change: func(w *rulestest.World) { upgraded(w); w.Version.Text = "2.1" }},
		{Name: "before databases", Change: func(w *rulestest.World) { w.Collections[0].Layout = "2.2" }},
	})
}
