package hindsight

import (
	"math"
	"testing"

	"kitescope/inspect/history"
	"kitescope/internal/table"
)

// TestUnknownFiguresHaveNoCurve: a column of which no row was known at any moment is not drawn: it would be empty from top to bottom.
func TestUnknownFiguresHaveNoCurve(t *testing.T) {
	nothing := float32(math.NaN())
	s := &curves{
		axis:    &history.Axis{History: &history.History{}, From: 0, To: 1},
		places:  []int64{0, 1},
		columns: map[string][]*table.Column{"nodes": {{Name: "cpu_percent"}, {Name: "segments"}}},
		series:  map[string]map[string][]series{"nodes": {"1": {{nothing, nothing}, {nothing, nothing}}, "2": {{nothing, nothing}, {nothing, 3}}}},
	}
	list := s.list("nodes")
	if len(list) != 1 || list[0].Of.Name != "segments" {
		t.Errorf("curves of %d columns: %+v", len(list), list)
	}
}
