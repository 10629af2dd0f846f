package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// TestWantedAs checks the column wanted_as, which is unknown without targets.
func TestWantedAs(t *testing.T) {
	c := model.Build(model.Parts{Loaded: model.PartAll, Segments: []*model.Segment{{ID: 1}, {ID: 2}, {ID: 3}, {ID: 4}}})
	for _, test := range []struct {
		targets []model.CurrentTarget
		want    map[string]table.Cell
	}{
		{nil, map[string]table.Cell{"1": unknown(), "2": unknown(), "3": unknown(), "4": unknown()}},
		{
			[]model.CurrentTarget{{Collection: 7, Sealed: []model.SegmentID{1, 3}, Growing: []model.SegmentID{2, 3}}},
			map[string]table.Cell{"1": text("Sealed"), "2": text("Growing"), "3": text("Both"), "4": text("NotWanted")},
		},
	} {
		asked := c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Targets: test.targets}))
		if diff := cmp.Diff(test.want, cells(t, NewEnv(asked, time.Time{}), "segments", "wanted_as")); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.targets, diff)
		}
	}
}
