package profiles

import (
	"context"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/profile/bench"
	"kitescope/render"
	"kitescope/render/builds"
	"kitescope/tui"
	"kitescope/tui/draw"
)

// reportPage shows a report about builds in a window that scrolls, formatted as its command prints it.
type reportPage struct {
	tui.Window
	verb  []string // of the command that prints the report
	words []string // arguments of that command; nil if no command prints the report
	write func(io.Writer, render.Format, render.ReportOptions) error

	lines   []string // of the report, with escape sequences
	madeFor reportFrame
}

// reportFrame holds the width and the styles that lines were made for.
type reportFrame struct {
	w      int
	styles *draw.Styles
}

// RunComparison is tui.Run for a comparison of benchmark results. cfg.Feed must be nil. cfg.Args are the arguments of
// "compare".
func RunComparison(ctx context.Context, cfg tui.Config, c *bench.Comparison) error {
	return tui.Run(ctx, comparisonConfig(cfg, c))
}

// comparisonConfig returns cfg with the comparison as the first page.
func comparisonConfig(cfg tui.Config, c *bench.Comparison) tui.Config {
	p := &reportPage{verb: []string{"compare"}, words: cfg.Args}
	p.write = func(w io.Writer, f render.Format, o render.ReportOptions) error {
		return builds.WriteComparison(w, c, f, o)
	}
	cfg.First, cfg.Content = p, "only a comparison"
	cfg.Pages = append(Pages(nil), cfg.Pages...)
	return cfg
}

func (p *reportPage) Scope() tui.Scope           { return tui.InReport }
func (p *reportPage) Crumb() string              { return p.verb[len(p.verb)-1] }
func (p *reportPage) Note(*tui.Model) string     { return p.Position() }
func (p *reportPage) Refresh(*tui.Model) tui.Cmd { return nil }

func (p *reportPage) Command(*tui.Model) string {
	if len(p.words) == 0 {
		return ""
	}
	return shellquote.Shell(p.verb...).Word(p.words...).String()
}

func (p *reportPage) Body(m *tui.Model, w, h int) []string {
	if f := (reportFrame{w, m.Styles}); p.madeFor != f {
		p.madeFor, p.lines = f, nil
		o := render.Options{Width: w - 2, ASCII: m.Config.ASCII, Color: !m.Styles.NoColor, Theme: m.Styles.Theme}
		for line := range strings.Lines(p.text(o)) {
			p.lines = append(p.lines, " "+ansi.Truncate(strings.TrimSuffix(line, "\n"), w-2, ""))
		}
	}
	p.Fit(len(p.lines), h)
	from, to := p.Visible()
	return p.lines[from:to]
}

// text returns the report as a table.
func (p *reportPage) text(o render.Options) string {
	var b strings.Builder
	format, err := render.ReportFormats().Parse("table")
	if err == nil {
		err = p.write(&b, format, render.ReportOptions{Options: o})
	}
	if err != nil {
		b.WriteString(words.Sanitize(err.Error()) + "\n")
	}
	return b.String()
}

func (p *reportPage) Can(_ *tui.Model, a tui.Action) string {
	if p.write == nil && (a == tui.ActCopyRow || a == tui.ActSave) {
		return "no report yet"
	}
	return ""
}

func (p *reportPage) Act(m *tui.Model, a tui.Action) tui.Cmd {
	switch a {
	case tui.ActBack:
		return m.Back()
	case tui.ActCopyRow:
		return m.Copy(p.text(render.Options{Width: m.Width - 2, ASCII: m.Config.ASCII}), "the report")
	case tui.ActSave:
		m.Menu = p.saveMenu()
	default:
		p.Move(a)
	}
	return nil
}

// saveMenu offers the formats of the report.
func (p *reportPage) saveMenu() *tui.Menu {
	name := strings.Join(p.verb, "-")
	return tui.SaveReport("save the report", name, func(w io.Writer, f render.Format) error {
		return p.write(w, f, render.ReportOptions{})
	})
}
