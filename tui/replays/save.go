package replays

import (
	"io"
	"strings"

	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/whatif"
	"kitescope/tui"
)

// tui.saveMenu offers the table as it is shown, the result as it is saved by the commands, reports and plots.
func (p *replayPage) saveMenu(m *tui.Model) *tui.Menu {
	n := &tui.Menu{Title: "save the replay"}
	d := p.data
	add := func(text, note, name string, write func(io.Writer) error) {
		n.Items = append(n.Items, tui.MenuItem{Text: text, Note: note, Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd { return tui.Save(m, name, write) }})
	}
	if l := p.listed(m); l != nil {
		name := tui.FileName("replay", p.part().name()) + ".csv"
		add("table as shown", "csv, "+words.Plural(len(l.Shown), "row"), name, l.CSV())
	}
	if r := d.Result; r != nil {
		add("result", "json, for replay show", tui.FileName("replay", "")+".json", func(w io.Writer) error { return replay.WriteResult(w, r) })
		add("points", "csv, every figure", tui.FileName("replay", "points")+".csv", reportWriter("csv", func(w io.Writer, f render.Format) error {
			return replays.WriteResult(w, r, f, render.ReportOptions{})
		}))
		if r.Costs != nil {
			add("costs of segments", "csv, every figure", tui.FileName("replay", "segments")+".csv", reportWriter("csv", func(w io.Writer, f render.Format) error {
				return replays.WriteCosts(w, r, f, render.ReportOptions{})
			}))
		}
		add("report", "markdown", tui.FileName("replay", "")+".md", reportWriter("markdown", func(w io.Writer, f render.Format) error {
			return replays.WriteResult(w, r, f, render.ReportOptions{})
		}))
	}
	if r := d.Report; r != nil {
		add("prediction", "json, for replay show", tui.FileName("replay", "whatif")+".json", func(w io.Writer) error { return whatif.WriteReport(w, r) })
		add("prediction", "markdown", tui.FileName("replay", "whatif")+".md", reportWriter("markdown", func(w io.Writer, f render.Format) error {
			return replays.WriteWhatIf(w, r, f, render.ReportOptions{})
		}))
	}
	add("report with plots", "html", tui.FileName("replay", "")+".html", func(w io.Writer) error { return p.writeHTML(w) })
	p.addPlots(n)
	return n
}

// addPlots offers the plots that there is something to draw of.
func (p *replayPage) addPlots(n *tui.Menu) {
	words := map[chartKind]string{chartQPS: "qps", chartFront: "front", chartLatency: "latency"}
	for _, kind := range p.kinds {
		word := words[kind]
		n.Items = append(n.Items, tui.MenuItem{Text: "plot of " + word, Note: "svg", Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd {
			return tui.Save(m, tui.FileName("replay", word)+".svg", func(w io.Writer) error {
				return replays.PlotResults(w, p.series(), replays.PlotOptions{Kind: word, Format: "svg"})
			})
		}})
	}
}

// series is the result as plots and pages name it.
func (p *replayPage) series() []replays.Series {
	if p.data.Result == nil {
		return nil
	}
	name := strings.TrimSuffix(p.data.Name, ".json")
	if name == "" {
		name = p.data.Result.Setup.Collection
	}
	return []replays.Series{{Name: name, Result: p.data.Result}}
}

func (p *replayPage) writeHTML(w io.Writer) error {
	version := ""
	switch d := p.data; {
	case d.Result != nil:
		version = d.Result.Setup.Program
	case d.Report != nil:
		version = d.Report.Setup.Program
	}
	return replays.WriteHTML(w, p.series(), p.data.Report, version)
}

// reportWriter writes in a format of reports.
func reportWriter(word string, write func(io.Writer, render.Format) error) func(io.Writer) error {
	return func(w io.Writer) error {
		format, err := render.ReportFormats().Parse(word)
		if err != nil {
			return err
		}
		return write(w, format)
	}
}
