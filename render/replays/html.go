package replays

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"kitescope/doc"
	"kitescope/render"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/whatif"
	"kitescope/table"
	"kitescope/words"
	"kitescope/words/hints"
)

// WriteHTML writes one page that needs nothing but itself: figures, plots, tables and what is needed to repeat it. The first of
// several results is what the others are compared with. There may be no results or no report, but not neither. Version is kitescope's.
func WriteHTML(w io.Writer, results []Series, report *whatif.Report, version string) error {
	if len(results) == 0 && report == nil {
		return errors.New("report: there is no result")
	}
	t, err := template.New("replay").Parse(replayTemplate)
	if err != nil {
		return err
	}
	page, err := newReplayPage(results, report, version)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	out := doc.NewOutput(w, doc.Pieces)
	if err := t.Execute(&out, page); err != nil {
		return err
	}
	return out.Flush()
}

// replayPage is what the page is made of. Its texts are harmless, and the template escapes them.
type replayPage struct {
	Title, Setup, Version string
	Sections              []replaySection
}

// replaySection is a heading with what stands below.
type replaySection struct {
	Title   string
	Cards   []replayCard
	Lines   []replayLine
	Figures []replayFigure
	Tables  []replayTable
	Facts   []render.Fact
}

// replayCard is a figure that is to be seen first.
type replayCard struct{ Name, Value, Note string }

// replayLine is a line of prose, or a figure with its name; Named tells which: one that goes on with the figure above has no name.
type replayLine struct {
	Class, Text string
	Named       bool
	Name        string
}

// replayFigure is a plot for light and for dark backgrounds.
type replayFigure struct {
	Name        string
	Light, Dark template.HTML
}

type replayTable struct {
	Title string
	Notes []replayLine
	Heads []replayCell
	Rows  [][]replayCell
}

type replayCell struct {
	Text, Class string
}

// Limits of a page: what is left out, it says.
const (
	htmlSegments = 25
	htmlSlow     = 10
)

func newReplayPage(results []Series, report *whatif.Report, version string) (*replayPage, error) {
	p := &replayPage{Version: render.Harmless(version)}
	o := &render.ReportOptions{Limit: htmlSegments}
	if len(results) > 0 {
		p.Title, p.Setup = Title(results[0].Result), setupText(&results[0].Result.Setup, o)
	} else {
		p.Title, p.Setup = "What if: "+render.OrUnknown(report.Setup.Collection), setupText(&report.Setup, o)
	}
	for i := range results {
		title := "What was measured"
		if len(results) > 1 {
			title = results[i].name(i)
		}
		p.Sections = append(p.Sections, measuredSection(title, results[i].Result, o))
	}
	if len(results) == 2 {
		p.Sections = append(p.Sections, comparedSection(results, o))
	}
	if len(results) > 0 {
		s := replaySection{Title: "Pictures"}
		for _, kind := range PlotNames() {
			if (kind == "qps" || kind == "front") && !slices.ContainsFunc(results, func(s Series) bool { return sweep(s.Result) }) {
				continue // of a dot nobody learns anything
			}
			if err := s.add(kind, func(b *bytes.Buffer, o PlotOptions) error { return PlotResults(b, results, o) }); err != nil {
				return nil, err
			}
		}
		p.Sections = append(p.Sections, s)
	}
	if report != nil {
		s, err := whatIfSection(report, o)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, s)
	}
	for i := range results {
		title := ""
		if len(results) > 1 {
			title = ": " + results[i].name(i)
		}
		if s := costSection("Where the time went"+title, results[i].Result, o); s != nil {
			p.Sections = append(p.Sections, *s)
		}
	}
	for i := range results {
		title := "To repeat it"
		if len(results) > 1 {
			title += ": " + results[i].name(i)
		}
		p.Sections = append(p.Sections, replaySection{Title: title, Facts: repeatFacts(results[i].Result)})
	}
	if len(results) == 0 {
		p.Sections = append(p.Sections, replaySection{Title: "To repeat it", Facts: repeatFacts(&replay.Result{Setup: report.Setup})})
	}
	return p, nil
}

