package tui

import (
	"strings"

	"kitescope/tui/draw"
)

// isEverywhere reports whether a binding applies to all pages, possibly except help.
func isEverywhere(b *Binding) bool { return (b.In|InHelp)&InPages == InPages }

// keyLines returns the keys of the page that the help is about, then those of all pages and of input modes.
func (p *helpPage) keyLines() []draw.TextLine {
	here := p.from.Scope()
	own := func(b *Binding) bool { return b.In&here != 0 && !isEverywhere(b) }
	lines := p.groups(strings.ToUpper(p.from.Crumb()), own)
	return append(lines, p.groups("", func(b *Binding) bool { return isEverywhere(b) || b.In&InPages == 0 })...)
}

// groups returns the selected bindings by group. Titles start with where if it is not empty.
func (p *helpPage) groups(where string, wanted func(b *Binding) bool) []draw.TextLine {
	var lines []draw.TextLine
	group := ""
	for i := range p.all {
		b := &p.all[i]
		if !wanted(b) {
			continue
		}
		if b.Group != group {
			if group = b.Group; len(lines) > 0 {
				lines = append(lines, draw.TextLine{})
			}
			title := strings.ToUpper(group)
			if where != "" && b.In&InPages != 0 {
				title = where + ": " + title
			}
			lines = append(lines, draw.TextLine{Text: title, Look: draw.LookTitle})
		}
		names := make([]string, len(b.Keys))
		for i, k := range b.Keys {
			names[i] = displayName(k)
		}
		if b.Action == ActNumber {
			names = []string{allDigits}
		}
		lines = append(lines, helpLine(strings.Join(names, " "), b.Doc))
	}
	if len(lines) > 0 {
		lines = append(lines, draw.TextLine{})
	}
	return lines
}
