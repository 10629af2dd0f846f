package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestPartitionKeySkew(t *testing.T) {
	keyed := func(n int, largest, others int64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Collections[0].Fields[2].PartitionKey = true
			w.Partitions, w.Segments = nil, nil
			for i := range n {
				id := model.PartitionID(5000 + i)
				w.Partitions = append(w.Partitions, &model.Partition{
					ID: id, Collection: rulestest.CollID, Name: "_default_" + model.NodeID(i).String(),
				})
				s := rulestest.HealthySegment(model.SegmentID(6000+i), rulestest.Channel0)
				s.Partition, s.Rows = id, others
				if i == 3 {
					s.Rows = largest
				}
				w.Segments = append(w.Segments, s)
			}
		}
	}
	rulestest.RunCases(t, rulestest.ByID("partition-key-skew"), []rulestest.Case{
		{
			Name: "no key",
			Change: func(w *rulestest.World) {
				keyed(16, 2_000_000, 0)(w)
				w.Collections[0].Fields[2].PartitionKey = false
			},
		},
		{Name: "even", Change: keyed(16, 100_000, 100_000)},
		{
			Name: "uneven", Change: keyed(16, 100_000, 10_000),
			Want: []string{
				"info collections/1000 the largest of 16 partitions of docs has 100,000 of 250,000 rows, 6.4 times " +
					"the mean (partition key tag)",
			},
		},
		{
			Name: "nearly all in one", Change: keyed(16, 2_000_000, 1000),
			Want: []string{"warning collections/1000 15.9 times the mean"},
		},
		{Name: "a large tenant among 64 partitions", Change: keyed(64, 1_500_000, 100_000)},
		{
			Name: "a third of 64 partitions", Change: keyed(64, 2_000_000, 60_000),
			Want: []string{"info collections/1000 22.1 times the mean"},
		},
		{Name: "a hundredth of 1,024 partitions", Change: keyed(1024, 1_000_000, 100_000)},
		{Name: "small", Change: keyed(16, 50_000, 0)},
		{Name: "empty", Change: keyed(16, 0, 0)},
	})
}
