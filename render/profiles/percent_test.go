package profiles

import (
	"slices"
	"testing"

	"kitescope/profile"
)

// TestHundredthsOfPercentArePercentages: a table of percentages alone, as perf report prints it without its header, is read as counts of hundredths and shown as what it was.
func TestHundredthsOfPercentArePercentages(t *testing.T) {
	values := []int64{7311, 1689, 5, 0}
	s := newScale(profile.HundredthsOfPercent, 10000, slices.Values(values))
	for i, want := range []string{"73.11%", "16.89%", "0.05%", "0"} {
		if got := s.text(values[i]); got != want {
			t.Errorf("%d is %q, want %q", values[i], got, want)
		}
	}
	if got := Scaled(10000, profile.HundredthsOfPercent); got != "100%" {
		t.Errorf("all is %q", got)
	}
}
