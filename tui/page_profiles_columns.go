package tui

import (
	"cmp"
	"math"
	"strings"

	"kitescope/inspect/view"
	"kitescope/profile"
	"kitescope/profile/report"
)

// topColumn is a column of a topPage.
type topColumn uint8

const (
	topFlat topColumn = iota
	topFlatPercent
	topCum
	topCumPercent
	topFlatBefore
	topFlatAfter
	topFlatChange
	topCumBefore
	topCumAfter
	topCumChange
	topRelative
	topVerdict
	topFunction
	topClass
	topFile
)

// head is the column's title, how it is aligned, and when it gives way.
func (c topColumn) head(by profile.By) view.Column {
	switch c {
	case topFlat:
		return view.Column{Title: "FLAT", Kind: view.Int}
	case topFlatPercent:
		return view.Column{Title: "FLAT%", Kind: view.Percent, Priority: 2}
	case topCum:
		return view.Column{Title: "CUM", Kind: view.Int, Priority: 1}
	case topCumPercent:
		return view.Column{Title: "CUM%", Kind: view.Percent}
	case topFlatBefore:
		return view.Column{Title: "FLAT BEFORE", Kind: view.Int, Priority: 5}
	case topFlatAfter:
		return view.Column{Title: "AFTER", Kind: view.Int, Priority: 4}
	case topFlatChange:
		return view.Column{Title: "FLAT CHANGE", Kind: view.Int, Priority: 1}
	case topCumBefore:
		return view.Column{Title: "CUM BEFORE", Kind: view.Int, Priority: 3}
	case topCumAfter:
		return view.Column{Title: "AFTER", Kind: view.Int, Priority: 3}
	case topCumChange:
		return view.Column{Title: "CUM CHANGE", Kind: view.Int}
	case topRelative:
		return view.Column{Title: "BY", Kind: view.Int, Priority: 2}
	case topVerdict:
		return view.Column{Title: "CHANCE", Kind: view.Text, Priority: 1}
	case topClass:
		return view.Column{Title: "CLASS", Kind: view.Text, Priority: 5}
	case topFile:
		return view.Column{Title: "FILE", Kind: view.Text, Priority: 7}
	default:
	}
	return view.Column{Title: strings.ToUpper(by.String()), Kind: view.Text}
}

// columns are those that a table of some width has; the layout drops more where names are long.
func (p *topPage) columns(w int) []topColumn {
	var list []topColumn
	switch {
	case p.changes != nil && w < 100:
		list = []topColumn{topCumBefore, topCumChange, topRelative, topVerdict, topFunction}
	case p.changes != nil:
		list = []topColumn{topFlatBefore, topFlatAfter, topFlatChange, topCumBefore, topCumAfter, topCumChange, topRelative, topVerdict, topFunction}
	default:
		list = []topColumn{topFlat, topFlatPercent, topCum, topCumPercent, topFunction}
	}
	switch p.shown.by {
	case profile.ByFunction, profile.ByLine, profile.ByAddress:
		if w >= 80 {
			list = append(list, topClass)
		}
		if w >= 140 {
			list = append(list, topFile)
		}
	default:
	}
	return list
}

func (v topView) columns() []view.Column {
	cols := make([]view.Column, len(v.list))
	for i, c := range v.list {
		cols[i] = c.head(v.shown.by)
	}
	return cols
}

// cellOf is the text of an entry in a column.
func (p *topPage) cellOf(row int32, c topColumn) string {
	e := p.entry(row)
	switch c {
	case topFunction:
		return clean(e.Function)
	case topClass:
		return e.Class.String()
	case topFile:
		return clean(e.File)
	default:
	}
	if p.changes != nil {
		return changeCell(p.changes, &p.changes.Changes[row], c)
	}
	t := p.top
	switch c {
	case topFlat:
		return amount(e.Flat, t.Type.Unit)
	case topFlatPercent:
		return percentText(t.Percent(e.Flat))
	case topCum:
		return amount(e.Cum, t.Type.Unit)
	case topCumPercent:
		return percentText(t.Percent(e.Cum))
	default:
	}
	return ""
}

func changeCell(all *report.Comparison, c *report.Change, column topColumn) string {
	unit := all.Type.Unit
	switch column {
	case topFlatBefore:
		return amount(c.FlatBefore, unit)
	case topFlatAfter:
		return amount(c.FlatAfter, unit)
	case topFlatChange:
		return signed(c.Flat, unit)
	case topCumBefore:
		return amount(c.CumBefore, unit)
	case topCumAfter:
		return amount(c.CumAfter, unit)
	case topCumChange:
		return signed(c.Cum, unit)
	case topRelative:
		return relativeText(c.CumBefore, c.CumAfter)
	case topVerdict:
		if c.CumVerdict == report.Noise || c.CumVerdict == report.Undecided {
			return c.CumVerdict.String()
		}
		return chance(c.CumCorrectedP)
	default:
	}
	return ""
}

// compare orders two entries by a column, the largest first; names the other way round.
func (p *topPage) compare(c topColumn, a, b int32) int {
	x, y := p.entry(a), p.entry(b)
	switch c {
	case topFunction:
		return cmp.Compare(x.Function, y.Function)
	case topClass:
		return cmp.Compare(x.Class, y.Class)
	case topFile:
		return cmp.Compare(x.File, y.File)
	case topFlat, topFlatPercent:
		return cmp.Compare(magnitude(y.Flat), magnitude(x.Flat))
	case topCum, topCumPercent:
		return cmp.Compare(magnitude(y.Cum), magnitude(x.Cum))
	default:
	}
	if p.changes == nil {
		return 0
	}
	k, l := &p.changes.Changes[a], &p.changes.Changes[b]
	switch c {
	case topFlatBefore:
		return cmp.Compare(l.FlatBefore, k.FlatBefore)
	case topFlatAfter:
		return cmp.Compare(l.FlatAfter, k.FlatAfter)
	case topFlatChange:
		return cmp.Or(certainty(k.FlatVerdict)-certainty(l.FlatVerdict), cmp.Compare(magnitude(l.Flat), magnitude(k.Flat)))
	case topCumBefore:
		return cmp.Compare(l.CumBefore, k.CumBefore)
	case topCumAfter:
		return cmp.Compare(l.CumAfter, k.CumAfter)
	case topCumChange:
		return cmp.Or(certainty(k.CumVerdict)-certainty(l.CumVerdict), cmp.Compare(magnitude(l.Cum), magnitude(k.Cum)))
	case topRelative:
		return cmp.Compare(growth(l), growth(k))
	case topVerdict:
		return cmp.Or(certainty(k.CumVerdict)-certainty(l.CumVerdict), cmp.Compare(k.CumCorrectedP, l.CumCorrectedP))
	default:
	}
	return 0
}

// certainty puts noise below changes.
func certainty(v report.Verdict) int {
	if v == report.Noise {
		return 1
	}
	return 0
}

// magnitude is an absolute value; of the smallest number there is none.
func magnitude(v int64) int64 {
	switch {
	case v == math.MinInt64:
		return math.MaxInt64
	case v < 0:
		return -v
	}
	return v
}

// growth is by how much an entry changed, of itself.
func growth(c *report.Change) float64 {
	if c.CumBefore == 0 {
		return math.Inf(cmp.Compare(c.CumAfter, 0))
	}
	return (float64(c.CumAfter) - float64(c.CumBefore)) / math.Abs(float64(c.CumBefore))
}
