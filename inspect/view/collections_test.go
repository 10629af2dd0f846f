package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// TestStoredBytes checks that a collection missing in DataCoord's report has 0 bytes, and that all are
// unknown without a report.
func TestStoredBytes(t *testing.T) {
	c := model.Build(model.Parts{
		Loaded: model.PartAll, Collections: []*model.Collection{{ID: 1, Name: "a"}, {ID: 2, Name: "b"}},
	})
	for _, test := range []struct {
		stored map[model.CollectionID]int64
		want   map[string]table.Cell
	}{
		{nil, map[string]table.Cell{"1": unknown(), "2": unknown()}},
		{map[model.CollectionID]int64{1: 5000}, map[string]table.Cell{"1": count(5000), "2": count(0)}},
	} {
		asked := c.WithRuntime(model.BuildRuntime(model.RuntimeParts{StoredBytes: test.stored}))
		if diff := cmp.Diff(test.want, cells(t, NewEnv(asked, time.Time{}), "collections", "stored_bytes")); diff !=
			"" {
			t.Errorf("%v (-want +got):\n%s", test.stored, diff)
		}
	}
}
