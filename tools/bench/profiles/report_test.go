package main

import (
	"strings"
	"testing"
	"time"

	"kitescope/tools/bench/measure"
)

func TestTable(t *testing.T) {
	cost := func(cpu time.Duration, mb int64) []measure.Cost { return []measure.Cost{{CPU: cpu, PeakRSS: mb * 1e6}} }
	r := report{machine: "here", screen: figures{}, jobs: []measured{
		{job{what: "top", theirName: "pprof", faster: 8, memory: 600}, cost(time.Second, 300), cost(9*time.Second, 1200)},
		{job{what: "slow", theirName: "pprof", faster: 8, memory: 600}, cost(time.Second, 300), cost(7*time.Second, 1200)},
		{job{what: "fat", theirName: "pprof", faster: 8, memory: 600}, cost(time.Second, 601), cost(9*time.Second, 1200)},
		{job{what: "small", theirName: "pprof", faster: 1}, cost(10*time.Millisecond, 20), cost(9*time.Millisecond, 20)},
	}, pulls: []measure.Cost{{Wall: window + 400*time.Millisecond}}}
	if err := r.screen.read("BenchmarkFlameView/zoom-2  60  9500000 ns/op  5 B/op\nBenchmarkFlameSearch/x-2  60  17500000 ns/op\nPASS\n"); err != nil {
		t.Fatal(err)
	}
	got := r.markdown()
	for _, want := range []string{
		"| top | 1.00 s | 300 MB | pprof | 9.00 s | 1200 MB | 9.0x | 8x, 600 MB | ✓ pass |\n",
		"| slow | 1.00 s | 300 MB | pprof | 7.00 s | 1200 MB | 7.0x | 8x, 600 MB | ✗ short |\n",
		"| fat | 1.00 s | 601 MB | pprof | 9.00 s | 1200 MB | 9.0x | 8x, 600 MB | ✗ short |\n",
		"| small | 10.0 ms | 20 MB | pprof | 9.0 ms | 20 MB | 0.9x | no slower | ✗ short |\n",
		"at once, beyond the window of 3s | 400.0 ms | 1.00 s | ✓ pass |\n",
		"a key (zoom) and the frame | 9.5 ms | 10.0 ms | ✓ pass |\n",
		"a key of the search `x`, and the frame | 17.5 ms | 16.0 ms | ✗ short |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if err := (figures{}).read("BenchmarkFlameView 60 x ns/op\n"); err == nil {
		t.Error("no error for a figure that is none")
	}
}
