package tui

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/render"
	"kitescope/tui/draw"
	"kitescope/tui/sheet"
	"kitescope/words"
)

func (p *findingsPage) Body(m *Model, w, h int) []string {
	p.height = h
	switch {
	case m.data.cluster == nil || p.report == nil:
		p.placed = nil
		return []string{"", "   " + m.Styles.Dim.On("…")}
	case len(p.rows) == 0 && p.filter != "":
		p.placed = nil
		return append([]string{""}, draw.Sentence(m.Styles, "no finding matches "+p.filter+"; esc clears the filter", w)...)
	case len(p.rows) == 0 && p.of != nil:
		p.placed = nil
		return append([]string{""}, draw.Sentence(m.Styles, "nothing is found about "+refName(*p.of)+" any more; f lists all findings", w)...)
	}
	lines := p.layOut(m, w)
	if len(p.report.Findings) == 0 {
		p.scroll(len(lines), h)
		return lines[p.top:min(p.top+h, len(lines))]
	}
	p.height--
	p.scroll(len(lines), p.height)
	head := " " + m.Styles.Dim.On(draw.Ends("FINDING", "COST"+sinceTitle(m, w), w-2))
	return append([]string{head}, lines[p.top:min(p.top+p.height, len(lines))]...)
}

// costWidth are the cells of the column that says which share of query work a finding costs.
const costWidth = 7

// layOut draws all rows and notes where each stands.
func (p *findingsPage) layOut(m *Model, w int) []string {
	var lines []string
	if len(p.report.Findings) == 0 {
		lines = append(lines, "", p.verdict(m, w), "")
	}
	p.placed = p.placed[:0]
	known := true
	for i, r := range p.rows {
		if r.branch == nil && known && len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, "")
		}
		known = r.branch != nil
		at := len(lines)
		lines = append(lines, p.row(m, &p.rows[i], i == p.cursor, w)...)
		p.placed = append(p.placed, placedRow{at, len(lines) - at})
	}
	return lines
}

// sinceWidth are the cells of the column that says when findings began, where there is a past and room.
func sinceWidth(m *Model, w int) int {
	const cells = 14
	if m.Config.Hindsight == nil || m.data.past.of == nil || w < leastCurves {
		return 0
	}
	return cells
}

func sinceTitle(m *Model, w int) string {
	if n := sinceWidth(m, w); n > 0 {
		return draw.FitRight("SINCE", n)
	}
	return ""
}

// verdict is what stands in the place of findings where there are none. It is good news only if
// everything was looked at.
func (p *findingsPage) verdict(m *Model, w int) string {
	unknown := sheet.UnlookedText(p.report)
	if unknown == "" {
		return "   " + m.Styles.Good.On(draw.Cut("✓ nothing found by "+words.Plural(len(p.report.Results), "check"), w-4))
	}
	return "   " + draw.Cut("nothing found so far; "+unknown, w-4)
}

func (p *findingsPage) row(m *Model, r *findingRow, atCursor bool, w int) []string {
	if r.branch == nil {
		return p.unknown(m, r.text, atCursor, w)
	}
	since := sinceWidth(m, w)
	line := sheet.BranchLine(m.Styles, r.branch, w-2-since, costWidth, atCursor)
	if since > 0 {
		short, _ := began(m, r.branch.Finding)
		line += draw.FitRight(short, since)
	}
	if atCursor {
		line = m.Styles.Cursor.On(draw.Fit(" "+line, w))
	} else {
		line = " " + line
	}
	lines := []string{line}
	if p.open[r.branch.Key()] {
		lines = append(lines, p.details(m, r.branch, w)...)
	}
	return lines
}

func (p *findingsPage) unknown(m *Model, text string, atCursor bool, w int) []string {
	look := m.Styles.Dim
	if atCursor {
		look = m.Styles.Cursor
	}
	lines := draw.Wrap(text, w-4)
	for i, line := range lines {
		if i > 0 {
			line = "  " + line
		}
		lines[i] = " " + look.On(draw.Cut(line, w-2))
	}
	return lines
}

