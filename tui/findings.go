package tui

import (
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/tui/draw"
	"kitescope/words"
)

// judgement is what the checks say about the cluster that is shown.
type judgement struct {
	report *check.Report // nil until the first
	env    *view.Env     // that it was made for: ages count to its time
	busy   bool          // checks are running or rest; the next cluster waits for them
}

// Of a large cluster that changes all the time the checks rest after each run, restFactor times as long as it took, so that they
// take a hundredth of the time; at most restMost, and never where the rest would be shorter than restLeast.
const (
	restFactor = 100
	restLeast  = time.Second
	restMost   = 5 * time.Second
)

// judge lets the checks look at what is shown, off the loop and one at a time: of the
// clusters that come meanwhile only the newest is judged.
func (m *Model) judge() Cmd {
	d := &m.data
	if d.cluster == nil || d.judged.busy || d.judged.env == d.env {
		return nil
	}
	d.judged.busy = true
	return runChecks(&d.judge, d.env, m.Config.Checks, m.Config.Now)
}

// judgedMsg brings a report that was asked for.
type judgedMsg struct {
	env    *view.Env
	report *check.Report
	took   time.Duration
}

func (j judgedMsg) Apply(m *Model) Cmd {
	d := &m.data
	d.judged = judgement{report: j.report, env: j.env}
	if rest := restFactor * j.took; d.live && rest >= restLeast {
		d.judged.busy = true
		return Batch(m.Refresh(), m.After(min(rest, restMost), restedMsg{}))
	}
	return Batch(m.Refresh(), m.judge())
}

// restedMsg lets the checks look again.
type restedMsg struct{}

func (restedMsg) Apply(m *Model) Cmd {
	m.data.judged.busy = false
	return m.judge()
}

// about are the findings about an object, none as long as nothing was judged.
func (m *Model) about(ref model.Ref) []*check.Finding {
	if m.data.judged.report == nil {
		return nil
	}
	return m.data.judged.report.About(ref.Resource, ref.ID)
}

// goFindings shows the findings about the object of a page, all where there are none about it or they are shown already.
func (m *Model) goFindings() Cmd {
	if p, ok := m.Top().(*findingsPage); ok {
		p.of = nil
		p.choose()
		return nil
	}
	p := &findingsPage{}
	if s, ok := m.Top().(Pointer); ok {
		if ref, ok := s.object(m); ok && len(m.about(ref)) > 0 {
			p.of = &ref
		}
	}
	return m.Push(p)
}

// severityStyle is the look of a severity.
func severityStyle(st *draw.Styles, s check.Severity) draw.Style {
	return st.Roles[render.SeverityRole(s)]
}

// severityCounts are the findings by severity: "1 error", "2 warnings". With styles each is in its look.
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

// unlooked counts the checks that could not look.
func unlooked(r *check.Report) int {
	counts := r.Tally()
	return counts[check.Skipped] + counts[check.Broken]
}

// unlookedText says how many checks could not look, and why if that is one thing; "" if all could.
func unlookedText(r *check.Report) string {
	n := unlooked(r)
	if n == 0 {
		return ""
	}
	text := words.Number(n) + " of " + words.Plural(len(r.Results), "check") + " could not look"
	if list := r.Unlooked(); len(list) == 1 {
		text += ": " + words.Harmless(list[0].Reason)
	}
	return text
}

// findingLines are the findings about an object on top of its details.
func findingLines(list []*check.Finding, w int) []PaneLine {
	if len(list) == 0 {
		return nil
	}
	lines := []PaneLine{{text: "FINDINGS  " + words.Number(len(list)), look: LineTitle}}
	for _, f := range list {
		look := LinePlain
		switch f.Severity {
		case check.Error:
			look = LineBad
		case check.Warning:
			look = LineWarn
		default:
		}
		glyph := render.SeverityGlyph(f.Severity, false) + " "
		for i, text := range draw.Wrap(words.Harmless(f.Message), w-4) {
			if i > 0 {
				glyph = "  "
			}
			lines = append(lines, PaneLine{text: glyph + text, look: look})
		}
		for _, text := range draw.Wrap(words.Harmless(string(f.Hint)), w-4) {
			lines = append(lines, PaneLine{text: "  " + text, look: LineDim})
		}
	}
	return append(lines, PaneLine{})
}

// findings is the first block of the overview: counts, and the worst three.
func (s *sheet) findings(r *check.Report, w int) []string {
	w -= 2
	if r == nil {
		return []string{" " + s.st.Dim.On("FINDINGS") + "  …", ""}
	}
	unknown := unlookedText(r)
	title := s.st.Dim.On("FINDINGS") + "  "
	switch {
	case len(r.Findings) > 0:
		title += strings.Join(severityCounts(s.st, r.Findings), "  ")
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
		lines = append(lines, " "+branchLine(s.st, &tree[i], w, 0, false))
	}
	if unknown != "" {
		lines = append(lines, " "+s.st.Dim.On(draw.Cut("? "+unknown, w)))
	}
	return append(lines, "")
}

// branchLine is a finding in one line: what follows from another stands further in; what it
// costs is at the right end, in costs cells. plain leaves styles out, for the line under the cursor.
func branchLine(st *draw.Styles, b *check.Branch, w, costs int, plain bool) string {
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
	return st.Dim.On(indent) + severityStyle(st, b.Severity).On(glyph) + " " + text + st.Dim.On(draw.FitRight(cost, costs))
}
