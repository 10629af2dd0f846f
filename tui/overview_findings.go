package tui

import (
	"cmp"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/latency"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// severityStyle returns the style of a severity.
func severityStyle(st *draw.Styles, s check.Severity) draw.Style {
	return st.Roles[clusters.SeverityRole(s)]
}

// severityCounts counts the findings by severity, e.g. "1 error", "2 warnings". If st is not nil, each count is
// styled by its severity.
func severityCounts(st *draw.Styles, findings []*check.Finding) []string {
	var parts []string
	add := func(s check.Severity, text string) {
		if st != nil {
			text = severityStyle(st, s).On(text)
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

// skippedCount counts the checks that could not run.
func skippedCount(r *check.Report) int {
	counts := r.Tally()
	return counts[check.Skipped] + counts[check.Broken]
}

// skippedText counts the checks that could not run and adds the reason if all have the same one. It returns ""
// if all checks ran.
func skippedText(r *check.Report) string {
	n := skippedCount(r)
	list := skippedFacts(r)
	switch {
	case n == 0:
		return ""
	case len(r.NotRun()) == 1 && len(list) > 0:
		return list[0].Label
	}
	return words.Number(n) + " of " + words.Plural(len(r.Results), "check") + " could not run"
}

// shownFindings is the maximum number of findings on the overview.
const shownFindings = 4

// findings adds the first block of the overview: the counts and the worst findings.
func (s *overviewSheet) findings(r *check.Report, w int) {
	w -= 2
	if r == nil {
		s.line(" " + s.st.Dim.On("FINDINGS") + "  …")
		s.line("")
		return
	}
	unknown := skippedText(r)
	title := s.st.Dim.On("FINDINGS") + "  "
	right := s.st.Key.On("f") + s.st.Dim.On(" lists them")
	switch {
	case len(r.Findings) > 0:
		title += strings.Join(severityCounts(s.st, r.Findings), "  ")
		if n := len(r.Findings) - shownFindings; n > 0 {
			right = s.st.Dim.On(words.Number(n)+" more: ") + s.st.Key.On("f")
		}
	case unknown == "":
		title += s.st.Good.On("✓ no problems found by " + words.Plural(len(r.Results), "check"))
	default:
		title += "no problems found so far"
	}
	s.line(" " + draw.Justify(title, right, w))
	if len(r.Findings) == 0 {
		s.addItem("findings", w, overviewItem{Page: "findings", About: "All checks, and why some could not run."})
	}
	tree := check.Tree(r.Findings)
	for i := range tree[:min(shownFindings, len(tree))] {
		s.line(" " + branchLine(s.st, &tree[i], worseThanShown(tree, i), w, 0, false))
		s.addItem("finding "+tree[i].Key(), w, overviewItem{Finding: tree[i].Finding})
	}
	if unknown != "" {
		s.line(" " + s.st.Dim.On(draw.Cut("? "+unknown, w)))
		s.addItem("lacking", w, overviewItem{Page: "checks", About: skippedReasons(r)})
	}
	s.line("")
}

// skippedReasons lists all checks that could not run, with their reasons.
func skippedReasons(r *check.Report) string {
	var parts []string
	for _, x := range skippedFacts(r) {
		parts = append(parts, x.Label+": "+x.Text)
	}
	return strings.Join(parts, ". ")
}

// worseThanShown counts the effects of the highest severity in the chain of a finding, e.g. "causes 1 error".
// It returns "" if no effect is more severe than the finding.
func worseThanShown(tree []check.Branch, i int) string {
	worst, n := tree[i].Severity, 0
	for _, b := range tree[i+1 : i+1+tree[i].Effects] {
		if b.Severity > worst {
			worst, n = b.Severity, 0
		}
		if b.Severity == worst && worst > tree[i].Severity {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return "causes " + words.Plural(n, worst.String())
}

// branchLine formats a finding as one line. Effects are indented below their cause. The line ends with worse
// (the more severe effects) and with the cost, right-aligned in costs cells. If plain is set, the line has no
// styles, for the line under the cursor.
func branchLine(st *draw.Styles, b *check.Branch, worse string, w, costs int, plain bool) string {
	cost := ""
	if b.Cost > 0 && costs > 0 {
		cost = words.Share(b.Cost)
	}
	indent := strings.Repeat("  ", max(0, b.Depth-1))
	if b.Depth > 0 {
		indent += "└ "
	}
	glyph := clusters.SeverityGlyph(b.Severity, false)
	room := w - draw.Width(indent) - draw.Width(glyph) - 1 - costs
	message := words.Sanitize(b.Message)
	const roomy = 80 // a narrower line drops worse if the message would not fit
	if worse = "  " + worse; len(worse) == 2 || room < roomy && draw.Width(message) > room-len(worse) {
		worse = ""
	}
	text := draw.Fit(message, max(8, room-len(worse)))
	if plain {
		return indent + glyph + " " + text + worse + draw.FitRight(cost, costs)
	}
	return st.Dim.On(indent) + severityStyle(st, b.Severity).On(glyph) + " " + text + st.Bad.On(worse) +
		st.Dim.On(draw.FitRight(cost, costs))
}

// slowest adds the line about the request that takes most time. It adds nothing if l has no budgets.
func (s *overviewSheet) slowest(l *latency.Latency, w int) {
	b := BusiestBudget(l)
	if b == nil {
		return
	}
	const title, key = "LATENCY  ", ":latency"
	text, right := words.Sanitize(latency.Verdict(b)), ""
	if draw.Width(title)+draw.Width(text)+2+draw.Width(key) <= w-2 {
		right = s.st.Key.On(key)
	}
	s.line(" " + draw.Justify(s.st.Dim.On(title)+draw.Cut(text, w-2-draw.Width(title)), right, w-2))
	s.addItem("latency", w-2, overviewItem{Page: "latency", About: text})
	s.line("")
}

// BusiestBudget returns the budget with the largest total time (time per request times requests), or nil
// without budgets. It prefers budgets of a single collection to totals, and reads to writes.
func BusiestBudget(l *latency.Latency) *latency.Budget {
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
		if best == nil ||
			cmp.Or(cmp.Compare(readRank(b), readRank(best)), cmp.Compare(b.Ms*b.Requests, best.Ms*best.Requests)) > 0 {
			best = b
		}
	}
	return best
}

// readRank returns 1 for searches and queries and 0 for writes.
func readRank(b *latency.Budget) int {
	return render.BoolInt(b.Request == latency.Search || b.Request == latency.Query)
}