// measuredSection has what a run found, or the table of a sweep.
func measuredSection(title string, r *replay.Result, o *render.ReportOptions) replaySection {
	s := replaySection{Title: title}
	if r.Stopped != "" {
		s.Lines = append(s.Lines, replayLine{Class: "bad", Text: "Stopped: " + render.Harmless(r.Stopped) + ". What follows is of what was done until then."})
	}
	if sweep(r) {
		front := load.OnFront(r.Points)
		part := render.Ask(o, pointTable(r.Points, front, o), render.Unbounded[*load.Point](o)).List("")
		part.Head = sweepHead(r.Points, front, o)
		s.Tables = append(s.Tables, partTable(&part, true))
	} else if len(r.Points) == 1 {
		s.Cards = pointCards(&r.Points[0], r, o)
		s.Lines = append(s.Lines, sheetLines(pointLines(&r.Points[0], o))...)
	}
	s.Lines = append(s.Lines, sheetLines(coverageLines(&r.Cover, o))...)
	if len(r.Points) > 0 {
		s.Lines = append(s.Lines, sheetLines(recallLines(r, o))...)
		s.Lines = append(s.Lines, sheetLines(differenceLines(r, o))...)
	}
	for _, n := range r.Notes {
		s.Lines = append(s.Lines, replayLine{Class: "dim", Text: "note: " + render.Harmless(n)})
	}
	return s
}

func pointCards(p *load.Point, r *replay.Result, o *render.ReportOptions) []replayCard {
	note := "one round: no interval"
	if hasInterval(p) {
		note = "95% CI " + words.ThreeDigits(p.QPSLow) + " to " + words.ThreeDigits(p.QPSHigh)
	}
	cards := []replayCard{
		{"queries per second", words.ThreeDigits(p.QPS), note},
		{"p50", latencyOf(&p.Latency, p.Latency.P50, o), "latency of the middle"},
		{"p99", latencyOf(&p.Latency, p.Latency.P99, o), "1 of 100 takes longer"},
		{"CPU of a query", knownLatency(p.CPUPerQuery, o), toldText(p.DistancesPerQuery) + " distances"},
		{"failed", failsText(p), "of " + words.Count(p.Asked, "request", "requests")},
	}
	if r.Recall != nil {
		cards = append(cards, replayCard{"recall", RecallText(r.Recall.Mean), "the worst query has " + RecallText(r.Recall.Worst)})
	}
	return cards
}

func comparedSection(results []Series, o *render.ReportOptions) replaySection {
	changes := load.Compare(results[0].Result.Points, results[1].Result.Points)
	sheet := newReplayComparisonSheet(results[0].Result, results[1].Result, changes, o)
	s := replaySection{Title: sheet.Head[0].Text, Lines: sheetLines(sheet.Head[1:])}
	for i := range sheet.Parts {
		s.Tables = append(s.Tables, partTable(&sheet.Parts[i], true))
	}
	s.Lines = append(s.Lines, sheetLines(sheet.Foot)...)
	return s
}

// costSection is nil if nobody tells where the time went.
func costSection(title string, r *replay.Result, o *render.ReportOptions) *replaySection {
	if r.Costs == nil || len(r.Costs.Segments) == 0 {
		return nil
	}
	s := &replaySection{Title: title}
	parts := costParts(r, o)
	for i := range parts {
		s.Tables = append(s.Tables, partTable(&parts[i], i == len(parts)-1))
	}
	slow := *o
	slow.Limit = htmlSlow
	parts = slowParts(r, &slow)
	for i := range parts {
		s.Tables = append(s.Tables, partTable(&parts[i], true))
	}
	return s
}

