package kept

import (
	"testing"
	"time"
)

// TestChoose: the round of a moment is the last that was asked by metadata of then; the recorder's clock decides only between
// rounds that nothing was written between, and none is shown that was asked later.
func TestChoose(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(1700000000+seconds), 0) }
	marks := []mark{{at(0), 5, 0}, {at(15), 9, 0}, {at(30), 9, 0}, {at(45), 9, 0}, {at(10), 12, 0}} // and the clock was set back
	for name, c := range map[string]struct {
		revision int64
		at       time.Time
		want     int
	}{
		"before the first":            {4, at(100), -1},
		"the only one":                {5, at(2), 0},
		"before all rounds":           {5, at(-600), -1},
		"between revisions":           {8, at(14), 0},
		"the last of a standstill":    {9, at(100), 3},
		"within a standstill":         {9, at(31), 2},
		"its beginning":               {9, at(16), 1},
		"before it was asked there":   {9, at(1), 0},
		"no time":                     {9, time.Time{}, 3},
		"behind the clock's way back": {12, at(100), 4},
		"the newest":                  {99, at(100), 4},
	} {
		if got := choose(marks, c.revision, c.at); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := choose(nil, 5, at(0)); got != -1 {
		t.Errorf("of none: %d", got)
	}
}
