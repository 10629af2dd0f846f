package model

import (
	"slices"
	"testing"
	"time"
)

// scrapeOf returns a scrape with samples of one family.
func scrapeOf(at int, family string, values map[[2]string]float64) *Metrics {
	m := &Metrics{
		At:       time.Unix(int64(at), 0),
		Families: map[string]*Family{"up": {Name: "up", Series: []Series{{Value: 1}}}, family: {Name: family}},
	}
	for key, v := range values {
		s := Series{Labels: []Pair{{Key: "persistent_data_op_type", Value: key[0]}}, Value: v}
		if key[1] != "" {
			s.Labels = append(s.Labels, Pair{Key: "status", Value: key[1]})
		}
		m.Families[family].Series = append(m.Families[family].Series, s)
	}
	return m
}

// TestStorageOps checks that failed gets in C++ have no status label, and that stats in Go and totals are
// ignored.
func TestStorageOps(t *testing.T) {
	core := scrapeOf(10, coreStorage, map[[2]string]float64{
		{"get", ""}: 2, {"get", "success"}: 6, {"stat", "fail"}: 3, {"put", "fail"}: 0, {"put", "success"}: 0,
	})
	if got, want := core.StorageOps(), []StorageOps{{"get", 2, 6}, {"stat", 3, 0}}; !slices.Equal(got, want) {
		t.Errorf("C++: %v, want %v", got, want)
	}
	inGo := scrapeOf(10, goStorage, map[[2]string]float64{
		{"get", "total"}: 9, {"get", "success"}: 8, {"get", "fail"}: 1, {"stat", "fail"}: 7, {"stat", "success"}: 1,
	})
	if got, want := inGo.StorageOps(), []StorageOps{{"get", 1, 8}}; !slices.Equal(got, want) {
		t.Errorf("Go: %v, want %v", got, want)
	}
	later := scrapeOf(20, goStorage, map[[2]string]float64{{"get", "success"}: 8, {"get", "fail"}: 4})
	if got, want := later.StorageOpsSince(inGo.StorageCounters()),
		[]StorageOps{{"get", 3, 0}}; !slices.Equal(got, want) {
		t.Errorf("since: %v, want %v", got, want)
	}
	if got := inGo.StorageOpsSince(later); got != nil {
		t.Errorf("counters that fell: %v", got)
	}
	if part := inGo.StorageCounters(); len(part.Families) != 1 || !part.At.Equal(inGo.At) {
		t.Errorf("kept of a scrape: %v", part)
	}
	if o := (StorageOps{Done: 3}); o.Share() != 0 || (StorageOps{Failed: 1, Done: 3}).Share() != 0.25 {
		t.Error("share")
	}
}
