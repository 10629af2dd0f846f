package tui

import (
	"kitescope/inspect/check"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// minFindingsSplit is the width in cells from which the open finding is to the right of the list.
const minFindingsSplit = 110

func (p *findingsPage) Body(m *Model, w, h int) []string {
	var head []string
	if own := p.judged.config; own != nil && p.judged.err == nil {
		head = []string{" " + m.Styles.Strong.On(draw.Cut(own.About(), w-2))}
	}
	p.above = len(head)
	return append(head, p.body(m, w, h-len(head))...)
}

// body draws the page below the line about the subject.
func (p *findingsPage) body(m *Model, w, h int) []string {
	switch {
	case m.data.cluster != nil && p.judged.err != nil:
		return append([]string{""}, draw.Sentence(m.Styles, words.Sanitize(p.judged.err.Error()), w)...)
	case m.data.cluster == nil || p.report == nil:
		return []string{"", "   " + m.Styles.Dim.On("…")}
	case len(p.rows) == 0 && p.filter != "":
		return append([]string{""},
			draw.Sentence(m.Styles, "no finding matches "+p.filter+"; esc clears the filter", w)...)
	case len(p.rows) == 0 && p.object != nil:
		text := "no findings about " + refName(*p.object) + " any more; " + KeyOf(m, ActGoFindings) +
			" lists all findings"
		return append([]string{""}, draw.Sentence(m.Styles, text, w)...)
	case len(p.rows) == 0:
		return []string{"", p.verdict(m, w)}
	}
	left, top := draw.SplitSize(w, h, minFindingsSplit, w/2)
	if top < h { // below: the list takes the lines it needs, up to half
		top = min(len(p.rows)+1, max(3, h/2))
	}
	return draw.Split(m.Styles, p.listLines(m, left, top), left, top, w, h, func(w, h int) []string {
		return p.detail(m, w, h)
	})
}

// costWidth is the width in cells of the column for the share of query work that a finding costs.
const costWidth = 7

// listLines draws the visible rows, below a title if there is room.
func (p *findingsPage) listLines(m *Model, w, h int) []string {
	var lines []string
	switch {
	case len(p.report.Findings) == 0:
		lines = []string{p.verdict(m, w)}
	case h > 3:
		lines = []string{" " + m.Styles.Dim.On(draw.Justify("FINDING", "COST"+sinceTitle(p.since(m, w)), w-2))}
	}
	p.first = len(lines)
	p.list.Fit(len(p.rows), h-p.first)
	p.list.Scroll(min(0, p.cursor-p.list.Top) + max(0, p.cursor-p.list.Top-p.list.Height+1))
	from, to := p.list.Visible()
	for i := from; i < to; i++ {
		lines = append(lines, p.row(m, &p.rows[i], i == p.cursor, w))
	}
	return lines
}

// since returns the width in cells of the column for the start of findings, 0 without a history or without room.
func (p *findingsPage) since(m *Model, w int) int {
	const cells, least = 14, 70
	if p.judged.config != nil || m.data.past.source == nil || w < least || m.Width < minSinceWidth {
		return 0
	}
	return cells
}

func sinceTitle(n int) string {
	if n > 0 {
		return draw.FitRight("SINCE", n)
	}
	return ""
}

// verdict returns the line that is shown without findings. It is good news only if all checks could run.
func (p *findingsPage) verdict(m *Model, w int) string {
	if skippedCount(p.report) == 0 {
		text := "✓ no problems found by " + words.Plural(len(p.report.Results), "check")
		return " " + m.Styles.Good.On(draw.Cut(text, w-2))
	}
	return " " + draw.Cut("no problems found so far", w-2)
}

func (p *findingsPage) row(m *Model, r *findingRow, atCursor bool, w int) string {
	line := draw.Cut("? "+r.Label, w-2)
	if r.branch == nil {
		if !atCursor {
			line = m.Styles.Dim.On(line)
		}
	} else {
		since := p.since(m, w)
		line = branchLine(m.Styles, r.branch, r.worse, w-2-since, costWidth, atCursor)
		if since > 0 {
			short, _ := p.judged.began(m, r.branch.Finding)
			line += draw.FitRight(short, since)
		}
	}
	if atCursor {
		return m.Styles.Cursor.On(draw.Fit(" "+line, w))
	}
	return " " + line
}

// detail draws the details of the row under the cursor.
func (p *findingsPage) detail(m *Model, w, h int) []string {
	r := &p.rows[p.cursor]
	if r.branch != nil {
		lines, n := openedLines(m, p.judged, r.branch.Finding, w, h, p.opened.Top)
		p.opened.Fit(n, h)
		return lines
	}
	var lines []string
	for _, text := range append(draw.Wrap("? "+r.Label, w-2), draw.Wrap(r.Text, w-2)...) {
		lines = append(lines, " "+draw.Cut(text, w-1))
	}
	p.opened.Fit(len(lines), h)
	from, to := p.opened.Visible()
	return lines[from:to]
}

// opened returns a finding with its related data.
func opened(m *Model, j *judgement, f *check.Finding) *openedFinding {
	o := &openedFinding{Finding: f}
	if j.report != nil {
		o = openFinding(j.report, f)
	}
	_, o.Began = j.began(m, f)
	return o
}

// briefHeight is the number of lines below which the fix comes first.
const briefHeight = 12

// openedLines draws a finding in w cells and h lines, scrolled to line from. n is its total number of lines.
func openedLines(m *Model, j *judgement, f *check.Finding, w, h, from int) (lines []string, n int) {
	all := opened(m, j, f).Lines(w-2, h < briefHeight)
	from = max(0, min(from, len(all)-h))
	for i := from; i < min(from+h, len(all)); i++ {
		lines = append(lines, " "+all[i].Styled(m.Styles))
	}
	return lines, len(all)
}