// details are the lines below a finding: what it is about, costs and how it is known.
func (p *findingsPage) details(m *Model, b *check.Branch, w int) []string {
	in := 3 + 2*b.Depth
	var lines []string
	put := func(label, text string) {
		const labelWidth = 8
		for i, line := range draw.Wrap(text, w-in-labelWidth-2) {
			if i > 0 {
				label = ""
			}
			lines = append(lines, draw.Pad(in)+m.Styles.Dim.On(draw.Fit(label, labelWidth))+draw.Cut(line, w-in-labelWidth-1))
		}
	}
	full := words.Harmless(b.Message)
	if line := sheet.BranchLine(m.Styles, b, w-2-sinceWidth(m, w), costWidth, true); !strings.Contains(line, full) {
		put("", full)
	}
	_, facts := began(m, b.Finding)
	for _, x := range facts {
		put(x.Label, x.Text)
	}
	put("check", b.Check)
	put("object", render.ObjectText(b.Object))
	if cost := render.CostText(b.Finding); cost != "" {
		put("costs", cost)
	}
	if f := p.cause(b); f != nil && b.Depth == 0 {
		put("cause", words.Harmless(f.Message))
	}
	put("impact", words.Harmless(b.Impact))
	put("hint", words.Harmless(b.Advice()))
	for i := range b.Evidence {
		put("fact", render.EvidenceText(&b.Evidence[i]))
	}
	put("with", relatedText(b.Finding))
	return append(lines, "")
}

// cause is the finding that another one follows from, where that is not above it: a page about one
// object does not list it.
func (p *findingsPage) cause(b *check.Branch) *check.Finding {
	for _, f := range p.report.Findings {
		if b.Cause != "" && f.Key() == b.Cause {
			return f
		}
	}
	return nil
}

// relatedText names the first of the further objects of a finding.
func relatedText(f *check.Finding) string {
	const most = 6
	var names []string
	for _, r := range f.Objects[:min(most, len(f.Objects))] {
		names = append(names, render.ObjectText(r))
	}
	text := strings.Join(names, ", ")
	if more := len(f.Objects) - most; more > 0 {
		text += ", and " + words.Number(more) + " more"
	}
	return text
}

// findingText is a finding for the clipboard.
func findingText(f *check.Finding) string {
	lines := []string{f.Severity.String() + ": " + words.Harmless(f.Message), f.Check + "  " + render.ObjectText(f.Object)}
	for _, text := range []string{f.Impact, f.Advice()} {
		if text != "" {
			lines = append(lines, words.Harmless(text))
		}
	}
	for i := range f.Evidence {
		lines = append(lines, "- "+render.EvidenceText(&f.Evidence[i]))
	}
	return strings.Join(lines, "\n")
}

// scroll brings the row under the cursor into h lines: all of it if it fits, else the part of it
// that was scrolled to.
func (p *findingsPage) scroll(total, h int) {
	if p.cursor < len(p.placed) {
		row := p.placed[p.cursor]
		from, to := row.at, row.at+row.lines
		if p.cursor == 0 {
			from = 0
		}
		p.top = min(max(p.top, min(from, to-h)), max(from, to-h))
		if to-from <= h {
			p.top = min(max(p.top, to-h), from)
		}
	}
	p.top = max(0, min(p.top, total-h))
}

// within scrolls inside of the row under the cursor where it is longer than the screen, and reports
// whether there was more of it.
func (p *findingsPage) within(lines int) bool {
	if p.cursor >= len(p.placed) || p.placed[p.cursor].lines <= p.height {
		return false
	}
	row := p.placed[p.cursor]
	top := max(row.at, min(p.top+lines, row.at+row.lines-p.height))
	moved := top != p.top
	p.top = top
	return moved
}

// move applies a movement and reports whether it was one. A page is as many rows as are visible.
func (p *findingsPage) move(a Action) bool {
	visible := 0
	for _, r := range p.placed {
		if r.at >= p.top && r.at < p.top+p.height {
			visible++
		}
	}
	if lines, ok := map[Action]int{ActUp: -1, ActDown: 1, ActPageUp: 1 - p.height, ActPageDown: p.height - 1, ActHalfUp: -p.height / 2, ActHalfDown: p.height / 2}[a]; ok && p.within(lines) {
		return true
	}
	to, ok := Moved(a, p.cursor, len(p.rows), visible)
	if !ok {
		return false
	}
	p.cursor = to
	p.clamp()
	return true
}

func (p *findingsPage) Click(m *Model, _, y int) Cmd {
	if len(p.report.Findings) > 0 {
		y-- // the header
	}
	for i, r := range p.placed {
		if line := p.top + y; line < r.at || line >= r.at+r.lines {
			continue
		}
		if i == p.cursor && p.Can(m, ActOpen) == "" {
			return p.Act(m, ActOpen)
		}
		p.cursor = i
		break
	}
	return nil
}

func (p *findingsPage) Wheel(_ *Model, lines int) {
	p.cursor += lines
	p.clamp()
}
