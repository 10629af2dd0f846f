package model_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/model"
)

// TestCache checks that values are summed by location and by type, and that types without loaded bytes are
// omitted.
func TestCache(t *testing.T) {
	want := &model.Cache{
		Memory: model.CacheTier{
			Loaded: 7 << 20, Loading: 1 << 20, Capacity: 10 << 20, HighWater: 8 << 20, LowWater: 7 << 20,
		},
		Disk: model.CacheTier{
			Loaded: 20 << 20, Loading: 0, Capacity: 100 << 20, HighWater: 80 << 20, LowWater: 70 << 20,
		},
		Cells: 200, LoadedCells: 50, LoadingCells: 1,
		Types: []model.CacheType{{Name: "scalar_field", Bytes: 21 << 20}, {Name: "vector_index", Bytes: 6 << 20}},
	}
	got := loadScrape(t, "querynode-cache.txt").Cache()
	if diff := cmp.Diff(want, got); diff != "" || !got.Evicts() {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestCacheUnset checks that a gauge of 0 is no limit, that the metric's name in the first 2.6 works, and that
// processes without C++ code have no cache.
func TestCacheUnset(t *testing.T) {
	location := func(name string, v float64) model.Series {
		return model.Series{Labels: []model.Pair{{Key: "location", Value: name}}, Value: v}
	}
	m := &model.Metrics{Families: map[string]*model.Family{
		"internal_cache_used_bytes": {
			Series: []model.Series{location("memory", 7), location("disk", 0), location("mixed", 0)},
		},
		"internal_cache_capacity_bytes": {Series: []model.Series{location("memory", 0), location("disk", 0)}},
	}}
	no := math.NaN()
	want := &model.Cache{
		Memory: model.CacheTier{Loaded: 7, Loading: no, Capacity: no, HighWater: no, LowWater: no},
		Disk:   model.CacheTier{Loaded: 0, Loading: no, Capacity: no, HighWater: no, LowWater: no},
		Cells:  no, LoadedCells: no, LoadingCells: no,
	}
	got := m.Cache()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" || got.Evicts() {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var none *model.Metrics
	if none.Cache() != nil || loadScrape(t, "coordinator.txt").Cache() != nil {
		t.Error("a cache of nothing")
	}
}
