package facts

import (
	"slices"
	"testing"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestAnomaliesOfSurvey checks that the candidates of a survey give the same anomalies as all segments do, if records
// are missing or dropped, and if indexes are dropped or flat.
func TestAnomaliesOfSurvey(t *testing.T) {
	c := modeltest.ServedLarge(6000, 20)
	parts := c.Parts
	parts.Segments = nil
	for i, s := range c.Segments {
		x := *s
		switch {
		case i%41 == 0:
			continue
		case i%37 == 0:
			x.State = model.SegmentDropped
		}
		parts.Segments = append(parts.Segments, &x)
	}
	parts.Indexes = nil
	for i, s := range c.Indexes {
		x := *s
		switch i % 7 {
		case 1:
			x.Deleted = true
		case 2:
			x.Type = "FLAT"
		case 3:
			continue
		}
		parts.Indexes = append(parts.Indexes, &x)
	}
	changed := model.Build(parts).WithRuntime(c.Runtime)
	strays, bare, lacking, grown := 0, 0, 0, 0
	for _, x := range []*model.Cluster{c, changed} {
		survey := balance.NewSurvey(x)
		for _, id := range x.Runtime.ServedCollections() {
			got, want := newAnomalies(x, id, nil, survey), newAnomalies(x, id, nil, &balance.Survey{})
			if !slices.Equal(got.Strays, want.Strays) || !slices.Equal(got.Unindexed, want.Unindexed) ||
				!slices.Equal(got.MissingIndex, want.MissingIndex) || len(got.Growing) != len(want.Growing) {
				t.Errorf("collection %d: %d, %d, %d odd segments, want %d, %d, %d", id, len(got.Strays),
					len(got.Unindexed), len(got.MissingIndex), len(want.Strays), len(want.Unindexed),
					len(want.MissingIndex))
			}
			strays, bare, lacking, grown = strays+len(got.Strays), bare+len(got.Unindexed),
				lacking+len(got.MissingIndex), grown+len(got.Growing)
		}
	}
	if strays == 0 || bare == 0 || lacking == 0 || grown == 0 {
		t.Errorf("%d strays, %d bare, %d lacking, %d grown: some kind is not there", strays, bare, lacking, grown)
	}
}
