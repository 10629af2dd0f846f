package model_test

import (
	"slices"
	"testing"

	"kitescope/inspect/model"
)

// TestWithGaps checks that gaps are added to a copy of the cluster.
func TestWithGaps(t *testing.T) {
	first, second := model.Gap{Where: "a", Reason: "denied"}, model.Gap{Where: "b", Reason: "cut off"}
	c := model.Build(model.Parts{Gaps: []model.Gap{first}})
	more := c.WithGaps(second)
	if !slices.Equal(more.Gaps, []model.Gap{first, second}) || !slices.Equal(c.Gaps, []model.Gap{first}) {
		t.Errorf("with a gap: %v, without it: %v", more.Gaps, c.Gaps)
	}
	if c.WithGaps() != c {
		t.Error("a cluster without further gaps is another one")
	}
}
