package profiles

import (
	"cmp"
	"math"
	"strings"

	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/tui"
)

// topColumns returns the columns of a table of w cells. The layout drops more columns if names are long.
func (p *topPage) topColumns(w int) []tui.Column[*topRow] {
	var names []string
	switch {
	case p.changes != nil && w < 100:
		names = []string{"cum_before", "cum_change", "by", "chance", "function"}
	case p.changes != nil:
		names = []string{
			"flat_before", "flat_after", "flat_change", "cum_before", "cum_after", "cum_change", "by", "chance",
			"function",
		}
	default:
		names = []string{"flat", "flat%", "cum", "cum%", "function"}
	}
	switch p.shown.by {
	case profile.ByFunction, profile.ByLine, profile.ByAddress:
		if w >= 80 {
			names = append(names, "class")
		}
		if w >= 140 {
			names = append(names, "file")
		}
	default:
	}
	columns := append(p.nameColumns(w < wideNames), p.amountColumns()...)
	if p.changes != nil {
		columns = append(columns, p.changeColumns()...)
	}
	list := make([]tui.Column[*topRow], len(names))
	for i, name := range names {
		list[i] = columns[tui.ColumnNamed(columns, name)]
	}
	return list
}

// nameColumns returns the columns that identify an entry. Short names omit package paths.
func (p *topPage) nameColumns(short bool) []tui.Column[*topRow] {
	return []tui.Column[*topRow]{
		tui.SortedColumn("function", strings.ToUpper(p.shown.by.String()), table.Text, 0, func(r *topRow) string {
			if short && p.shown.by == profile.ByFunction {
				return shortName(words.Sanitize(r.Function))
			}
			return words.Sanitize(r.Function)
		}, func(a, b *topRow) int { return cmp.Compare(a.Function, b.Function) }),
		tui.SortedColumn("class", "CLASS", table.Text, 5, func(r *topRow) string { return r.Class.String() },
			func(a, b *topRow) int { return cmp.Compare(a.Class, b.Class) }),
		tui.SortedColumn("file", "FILE", table.Text, 7, func(r *topRow) string { return words.Sanitize(r.File) },
			func(a, b *topRow) int { return cmp.Compare(a.File, b.File) }),
	}
}

// byAmount compares by an amount, the largest first.
func byAmount(get func(r *topRow) int64) func(a, b *topRow) int {
	return func(a, b *topRow) int { return cmp.Compare(get(b), get(a)) }
}

// amountColumns returns the columns for a single profile.
func (p *topPage) amountColumns() []tui.Column[*topRow] {
	t := p.top
	flat := byAmount(func(r *topRow) int64 { return magnitude(r.Flat) })
	cum := byAmount(func(r *topRow) int64 { return magnitude(r.Cum) })
	return []tui.Column[*topRow]{
		tui.SortedColumn("flat", "FLAT", table.Int, 0, func(r *topRow) string { return amount(r.Flat, t.Type.Unit) },
			flat),
		tui.SortedColumn("flat%", "FLAT%", table.Percent, 2, func(r *topRow) string {
			return words.Percent(t.Percent(r.Flat))
		}, flat),
		tui.SortedColumn("cum", "CUM", table.Int, 1, func(r *topRow) string { return amount(r.Cum, t.Type.Unit) }, cum),
		tui.SortedColumn("cum%", "CUM%", table.Percent, 0, func(r *topRow) string {
			return words.Percent(t.Percent(r.Cum))
		}, cum),
	}
}

// changeColumns returns the columns for two profiles.
func (p *topPage) changeColumns() []tui.Column[*topRow] {
	unit := p.changes.Type.Unit
	side := func(name, title string, priority int, of func(c *report.Change) int64) tui.Column[*topRow] {
		return tui.SortedColumn(name, title, table.Int, priority, func(r *topRow) string {
			return amount(of(r.change), unit)
		},
			byAmount(func(r *topRow) int64 { return of(r.change) }))
	}
	// change sorts by the size of the change, with noise after all changes.
	change := func(
		name, title string, priority int, of func(c *report.Change) (int64, report.Verdict),
	) tui.Column[*topRow] {
		return tui.SortedColumn(name, title, table.Int, priority, func(r *topRow) string {
			v, _ := of(r.change)
			return signed(v, unit)
		}, func(a, b *topRow) int {
			x, k := of(a.change)
			y, l := of(b.change)
			return cmp.Or(certainty(k)-certainty(l), cmp.Compare(magnitude(y), magnitude(x)))
		})
	}
	return []tui.Column[*topRow]{
		side("flat_before", "FLAT BEFORE", 5, func(c *report.Change) int64 { return c.FlatBefore }),
		side("flat_after", "AFTER", 4, func(c *report.Change) int64 { return c.FlatAfter }),
		change("flat_change", "FLAT CHANGE", 1, func(c *report.Change) (int64, report.Verdict) {
			return c.Flat, c.FlatVerdict
		}),
		side("cum_before", "CUM BEFORE", 3, func(c *report.Change) int64 { return c.CumBefore }),
		side("cum_after", "AFTER", 3, func(c *report.Change) int64 { return c.CumAfter }),
		change("cum_change", "CUM CHANGE", 0, func(c *report.Change) (int64, report.Verdict) {
			return c.Cum, c.CumVerdict
		}),
		tui.SortedColumn("by", "BY", table.Int, 2, func(r *topRow) string {
			return relativeText(r.change.CumBefore, r.change.CumAfter)
		},
			func(a, b *topRow) int { return cmp.Compare(growth(b.change), growth(a.change)) }),
		tui.SortedColumn("chance", "CHANCE", table.Text, 1, func(r *topRow) string { return pValueCell(r.change) },
			func(a, b *topRow) int {
				return cmp.Or(certainty(a.change.CumVerdict)-certainty(b.change.CumVerdict),
					cmp.Compare(a.change.CumCorrectedP, b.change.CumCorrectedP))
			}),
	}
}

func pValueCell(c *report.Change) string {
	if c.CumVerdict == report.Noise || c.CumVerdict == report.Undecided {
		return c.CumVerdict.String()
	}
	return pValueText(c.CumCorrectedP)
}

// certainty sorts noise after changes.
func certainty(v report.Verdict) int {
	if v == report.Noise {
		return 1
	}
	return 0
}

// magnitude returns the absolute value of v, or math.MaxInt64 for math.MinInt64, whose absolute value overflows.
func magnitude(v int64) int64 {
	switch {
	case v == math.MinInt64:
		return math.MaxInt64
	case v < 0:
		return -v
	}
	return v
}

// growth returns the relative change of an entry.
func growth(c *report.Change) float64 {
	if c.CumBefore == 0 {
		return math.Inf(cmp.Compare(c.CumAfter, 0))
	}
	return (float64(c.CumAfter) - float64(c.CumBefore)) / math.Abs(float64(c.CumBefore))
}
