package cluster

import (
	"io"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/tui"
)

// saveMenu offers the plan as a script, and the formats that the command line has for the report.
func (p *balancePage) saveMenu() *tui.Menu {
	of := p.survey
	script := tui.MenuItem{
		Text: "plan as a script", Note: "pymilvus, " + words.Plural(of.Report.Moves(), "move"),
		Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd {
			return tui.Save(m, tui.FileName("plan", p.word)+".py", tui.TextWriter(of.SavedPlan()))
		},
	}
	if of.Report.Moves() == 0 {
		script.Why = "no moves"
	}
	n := &tui.Menu{Title: "save the balance", Items: []tui.MenuItem{script}}
	for _, word := range []string{"html", "json", "csv"} {
		format, err := clusters.BalanceFormats().Parse(word)
		if err != nil {
			continue
		}
		n.Items = append(n.Items, tui.MenuItem{
			Text: "report", Note: word,
			Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd {
				return tui.Save(m, tui.FileName("balance", p.word)+"."+word, func(w io.Writer) error {
					return clusters.WriteBalance(w, of, format, render.ReportOptions{})
				})
			},
		})
	}
	return n
}
