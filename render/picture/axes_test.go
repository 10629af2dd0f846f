package picture

import (
	"testing"
	"time"
)

func TestValueTicks(t *testing.T) {
	for _, span := range [][2]float64{
		{0, 1}, {1198, 1203}, {12500, 12520}, {-3, 7}, {0.98, 1.02}, {0, 3e12}, {1e-9, 2e-9}, {1e9, 1e9 + 1},
	} {
		ticks := valueTicks{}.Ticks(span[0], span[1])
		if len(ticks) < 3 || len(ticks) > 8 {
			t.Errorf("%v: %d marks", span, len(ticks))
		}
		seen := map[string]bool{}
		for _, x := range ticks {
			if seen[x.Label] || x.Label == "" {
				t.Errorf("%v: %q twice", span, x.Label)
			}
			seen[x.Label] = true
		}
	}
	if ticks := (valueTicks{}).Ticks(3, 3); len(ticks) != 0 {
		t.Errorf("%v", ticks)
	}
}

func TestClockTicks(t *testing.T) {
	at := float64(time.Date(2026, 11, 20, 8, 29, 58, 0, time.UTC).Unix())
	for _, span := range []float64{1, 60, 3600, 86400, 30 * 86400, 10 * 365 * 86400} {
		if n := len(clockTicks{}.Ticks(at, at+span)); n < 1 || n > 10 {
			t.Errorf("over %g s: %d marks", span, n)
		}
	}
}
