// Package replays has the UI page for a replay: the progress while a Feed measures (feed.go), then the report of
// the result or prediction, formatted as on the command line, in a window that scrolls.
package replays

import (
	"errors"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/replays"
	"kitescope/replay"
	"kitescope/replay/whatif"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// replayPages holds the state that all pages about a replay share.
type replayPages struct {
	data     *Data
	measured *measurement // nil if this UI does not measure
}

// Pages returns the pages about a replay; data is nil if there is none.
func Pages(data *Data) []tui.PageKind { return (&replayPages{data: data}).kinds() }

func (r *replayPages) kinds() []tui.PageKind {
	return []tui.PageKind{{
		Name: "replay", Doc: "A replay: recall, latency, where the time goes, what changes would gain.", Open: r.open,
		WithoutCluster: true, Empty: func(*tui.Model) bool { return r.data.empty() }, Keys: []tui.Binding{
			{
				Action: tui.ActCopyRow, Keys: []string{"y"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "copy",
				Doc: "Copy the report.", Weight: 25,
			},
			{
				Action: tui.ActSave, Keys: []string{"s"}, In: tui.InReplay, Group: tui.GroupReplays, Hint: "save",
				Doc:    "Save the result as JSON, its points or segments as CSV, or a report. Asks for the path.",
				Weight: 30,
			},
		},
	}}
}

// open opens ":replay".
func (r *replayPages) open(m *tui.Model, _ []string) (tui.Page, error) {
	switch {
	case r.data.empty() && r.measured != nil:
		return nil, errors.New("no result yet")
	case r.data.empty():
		return nil, errors.New("no replay here: run kitescope replay, or open one with replay show --ui")
	}
	return r.newPage(m.Config.Args), nil
}

// replayPage is the progress of a replay, then its report.
type replayPage struct {
	pages *replayPages
	data  *Data    // nil until there is something to show
	words []string // the arguments after "replay" on a command line; nil if no command prints the replay
	err   error    // of the feed

	lines   []string // of the report, with escape sequences
	madeFor frame
	tui.Window
}

// frame holds the width and the styles that lines were made for.
type frame struct {
	w      int
	styles *draw.Styles
}

// newPage returns a page with the replay, if there is one yet.
func (r *replayPages) newPage(words []string) *replayPage {
	p := &replayPage{pages: r, words: words}
	if !r.data.empty() {
		p.show(r.data)
	}
	return p
}

func (p *replayPage) show(d *Data) {
	p.data, p.lines, p.Top = d, nil, 0
	if len(d.Words) > 0 {
		p.words = d.Words
	}
}

func (p *replayPage) measuring() bool { return p.pages.measured != nil && !p.pages.measured.done }

// Scope implements tui.Page.
func (p *replayPage) Scope() tui.Scope { return tui.InReplay }

// Crumb implements tui.Page.
func (p *replayPage) Crumb() string {
	if p.data == nil || p.data.Name == "" {
		return "replay"
	}
	return "replay " + draw.CutName(words.Sanitize(p.data.Name), 40)
}

// Note implements tui.Page.
func (p *replayPage) Note(*tui.Model) string {
	switch {
	case p.measuring() && p.pages.measured.stopping:
		return "stopping"
	case p.measuring():
		return "measuring: q stops it"
	}
	return p.Position()
}

// Refresh implements tui.Page.
func (p *replayPage) Refresh(m *tui.Model) tui.Cmd {
	if p.measuring() {
		return p.pages.measured.tick(m)
	}
	return nil
}

// Command implements tui.Page.
func (p *replayPage) Command(*tui.Model) string {
	if len(p.words) == 0 {
		return ""
	}
	return shellquote.Shell("replay").Word(p.words...).String()
}

// Body implements tui.Page.
func (p *replayPage) Body(m *tui.Model, w, h int) []string {
	var lines []string
	if text := p.trouble(); text != "" {
		lines = append(lines, " "+m.Styles.Bad.On(draw.Cut(render.Glyph(render.RoleBad, m.Config.ASCII)+" "+text, w-2)))
	}
	switch {
	case p.data == nil && p.pages.measured == nil:
		return append(append(lines, ""), draw.Sentence(m.Styles, "nothing to show", w)...)
	case p.data == nil:
		for _, l := range p.pages.measured.lines(w-2, h-len(lines), m.Config.ASCII) {
			lines = append(lines, " "+l.Styled(m.Styles))
		}
		return lines
	}
	p.layOut(m, w)
	p.Fit(len(p.lines), h-len(lines))
	from, to := p.Visible()
	return append(lines, p.lines[from:to]...)
}

// trouble returns the reason why the result is missing or incomplete, or "" without an error.
func (p *replayPage) trouble() string {
	switch {
	case p.err == nil:
		return ""
	case p.data == nil && p.pages.measured.stopping:
		return "stopped before anything was measured: q quits"
	}
	return words.Sanitize(words.OneLine(p.err.Error()))
}

// layOut makes the lines of the report unless they exist already.
func (p *replayPage) layOut(m *tui.Model, w int) {
	f := frame{w, m.Styles}
	if p.madeFor == f && p.lines != nil {
		return
	}
	p.madeFor, p.lines = f, nil
	o := render.Options{Width: w - 2, ASCII: m.Config.ASCII, Color: !m.Styles.NoColor, Theme: m.Styles.Theme}
	for line := range strings.Lines(p.report(o)) {
		p.lines = append(p.lines, " "+ansi.Truncate(strings.TrimSuffix(line, "\n"), w-2, ""))
	}
}

// maxSegments is the number of segments, requests and nodes that a page lists at most.
const maxSegments = 100

// report returns the report of the result and of the prediction as a table.
func (p *replayPage) report(o render.Options) string {
	var b strings.Builder
	write := func(write func(io.Writer, render.Format, render.ReportOptions) error) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if err := writeAs("table", write, render.ReportOptions{Options: o, Limit: maxSegments})(&b); err != nil {
			b.WriteString(words.Sanitize(err.Error()) + "\n")
		}
	}
	if p.data.Result != nil {
		write(p.writeResult)
	}
	if p.data.Report != nil {
		write(p.writeWhatIf)
	}
	return b.String()
}

func (p *replayPage) writeResult(w io.Writer, f render.Format, o render.ReportOptions) error {
	return replays.WriteResult(w, p.data.Result, f, o)
}

func (p *replayPage) writeWhatIf(w io.Writer, f render.Format, o render.ReportOptions) error {
	return replays.WriteWhatIf(w, p.data.Report, f, o)
}

// writeAs returns a function that writes a report in the named format.
func writeAs(
	word string, write func(io.Writer, render.Format, render.ReportOptions) error, o render.ReportOptions,
) func(io.Writer) error {
	return func(w io.Writer) error {
		format, err := render.ReportFormats().Parse(word)
		if err != nil {
			return err
		}
		return write(w, format, o)
	}
}

// Can implements tui.Page.
func (p *replayPage) Can(_ *tui.Model, a tui.Action) string {
	if p.data == nil && (a == tui.ActCopyRow || a == tui.ActSave) {
		return "no result yet"
	}
	return ""
}

// Act implements tui.Page.
func (p *replayPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	switch a {
	case tui.ActBack:
		return m.Back()
	case tui.ActCopyRow:
		return m.Copy(p.report(render.Options{Width: m.Width - 2, ASCII: m.Config.ASCII}), "the report")
	case tui.ActSave:
		m.Menu = p.saveMenu()
	default:
		p.Move(a)
	}
	return nil
}

// saveMenu offers the result and the prediction in the formats of the commands, and reports.
func (p *replayPage) saveMenu() *tui.Menu {
	n := &tui.Menu{Title: "save the replay"}
	add := func(text, note, word, ending string, write func(io.Writer) error) {
		n.Items = append(n.Items, tui.MenuItem{Text: text, Note: note, Run: func(m *tui.Model, _ *tui.Menu) tui.Cmd {
			return tui.Save(m, tui.FileName("replay", word)+"."+ending, write)
		}})
	}
	if r := p.data.Result; r != nil {
		add("result", "json, for replay show", "", "json", func(w io.Writer) error { return replay.WriteResult(w, r) })
		add("points", "csv, all values", "points", "csv", writeAs("csv", p.writeResult, render.ReportOptions{}))
		if r.Costs != nil {
			add("segment costs", "csv, all values", "segments", "csv",
				writeAs("csv", func(w io.Writer, f render.Format, o render.ReportOptions) error {
					return replays.WriteCosts(w, r, f, o)
				}, render.ReportOptions{}))
		}
		add("report", "markdown", "", "md", writeAs("markdown", p.writeResult, render.ReportOptions{}))
	}
	if r := p.data.Report; r != nil {
		add("prediction", "json, for replay show", "whatif", "json",
			func(w io.Writer) error { return whatif.WriteReport(w, r) })
		add("prediction", "markdown", "whatif", "md", writeAs("markdown", p.writeWhatIf, render.ReportOptions{}))
	}
	add("report with plots", "html", "", "html", p.writeHTML)
	return n
}

func (p *replayPage) writeHTML(w io.Writer) error {
	var series []replays.Series
	var setup *replay.Setup
	if r := p.data.Report; r != nil {
		setup = &r.Setup
	}
	if r := p.data.Result; r != nil {
		setup = &r.Setup
		name := strings.TrimSuffix(p.data.Name, ".json")
		if name == "" {
			name = r.Setup.Collection
		}
		series = []replays.Series{{Name: name, Result: r}}
	}
	return replays.WriteHTML(w, series, p.data.Report, setup.Program)
}
