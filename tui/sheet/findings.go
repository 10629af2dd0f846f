package sheet

import (
	"cmp"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/render"
	"kitescope/tui/draw"
	"kitescope/words"
)

// SeverityStyle is the look of a severity.
func SeverityStyle(st *draw.Styles, s check.Severity) draw.Style {
	return st.Roles[render.SeverityRole(s)]
}

// SeverityCounts are the findings by severity: "1 error", "2 warnings". With styles each is in its look.
func SeverityCounts(st *draw.Styles, findings []*check.Finding) []string {
	var parts []string
	add := func(s check.Severity, text string) {
		if st != nil {
			text = SeverityStyle(st, s).On(text)
		}
		parts = append(parts, text)
	}
	for _, s := range []check.Severity{check.Error, check.Warning, check.Info} {
		n := 0
		for _, f := range findings {
			if f.Severity == s {
				n++
			}
		}
		switch {
		case n == 0:
		case s == check.Info:
			add(s, words.Number(n)+" info")
		default:
			add(s, words.Plural(n, s.String()))
		}
	}
	return parts
}

// Unlooked counts the checks that could not look.
func Unlooked(r *check.Report) int {
	counts := r.Tally()
	return counts[check.Skipped] + counts[check.Broken]
}

// UnlookedText says how many checks could not look, and why if that is one thing; "" if all could.
func UnlookedText(r *check.Report) string {
	n := Unlooked(r)
	if n == 0 {
		return ""
	}
	text := words.Number(n) + " of " + words.Plural(len(r.Results), "check") + " could not look"
	if list := r.Unlooked(); len(list) == 1 {
		text += ": " + words.Harmless(list[0].Reason)
	}
	return text
}

// findings is the first block of the overview: counts, and the worst three.
func (s *sheet) findings(r *check.Report, w int) []string {
	w -= 2
	if r == nil {
		return []string{" " + s.st.Dim.On("FINDINGS") + "  …", ""}
	}
	unknown := UnlookedText(r)
	title := s.st.Dim.On("FINDINGS") + "  "
	switch {
	case len(r.Findings) > 0:
		title += strings.Join(SeverityCounts(s.st, r.Findings), "  ")
	case unknown == "":
		title += s.st.Good.On("✓ nothing found by " + words.Plural(len(r.Results), "check"))
	default:
		title += "nothing found so far"
	}
	right := s.st.Key.On("f") + s.st.Dim.On(" lists them")
	lines := []string{" " + draw.Ends(title, right, w)}
	const shown = 3
	tree := check.Tree(r.Findings)
	for i := range tree[:min(shown, len(tree))] {
		lines = append(lines, " "+BranchLine(s.st, &tree[i], w, 0, false))
	}
	if unknown != "" {
		lines = append(lines, " "+s.st.Dim.On(draw.Cut("? "+unknown, w)))
	}
	return append(lines, "")
}

// BranchLine is a finding in one line: what follows from another stands further in; what it
// costs is at the right end, in costs cells. plain leaves styles out, for the line under the cursor.
func BranchLine(st *draw.Styles, b *check.Branch, w, costs int, plain bool) string {
	cost := ""
	if b.Cost > 0 && costs > 0 {
		cost = words.Share(b.Cost)
	}
	indent := strings.Repeat("  ", max(0, b.Depth-1))
	if b.Depth > 0 {
		indent += "└ "
	}
	glyph := render.SeverityGlyph(b.Severity, false)
	text := draw.Fit(words.Harmless(b.Message), max(8, w-draw.Width(indent)-draw.Width(glyph)-1-costs))
	if plain {
		return indent + glyph + " " + text + draw.FitRight(cost, costs)
	}
	return st.Dim.On(indent) + SeverityStyle(st, b.Severity).On(glyph) + " " + text + st.Dim.On(draw.FitRight(cost, costs))
}

// slowest is the line of the overview that says where most time goes; nothing, if nothing is known.
func (s *sheet) slowest(l *latency.Latency, w int) []string {
	b := Busiest(l)
	if b == nil {
		return nil
	}
	const title, key = "LATENCY  ", ":latency"
	text, right := words.Harmless(latency.Verdict(b)), ""
	if draw.Width(title)+draw.Width(text)+2+draw.Width(key) <= w-2 {
		right = s.st.Key.On(key)
	}
	return []string{" " + draw.Ends(s.st.Dim.On(title)+draw.Cut(text, w-2-draw.Width(title)), right, w-2), ""}
}

// Busiest is the budget that takes most time of all its requests, of a collection where that is told, and of writes only where
// nothing is read; nil if there is none.
func Busiest(l *latency.Latency) *latency.Budget {
	if l == nil {
		return nil
	}
	named := map[latency.Request]bool{}
	for _, b := range l.Budgets {
		named[b.Request] = named[b.Request] || b.Name != ""
	}
	var best *latency.Budget
	for _, b := range l.Budgets {
		if b.Name == "" && named[b.Request] {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(reading(b), reading(best)), cmp.Compare(b.Ms*b.Requests, best.Ms*best.Requests)) > 0 {
			best = b
		}
	}
	return best
}

// reading is 1 for requests that somebody waits for with a question, 0 for writes.
func reading(b *latency.Budget) int {
	return render.BoolInt(b.Request == latency.Search || b.Request == latency.Query)
}
