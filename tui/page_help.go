package tui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/view"
	"kitescope/tui/draw"
)

// helpPage is the key map for people, with everything that can be typed.
type helpPage struct {
	pane
	pages     []PageKind
	resources []*view.Resource
	kinds     []PageKind
	keys      []binding
	bare      bool // there is no cluster
}

func helpKind() PageKind {
	return PageKind{name: "help", aliases: []string{"?"}, doc: "Every key.", open: newHelpPage, bare: true}
}

func newHelpPage(m *Model, _ []string) (page, error) {
	p := &helpPage{pages: m.pages(), resources: m.resources(), kinds: m.kinds, keys: slices.Clone(m.keys.all), bare: m.cfg.First != nil}
	if p.bare {
		about, _ := ownKeys(m.kinds, m.cfg.First.scope())
		p.keys = slices.DeleteFunc(p.keys, func(b binding) bool { return b.in&(about|inHelp|inPrompt|inMenu) == 0 })
	}
	here := m.stack.top().scope()
	if about, first := ownKeys(m.kinds, here); about != 0 { // who asks there wants to know these, and first what works there
		slices.SortStableFunc(p.keys, func(a, b binding) int {
			return cmp.Or(boolOrder(a.group != first, b.group != first), boolOrder(a.group == first && a.in&here == 0, b.group == first && b.in&here == 0))
		})
	}
	return p, nil
}

// ownKeys are the pages that a kind with keys of its own for some page has them for, and the group that those keys are in.
func ownKeys(kinds []PageKind, page scope) (about scope, group string) {
	for _, k := range kinds {
		if slices.ContainsFunc(k.keys, func(b binding) bool { return b.in&page != 0 }) {
			for _, b := range k.keys {
				about |= b.in
			}
			return about, k.keys[0].group
		}
	}
	return 0, ""
}

func (p *helpPage) scope() scope          { return inHelp }
func (p *helpPage) crumb() string         { return "help" }
func (p *helpPage) note(*Model) string    { return p.position() }
func (p *helpPage) refresh(*Model) cmd    { return nil }
func (p *helpPage) command(*Model) string { return "" }
func (p *helpPage) can(_ *Model, a action) string {
	if a == actSearchNext && p.search == "" {
		return "search with / first"
	}
	return ""
}

func (p *helpPage) act(m *Model, a action) cmd {
	if p.move(a) {
		return nil
	}
	switch a {
	case actFilter:
		m.prompt = p.searchPrompt()
	case actBack:
		if p.search != "" {
			p.find("")
			return nil
		}
		return m.back()
	default:
	}
	return nil
}

func (p *helpPage) body(m *Model, w, h int) []string {
	if p.madeFor != w {
		p.set(wrapHelp(p.text(), w), w)
	}
	return p.draw(m.st, w, h)
}

func (p *helpPage) text() []paneLine {
	lines := p.keyLines()
	lines = append(lines, paneLine{}, paneLine{text: "JUMP WITH :", look: lineTitle})
	for _, x := range paletteWords() {
		lines = append(lines, jumpLine(x.text, nil, x.doc))
	}
	for _, x := range p.pages {
		lines = append(lines, jumpLine(x.name, x.aliases, x.doc))
	}
	for _, r := range p.resources {
		lines = append(lines, jumpLine(r.Name, r.Aliases, r.Doc))
	}
	if !p.bare {
		lines = append(lines, filterLines()...)
	}
	lines = append(lines, paneLine{}, paneLine{text: "SIGNS", look: lineTitle})
	for _, x := range [][2]string{
		{"+ ~", "The last refresh added or changed the row."},
		{"◆", "The row is marked."},
		{"- ?", "There is no value; nobody looked."},
		{"✓ ◌ ▲ ✖", "Fine, on its way, look at it, broken; of benchmarks: ✓ better, ✖ worse."},
		{"≈ ≠ ·", "Of benchmarks: no difference shown; changed, and nobody said which way is better; on one side only."},
	} {
		lines = append(lines, helpLine(x[0], x[1]))
	}
	return lines
}

// filterLines are what can be typed to filter tables.
func filterLines() []paneLine {
	lines := []paneLine{{}, {text: "FILTER WITH /", look: lineTitle}}
	for _, x := range [][2]string{
		{"growing", "Rows in which the text occurs, in any case. Several words: all of them."},
		{"re:^docs_", "Rows with a cell that the regular expression matches, in any case."},
		{"!dropped", "Rows without it; also !re: and !col=value."},
		{"state=growing", "A condition on a column, as on the command line: = != ~ > >= < <=."},
		{"rows>1e6", "Numbers with units: 1e6, 10k, 64MiB, 5m."},
		{`"two words"`, "Quotes keep blanks together."},
	} {
		lines = append(lines, helpLine(x[0], x[1]))
	}
	return lines
}

// keyLines is the key map by group.
func (p *helpPage) keyLines() []paneLine {
	var lines []paneLine
	group := ""
	for _, b := range p.keys {
		if b.group != group {
			if group != "" {
				lines = append(lines, paneLine{})
			}
			group = b.group
			lines = append(lines, paneLine{text: strings.ToUpper(group), look: lineTitle})
		}
		names := make([]string, len(b.keys))
		for i, k := range b.keys {
			names[i] = shown(k)
		}
		doc := b.doc
		if b.in != inPages && b.in != inPages&^inHelp && b.in != inPages&^inOverview && b.in&inPages != 0 && b.group != groupGo {
			doc += " (" + strings.Join(b.in.names(p.kinds), ", ") + ")"
		}
		lines = append(lines, helpLine(strings.Join(names, " "), doc))
	}
	return lines
}

// wrapHelp breaks explanations that are longer than a line.
func wrapHelp(lines []paneLine, w int) []paneLine {
	var out []paneLine
	for _, l := range lines {
		room := w - draw.Width(l.label) - 3
		if l.look != lineKey || draw.Width(l.text) <= room {
			out = append(out, l)
			continue
		}
		for part := range strings.SplitSeq(ansi.Wordwrap(l.text, room, ""), "\n") {
			out = append(out, paneLine{label: l.label, text: part, look: lineKey})
			l.label = draw.Pad(draw.Width(l.label))
		}
	}
	return out
}

// jumpLine is a page with its shortest other name.
func jumpLine(name string, aliases []string, doc string) paneLine {
	for _, a := range aliases {
		if len(a) < len(name) {
			name += " " + a
			break
		}
	}
	return paneLine{label: "  " + draw.Fit(name, 26), text: doc, look: lineKey}
}

func helpLine(left, right string) paneLine {
	if draw.Width(left) > 19 {
		left += " "
	}
	return paneLine{label: "  " + draw.Fit(left, max(20, draw.Width(left))), text: right, look: lineKey}
}
