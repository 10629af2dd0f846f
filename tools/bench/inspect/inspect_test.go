package main

import (
	"strings"
	"testing"
	"time"

	"kitescope/tools/bench/measure"
	"kitescope/tools/bench/metagen"
)

func costs(wall time.Duration, rss int64) []measure.Cost {
	return []measure.Cost{{Wall: wall, PeakRSS: rss}}
}

func TestJudge(t *testing.T) {
	table := &commandTable{shape: metagen.Of(200_000), rows: []*row{
		{what: rowFloor, costs: costs(time.Second, 0)},
		{what: rowEmpty, costs: costs(10*time.Millisecond, 0)},
		{what: "in time", costs: costs(1500*time.Millisecond, 100), bar: bar{against: rowFloor, ratio: 1.5, peakRSS: 100}},
		{what: "slow", costs: costs(1600*time.Millisecond, 100), bar: bar{against: rowFloor, ratio: 1.5, peakRSS: 100}},
		{what: "fat", costs: costs(time.Second, 101), bar: bar{against: rowFloor, ratio: 1.5, peakRSS: 100}},
		{what: "near", costs: costs(110*time.Millisecond, 0), bar: bar{against: rowEmpty, extra: 100 * time.Millisecond}},
		{what: "far", costs: costs(111*time.Millisecond, 0), bar: bar{against: rowEmpty, extra: 100 * time.Millisecond}},
	}}
	for what, want := range map[string]string{"in time": "pass", "slow": "short", "fat": "short", "near": "pass", "far": "short"} {
		if _, _, got := table.judge(table.find(what)); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
}

func TestCountSegments(t *testing.T) {
	text := `{"apiVersion":"kitescope/v1","kind":"SegmentList","source":{"items_before":"x"},"items":[
		{"id":"1","size_bytes":10,"index_state":"indexed"},{"id":"2","size_bytes":0},{"id":"3","size_bytes":null,"index_state":"none"}]}`
	got, err := countSegments(strings.NewReader(text))
	if want := (listed{segments: 3, sized: 1, indexed: 2}); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, broken := range []string{`{"kind":"SegmentList"}`, `{"items":[{"id":""}]}`, `{"items":[{"id":"1"`} {
		if _, err := countSegments(strings.NewReader(broken)); err == nil {
			t.Errorf("%s: no error", broken)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{7: "7", 999: "999", 1000: "1,000", 1_000_000: "1,000,000"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
