package render

import (
	"math"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/internal/table"
	"kitescope/internal/words"
)

// BarWidth is the longest bar for a terminal.
func BarWidth(o *Options) int {
	switch {
	case o.Width == 0 || o.Width >= 140:
		return 24
	case o.Width >= 100:
		return 16
	}
	return 10
}

// bar draws a node's part of the search work: behind an index, sealed by brute force, growing.
func (t *shareTable) bar(r shareRow) string {
	if t.partial || t.costKnown(r, noCell()).Absent == table.Unknown {
		return words.UnknownMark
	}
	if t.whole <= 0 {
		return words.NoneMark
	}
	return CostBar(r.Share, t.most, BarWidth(t.o), t.o.ASCII) + part(r.Cost, t.whole)
}

// CostBar is a bar of the search work of a share; most fills all cells. It ends with a blank,
// and is never empty.
func CostBar(s *balance.Share, most float64, size int, ascii bool) string {
	glyphs := [...]string{"▇", "▒", "░", "·"}
	if ascii {
		glyphs = [...]string{"#", "+", "-", "."}
	}
	if s.Cost <= 0 || most <= 0 {
		return glyphs[3] + " "
	}
	var b strings.Builder
	sum, drawn := 0.0, 0
	for i, cost := range []float64{s.Cost - s.BruteCost, s.BruteCost - s.GrowingCost, s.GrowingCost} {
		sum += cost
		n := int(math.Round(sum/most*float64(size))) - drawn
		b.WriteString(strings.Repeat(glyphs[i], max(0, n)))
		drawn += max(0, n)
	}
	if drawn == 0 {
		return glyphs[3] + " "
	}
	return b.String() + " "
}

// ShareLegend explains CostBar.
func ShareLegend(ascii bool) string {
	if ascii {
		return "cost share: # behind an index, + sealed by brute force, - growing"
	}
	return "cost share: ▇ behind an index, ▒ sealed by brute force, ░ growing"
}

// SpreadLegend explains the figures of how even nodes are.
const SpreadLegend = "max/mean: the busiest node's share over the mean share, 1 is even (rows: the same of rows); CV: standard deviation of the shares over their mean, 0 is even"
