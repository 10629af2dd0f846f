package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestNearLimit(t *testing.T) {
	databases := func(n int) func(*rulestest.World) {
		return func(w *rulestest.World) {
			for i := len(w.Databases); i < n; i++ {
				w.Databases = append(w.Databases, &model.Database{ID: model.DatabaseID(100 + i), Name: "d"})
			}
		}
	}
	partitions := func(n int) func(*rulestest.World) {
		return func(w *rulestest.World) {
			for i := len(w.Partitions); i < n; i++ {
				w.Partitions = append(w.Partitions, &model.Partition{
					ID: model.PartitionID(8000 + i), Collection: rulestest.CollID, Name: "p",
				})
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("near-limit"), rulestest.Configured([]rulestest.Case{
		{
			Name: "near", Change: databases(48),
			Want: []string{"info / 48 of 64 databases: 75% of rootCoord.maxDatabaseNum"},
		},
		{Name: "at it", Change: databases(60), Want: []string{"warning / 60 of 64 databases"}},
		{Name: "another limit", Change: func(w *rulestest.World) {
			databases(60)(w)
			w.Config = []*model.ConfigEntry{{Name: "rootCoord.maxDatabaseNum", Value: "1000"}}
		}},
		{Name: "partitions", Change: partitions(950), Want: []string{"warning / 950 of 1,024 partitions of docs"}},
		{
			Name:   "more were allowed before 2.4",
			Change: func(w *rulestest.World) { partitions(950)(w); w.Version.Text = "2.3.5" },
		},
		{
			Name:   "a partition key has as many partitions as it was given",
			Change: func(w *rulestest.World) { partitions(1024)(w); w.Collections[0].Fields[2].PartitionKey = true },
		},
		{Name: "a database's own limit", Change: func(w *rulestest.World) {
			w.Databases[0].Properties = []model.Pair{{Key: "database.max.collections", Value: "1"}}
		}, Want: []string{"warning / 1 of 1 collections of database default: 100% of database.max.collections"}},
		{Name: "a limit of none", Change: func(w *rulestest.World) {
			w.Config = []*model.ConfigEntry{{Name: "rootCoord.maxDatabaseNum", Value: "0"}}
		}},
		{Name: "capacity is told by 2.3.5", Change: func(w *rulestest.World) {
			w.Collections[0].Shards, w.Version.Text = 60_000, "2.3.5"
			w.Config = []*model.ConfigEntry{{Name: "rootCoord.maxGeneralCapacity", Value: "65536"}}
		}, Want: []string{"warning / 60,000 of 65,536 partitions times shards"}},
		{
			Name: "capacity", Change: func(w *rulestest.World) { partitions(1)(w); w.Collections[0].Shards = 60_000 },
			Want: []string{"warning / 60,000 of 65,536 partitions times shards"},
		},
	}))
	rulestest.RunCases(t, rulestest.ByID("near-limit"),
		[]rulestest.Case{{Name: "processes were not asked", Skipped: "): the nodes were not queried"}})
}
