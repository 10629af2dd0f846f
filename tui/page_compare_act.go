package tui

import (
	"io"

	"kitescope/render"
	"kitescope/render/builds"
)

func (p *benchPage) can(m *Model, a action) string {
	if a == actControl && p.of.Control == nil {
		return "there is no control: compare --control takes more runs without the change"
	}
	return p.list.can(m, a)
}

func (p *benchPage) act(m *Model, a action) cmd {
	if a == actControl {
		c := newBenchPage(p.of.Control, nil)
		c.control = true
		return m.push(c)
	}
	return p.list.act(m, a)
}

func (p *benchPage) click(m *Model, x, y int) cmd     { return p.clicked(m, p, x, y) }
func (p *benchPage) tsvTable() (tsv string, rows int) { return p.tsv() }

// saveMenu offers the formats of the same report on the command line, and its plots.
func (p *benchPage) saveMenu() *menu {
	of := p.of
	n := saveReport("save the comparison", "compare", builds.ComparisonFormats().Parse, func(w io.Writer, f render.ReportFormat) error {
		return builds.WriteComparison(w, of, f, render.Options{})
	})
	for i, plot := range builds.ComparisonPlotNames() {
		n.items = append(n.items, menuItem{key: digit(i), text: "plot of " + plot, note: "svg", run: func(m *Model, _ *menu) cmd {
			return save(m, fileName("compare", plot)+".svg", func(w io.Writer) error {
				return builds.PlotComparison(w, of, plot, "svg")
			})
		}})
	}
	return n
}
