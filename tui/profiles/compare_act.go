package profiles

import (
	"io"

	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui"
)

func (p *benchPage) Can(m *tui.Model, a tui.Action) string {
	if a == tui.ActRelated && p.of.Control == nil {
		return "there is no control: compare --control takes more runs without the change"
	}
	return p.List.Can(m, a)
}

func (p *benchPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	if a == tui.ActRelated {
		c := newBenchPage(p.of.Control, nil)
		c.control = true
		return m.Push(c)
	}
	return p.List.Act(m, a)
}

func (p *benchPage) Click(m *tui.Model, x, y int) tui.Cmd { return p.Clicked(m, p, x, y) }
func (p *benchPage) TSVTable() (tsv string, rows int)     { return p.TSV() }

// tui.saveMenu offers the formats of the same report on the command line, and its plots.
func (p *benchPage) saveMenu() *tui.Menu {
	of := p.of
	n := tui.SaveReport("save the comparison", "compare", builds.ComparisonFormats().Parse, func(w io.Writer, f render.Format) error {
		return builds.WriteComparison(w, of, f, render.ReportOptions{})
	})
	for _, plot := range builds.ComparisonPlotNames() {
		n.Items = append(n.Items, tui.MenuItem{Text: "plot of " + plot, Note: "svg", Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd {
			return tui.Save(m, tui.FileName("compare", plot)+".svg", func(w io.Writer) error {
				return builds.PlotComparison(w, of, plot, "svg")
			})
		}})
	}
	return n
}