func whatIfSection(r *whatif.Report, o *render.ReportOptions) (replaySection, error) {
	list := predictions(r)
	s := replaySection{Title: "What if: at " + simulatedLoadText(&r.Load), Lines: sheetLines(answerLines(r, o))}
	for i := range s.Lines {
		s.Lines[i] = replayLine{Class: "verdict", Text: s.Lines[i].Text}
	}
	parts := []render.Part{
		render.Ask(o, predictionTable(r, list, o), render.Unbounded[*whatif.Prediction](o)).List(""),
		{List: render.Places(len(list), splitColumns(r, list, o))},
	}
	parts = append(parts, trustParts(r, o)...)
	causes := render.Part{Head: causeLines(r, o)}
	for i := range parts {
		s.Tables = append(s.Tables, partTable(&parts[i], true))
	}
	s.Tables = append(s.Tables, partTable(&causes, true))
	for _, p := range list {
		for _, n := range p.Notes {
			s.Lines = append(s.Lines, replayLine{Class: "dim", Text: "note: " + ChangeName(r, p) + ": " + render.Harmless(n)})
		}
	}
	for _, n := range r.Notes {
		s.Lines = append(s.Lines, replayLine{Class: "dim", Text: "note: " + render.Harmless(n)})
	}
	return s, s.add("what if", func(b *bytes.Buffer, o PlotOptions) error { return PlotWhatIf(b, r, o) })
}

// add draws a plot, if there is something to draw.
func (s *replaySection) add(kind string, write func(b *bytes.Buffer, o PlotOptions) error) error {
	var light, dark bytes.Buffer
	err := write(&light, PlotOptions{Kind: kind, Format: "svg"})
	if hints.Carried(err) {
		return nil
	}
	if err == nil {
		err = write(&dark, PlotOptions{Kind: kind, Format: "svg", Dark: true})
	}
	if err != nil {
		return err
	}
	s.Figures = append(s.Figures, replayFigure{kind, inlineSVG(light.String()), inlineSVG(dark.String())})
	return nil
}

// inlineSVG is a picture of ours as an element of a page, as wide as there is room. The writer of SVG has escaped what texts are in it.
func inlineSVG(s string) template.HTML {
	_, s, _ = strings.Cut(s, "viewBox=")
	return template.HTML("<svg viewBox=" + strings.TrimSpace(s)) //nolint:gosec // our own picture, of escaped text
}

// sheetLines are lines of a sheet.
func sheetLines(list []render.Line) []replayLine {
	var out []replayLine
	for i := range list {
		l := &list[i]
		line := replayLine{Class: roleClass(l.Role), Text: strings.TrimSuffix(strings.TrimSpace(l.All()), limitHint)}
		if line.Text == "" {
			continue
		}
		if len(l.After) == 1 && l.Whole { // of labelled
			line = replayLine{Class: roleClass(l.After[0].Role), Text: l.After[0].Text, Named: true, Name: strings.TrimSpace(l.Text)}
		}
		out = append(out, line)
	}
	return out
}

func roleClass(r render.Role) string {
	switch r {
	case render.RoleDim:
		return "dim"
	case render.RoleGood:
		return "good"
	case render.RoleWarn:
		return "warn"
	case render.RoleBad:
		return "bad"
	case render.RoleTitle:
		return "title"
	case render.RolePlain, render.RoleAccent, render.RoleProgress, render.RoleAdded, render.RoleRemoved, render.RoleChanged, render.RoleSelected, render.RoleMore, render.RoleLess, table.Roles:
	}
	return ""
}

// partTable is a table of a sheet. Bars of letters are left to the pictures.
func partTable(p *render.Part, notes bool) replayTable {
	var t replayTable
	if notes {
		t.Notes = sheetLines(p.Head)
		if len(t.Notes) > 0 && t.Notes[0].Class == "title" {
			t.Title, t.Notes = t.Notes[0].Text, t.Notes[1:]
		}
	}
	if p.List == nil {
		return t
	}
	g := p.List(table.Always)
	g.Columns = slices.DeleteFunc(g.Columns, func(i int) bool {
		title := g.Table.Schema().Columns[i].Title
		return title == "" || title == "SPLIT"
	})
	for j := range g.Columns {
		c := g.Column(j)
		t.Heads = append(t.Heads, replayCell{strings.TrimSpace(c.Title), []string{"", "n"}[render.BoolInt(c.RightAligned())]})
	}
	for i := range g.Len() {
		cells := make([]replayCell, len(t.Heads))
		for j := range cells {
			text, role := render.Seen(g, i, j)
			cells[j] = replayCell{strings.TrimSpace(text), strings.TrimSpace(t.Heads[j].Class + " " + roleClass(role))}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
