package read

import (
	"testing"

	"kitescope/profile/bench"
)

// TestDirectionMatchesWholeWords checks directions of names. A wrong direction turns a better
// program into a worse one, while an unknown direction only leaves the question open.
func TestDirectionMatchesWholeWords(t *testing.T) {
	for name, want := range map[string]bench.Direction{
		"page-faults": bench.LowerIsBetter, "cache-misses": bench.LowerIsBetter, "dropped packets": bench.LowerIsBetter,
		"GC pauses":  bench.LowerIsBetter,
		"num_errors": bench.LowerIsBetter, "p99 latency": bench.LowerIsBetter, "cpu steal": bench.LowerIsBetter,
		"instructions": bench.LowerIsBetter,
		"search QPS":   bench.HigherIsBetter, "rps": bench.HigherIsBetter, "recall@10": bench.HigherIsBetter,
		"insn per cycle": bench.HigherIsBetter, "rows/s": bench.HigherIsBetter,
		"default": bench.Unknown, "submissions": bench.Unknown, "transmissions": bench.Unknown,
		"installed": bench.Unknown, "https": bench.Unknown,
		"branches": bench.Unknown, "read/sync": bench.Unknown, "compression": bench.Unknown,
		"recipcount": bench.Unknown,
		"iterations": bench.Neither, "clients": bench.Neither,
	} {
		if got := direction(bench.Metric{Name: name}); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	if got := direction(bench.Metric{Name: "submissions", Unit: "1/s"}); got != bench.HigherIsBetter {
		t.Errorf("submissions a second: %d", got)
	}
}
