package tui

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/table"
	"kitescope/tui/draw"
)

// Hindsight knows of the past beside the moment that is shown: when findings began, and how figures of objects were. It looks behind
// the screen, as long as a page is shown that wants to know.
type Hindsight interface {
	// Look goes on with what a page wants; where that is nothing, what is under way ends.
	Look(m *Model, wish Wish) Cmd
	// Began says when a finding began and what was before it, short for a list: "09:14:05", and in full; nothing as long as it is not known.
	Began(f *check.Finding) (short string, facts []Fact)
	// Curves are the figures of a resource that were looked at, none where nothing is known of them.
	Curves(resource string) []Curve
}

// Wish is what a page wants to know of the past.
type Wish struct {
	// Report has the findings; nil: of none.
	Report *check.Report
	// Resource is the table whose rows have curves, "": none.
	Resource string
	// Costly is that reading all of the past again is work, for others too: of a large live etcd.
	Costly bool
}

// Curve is how a figure of objects was, over the time that the line of time has.
type Curve struct {
	// Of is the column of the figure, Span how long the time is: "26 min".
	Of   *table.Column
	Span string
	// Draw draws that of an object in so many cells, "" where nothing is known.
	Draw func(id string, cells int) string
}

// curveCells are the cells of a curve in a table, detailCells in details.
const (
	curveCells  = 12
	detailCells = 24
	labelCells  = 24
	// costlySegments are those of a cluster that is not read again for a curve.
	costlySegments = 20_000
	// curvePriority has a curve go before any column does.
	curvePriority = 99
	// leastCurves is a terminal that has room for curves.
	leastCurves = 100
)

// wishOf is what the page that is shown wants.
func wishOf(m *Model) (w Wish) {
	switch p := m.Top().(type) {
	case *findingsPage:
		w.Report = p.judged.dated()
	case *findingPage:
		w.Report = p.judged.dated()
	case *overviewPage:
		w.Report = m.data.judged.report
	case *detailPage:
		w.Report, w.Resource = m.data.judged.report, p.ref.Resource
	case *gridPage:
		if m.Width >= leastCurves {
			w.Resource = p.resource.Name
		}
	}
	if c := m.data.cluster; c != nil {
		w.Costly = m.data.live && len(c.Segments) > costlySegments
	}
	return w
}

// dated is the report whose findings have a beginning: of a version that does not run yet they have none.
func (j *judgement) dated() *check.Report {
	if j.own != nil {
		return nil
	}
	return j.report
}

// began is when a finding began, as far as that is known.
func (j *judgement) began(m *Model, f *check.Finding) (short string, facts []Fact) {
	if m.Config.Hindsight == nil || j.own != nil {
		return "", nil
	}
	return m.Config.Hindsight.Began(f)
}

// curvesOf are the curves of a table.
func curvesOf(m *Model, resource string) []Curve {
	if m.Config.Hindsight == nil {
		return nil
	}
	return m.Config.Hindsight.Curves(resource)
}

// curveLines are the curves of an object in its details.
func curveLines(curves []Curve, id string) []draw.TextLine {
	var lines []draw.TextLine
	for i := range curves {
		if text := curves[i].Draw(id, detailCells); text != "" {
			lines = append(lines, draw.TextLine{Label: draw.Fit(strings.ReplaceAll(curves[i].Of.Name, "_", " "), labelCells) + "  ", Text: text})
		}
	}
	if len(lines) > 0 {
		lines = append([]draw.TextLine{{}, {Text: strings.ToUpper(curves[0].Span), Look: draw.LookTitle}}, lines...)
	}
	return lines
}
