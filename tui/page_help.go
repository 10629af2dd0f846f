package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/view"
	"kitescope/tui/draw"
)

// helpPage lists the keys, those of the page it was opened from first, and the commands, pages and resources.
type helpPage struct {
	Pane
	from      Page // the page that help was opened from
	pages     []PageKind
	resources []*view.Resource
	all       []Binding // the bindings that are relevant here
	words     []Word
	noCluster bool // the UI has no cluster
}

func helpKind() PageKind {
	return PageKind{
		Name: "help", Aliases: []string{"?"}, Doc: "Keys of the page, then all keys.", Open: newHelpPage,
		WithoutCluster: true,
	}
}

func newHelpPage(m *Model, _ []string) (Page, error) {
	p := &helpPage{
		from: m.Top(), pages: m.pages(), resources: m.resources(), all: slices.Clone(m.keys.all),
		words: paletteWords(m), noCluster: m.Config.First != nil,
	}
	if p.noCluster {
		about := pageKeys(m.kinds, m.Config.First.Scope())
		p.all = slices.DeleteFunc(p.all, func(b Binding) bool {
			return b.In&(about|InHelp|InPrompt|InMenu) == 0 || b.Group == GroupTime || b.Action == ActGoFindings
		})
	}
	return p, nil
}

// pageKeys returns all scopes of the first page kind that has keys of its own in the given scope, or 0.
func pageKeys(kinds []PageKind, page Scope) (scope Scope) {
	for _, k := range kinds {
		if slices.ContainsFunc(k.Keys, func(b Binding) bool { return b.In&page != 0 }) {
			for _, b := range k.Keys {
				scope |= b.In
			}
			return scope
		}
	}
	return 0
}

func (p *helpPage) Scope() Scope          { return InHelp }
func (p *helpPage) Crumb() string         { return "help" }
func (p *helpPage) Refresh(*Model) Cmd    { return nil }
func (p *helpPage) Command(*Model) string { return "" }

func (p *helpPage) Body(m *Model, w, h int) []string {
	if p.madeFor != w {
		p.set(wrapHelp(p.text(), w), w)
	}
	return p.draw(m.Styles, w, h)
}

func (p *helpPage) text() []draw.TextLine {
	lines := p.keyLines()
	lines = append(lines, draw.TextLine{}, draw.TextLine{Text: "JUMP WITH :", Look: draw.LookTitle})
	for _, x := range p.words {
		lines = append(lines, jumpLine(x.Text, nil, x.Doc))
	}
	for _, x := range p.pages {
		lines = append(lines, jumpLine(x.Name, x.Aliases, x.Doc))
	}
	for _, r := range p.resources {
		lines = append(lines, jumpLine(r.Name, r.Aliases, r.Doc))
	}
	if !p.noCluster {
		lines = append(lines, filterLines()...)
	}
	lines = append(lines, draw.TextLine{}, draw.TextLine{Text: "SYMBOLS", Look: draw.LookTitle})
	for _, x := range [][2]string{
		{"+ ~", "The last refresh added or changed the row."},
		{"◆", "The row is marked."},
		{"- ?", "No value; not checked."},
		{"✓ ◌ ▲ ✖", "Healthy, in progress, warning, broken; in benchmarks: ✓ better, ✖ worse."},
		{"≈ ≠ ·", "In benchmarks: no difference shown; changed, direction unknown; on one side only."},
	} {
		lines = append(lines, helpLine(x[0], x[1]))
	}
	return lines
}

// filterLines explains the syntax of table filters.
func filterLines() []draw.TextLine {
	lines := []draw.TextLine{{}, {Text: "FILTER WITH /", Look: draw.LookTitle}}
	for _, x := range [][2]string{
		{"growing", "Rows that contain the text, ignoring case. Several words: all must match."},
		{"re:^docs_", "Rows with a cell that matches the regular expression, ignoring case."},
		{"!dropped", "Rows without it; also !re: and !col=value."},
		{"state=growing", "A condition on a column, as on the command line: = != ~ > >= < <=."},
		{"rows>1e6", "Numbers with units: 1e6, 10k, 64MiB, 5m."},
		{`"two words"`, "Quotes keep words together."},
	} {
		lines = append(lines, helpLine(x[0], x[1]))
	}
	return lines
}

// wrapHelp wraps explanations that are longer than a line.
func wrapHelp(lines []draw.TextLine, w int) []draw.TextLine {
	var out []draw.TextLine
	for _, l := range lines {
		room := w - draw.Width(l.Label) - 3
		if l.Look != draw.LookKey || draw.Width(l.Text) <= room {
			out = append(out, l)
			continue
		}
		for part := range strings.SplitSeq(ansi.Wordwrap(l.Text, room, ""), "\n") {
			out = append(out, draw.TextLine{Label: l.Label, Text: part, Look: draw.LookKey})
			l.Label = draw.Pad(draw.Width(l.Label))
		}
	}
	return out
}

// jumpLine formats a page with its first alias that is shorter than its name.
func jumpLine(name string, aliases []string, doc string) draw.TextLine {
	for _, a := range aliases {
		if len(a) < len(name) {
			name += " " + a
			break
		}
	}
	return draw.TextLine{Label: "  " + draw.Fit(name, 26), Text: doc, Look: draw.LookKey}
}

func helpLine(left, right string) draw.TextLine {
	if draw.Width(left) > 19 {
		left += " "
	}
	return draw.TextLine{Label: "  " + draw.Fit(left, max(20, draw.Width(left))), Text: right, Look: draw.LookKey}
}
