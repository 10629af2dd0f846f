package facts

import (
	"slices"
	"testing"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestOddsOfSurvey checks that the candidates of a survey give the same anomalies as all segments do, if records
// are missing or dropped, and if indexes are dropped or flat.
func TestOddsOfSurvey(t *testing.T) {
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
		survey := balance.Take(x)
		for _, id := range x.Runtime.ServedCollections() {
			got, want := newOdds(x, id, nil, survey), newOdds(x, id, nil, &balance.Survey{})
			if !slices.Equal(got.Strays, want.Strays) || !slices.Equal(got.Bare, want.Bare) || !slices.Equal(got.Lacking, want.Lacking) || len(got.Grown) != len(want.Grown) {
				t.Errorf("collection %d: %d, %d, %d odd segments, want %d, %d, %d", id, len(got.Strays), len(got.Bare), len(got.Lacking), len(want.Strays), len(want.Bare), len(want.Lacking))
			}
			strays, bare, lacking, grown = strays+len(got.Strays), bare+len(got.Bare), lacking+len(got.Lacking), grown+len(got.Grown)
		}
	}
	if strays == 0 || bare == 0 || lacking == 0 || grown == 0 {
		t.Errorf("%d strays, %d bare, %d lacking, %d grown: some kind is not there", strays, bare, lacking, grown)
	}
}
