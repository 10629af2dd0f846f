package tui

import (
	"slices"
	"strings"

	"kitescope/tui/draw"
)

// The columns of the keys of a page: so wide that 80 cells have room for three.
const (
	helpKeyCells  = 9
	helpTextCells = 15
	helpCells     = helpKeyCells + 1 + helpTextCells + 1
)

// helpEntry is a key with a few words for what it does.
type helpEntry struct{ key, text string }

// keyPair are two keys that are shown as one entry.
type keyPair struct {
	a, b Action
	text string
}

func keyPairs() []keyPair {
	return []keyPair{
		{ActUp, ActDown, "row up, down"},
		{ActPageUp, ActPageDown, "page up, down"},
		{ActTop, ActBottom, "start, end"},
		{ActLeft, ActRight, "left, right"},
		{ActEarlier, ActLater, "event by event"},
		{ActMinuteEarlier, ActMinuteLater, "minute back, on"},
		{ActBack, ActForward, "back, forward"},
		{ActSortPrevious, ActSortNext, "sort left/right"},
		{ActSearchNext, ActSearchPrevious, "next, previous"},
		{ActZoomIn, ActZoomOut, "zoom in, out"},
		{ActNextPart, ActPreviousPart, "next, previous"},
	}
}

// isEverywhere reports whether a binding is of all pages, but perhaps help.
func isEverywhere(b *Binding) bool { return (b.In|InHelp)&InPages == InPages }

// columns are the keys of the page first, then where to go, then what works everywhere: on one screen of 80 x 24.
func (p *helpPage) columns(w int) []draw.TextLine {
	here := p.of.Scope()
	own := p.entries(func(b *Binding) bool { return b.In&here != 0 && !isEverywhere(b) })
	var to []helpEntry
	for _, x := range p.goes {
		key := p.keys.of(here, x.action)
		if x.number != "" {
			key = x.number + "  " + key
		}
		to = append(to, helpEntry{key, x.page})
	}
	all := p.entries(func(b *Binding) bool { return isEverywhere(b) && b.Group != GroupGo })
	lines := columnLines("ON THIS PAGE: "+strings.ToUpper(p.of.Crumb()), own, w)
	lines = append(lines, columnLines("GO TO", to, w)...)
	return append(lines, columnLines("EVERYWHERE", all, w)...)
}

// entries are those of some bindings; keys that belong together are one.
func (p *helpPage) entries(wanted func(b *Binding) bool) []helpEntry {
	var list []helpEntry
	var done []Action
	for i := range p.all {
		b := &p.all[i]
		if !wanted(b) || slices.Contains(done, b.Action) {
			continue
		}
		e := helpEntry{shown(b.Keys[0]), b.Action.Brief()}
		if b.Hint != "" && draw.Width(b.Hint) <= helpTextCells {
			e.text = b.Hint
		}
		for _, x := range keyPairs() {
			at := slices.IndexFunc(p.all, func(o Binding) bool { return o.Action == x.b && wanted(&o) })
			if x.a != b.Action || at < 0 {
				continue
			}
			if both := e.key + " " + shown(p.all[at].Keys[0]); draw.Width(both) <= helpKeyCells {
				e = helpEntry{both, x.text}
				done = append(done, x.b)
			}
		}
		list = append(list, e)
		done = append(done, b.Action)
	}
	return list
}

// columnLines are entries under a title, from top to bottom and from left to right.
func columnLines(title string, list []helpEntry, w int) []draw.TextLine {
	if len(list) == 0 {
		return nil
	}
	columns := max(1, (w-2)/helpCells)
	rows := (len(list) + columns - 1) / columns
	lines := []draw.TextLine{{Text: title, Look: draw.LookTitle}}
	for row := range rows {
		line := draw.TextLine{Look: draw.LookColumns}
		for i := row; i < len(list); i += rows {
			at := len(line.Text)
			line.Keys = append(line.Keys, [2]int{at, at + len(list[i].key)})
			line.Text += draw.Fit(list[i].key, helpKeyCells) + " " + draw.Fit(list[i].text, helpTextCells) + " "
		}
		line.Text = strings.TrimRight(line.Text, " ")
		lines = append(lines, line)
	}
	return lines
}

// keyLines is the key map in full: of the page, of all pages, of the others.
func (p *helpPage) keyLines() []draw.TextLine {
	here := p.of.Scope()
	own := func(b *Binding) bool { return b.In&here != 0 && !isEverywhere(b) }
	lines := p.groups("ON THIS PAGE", own)
	lines = append(lines, p.groups("", isEverywhere)...)
	return append(lines, p.groups("ON OTHER PAGES", func(b *Binding) bool { return !own(b) && !isEverywhere(b) })...)
}

// groups are some bindings by their groups; where says in titles which those are.
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
			names[i] = shown(k)
		}
		if b.Action == ActNumber {
			names = []string{allDigits}
		}
		doc := b.Doc
		if b.In&InPages != 0 && !isEverywhere(b) && b.In&p.of.Scope() == 0 {
			doc += " (" + strings.Join(b.In.Names(p.keys.kinds), ", ") + ")"
		}
		lines = append(lines, helpLine(strings.Join(names, " "), doc))
	}
	if len(lines) > 0 {
		lines = append(lines, draw.TextLine{})
	}
	return lines
}
