package builds

import (
	"fmt"
	"slices"
	"strconv"

	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/profile/pgo"
	"kitescope/render"
)

// hotPart are the hottest calls, with what the compiler would do with them if it was asked.
func hotPart(j *pgo.Judgement, o *render.ReportOptions) render.Part {
	n := o.Shown(len(j.Hot))
	column := func(title string, priority int, text func(h *pgo.HotEdge) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(&j.Hot[i]) }}
	}
	caller := column("CALLER +LINE", 0, func(h *pgo.HotEdge) string { return callerLine(&h.Edge) })
	callee := column("CALLEE", 0, func(h *pgo.HotEdge) string { return render.OrUnknown(h.Callee) })
	caller.Right, caller.Shorten, callee.Right, callee.Shorten = false, true, false, true
	columns := []table.ColumnOf[int]{
		column("SHARE", 0, func(h *pgo.HotEdge) string { return shareCell(h.Share) }),
		column("SAMPLES", 2, func(h *pgo.HotEdge) string { return render.EventCount(h.Hits) }),
		caller, callee,
	}
	head := render.Line{Role: render.RoleAccent, Text: "hot calls", After: []render.Piece{{Role: render.RolePlain, Text: ", the heaviest " + strconv.Itoa(n) + " of " + strconv.Itoa(max(j.HotEdges, n))}}}
	part := render.Part{Head: []render.Line{head}}
	if j.Dry == nil {
		inlined := column("INLINED", 1, func(h *pgo.HotEdge) string { return []string{"no", "yes"}[render.BoolInt(h.Inlined)] })
		inlined.Right = false
		columns = append(columns, inlined)
		part.List = render.Places(n, columns)
		part.Head = append(part.Head, render.Line{Role: render.RoleDim, Text: "--dir MODULE asks the compiler what it would do with them"})
		return part
	}
	part.Head = append(part.Head, render.Line{Text: DryRunText(j.Dry)})
	what := column("COMPILER", 0, DecisionText)
	what.Role = func(i int) render.Role { return decisionRole(j.Hot[i].Decision) }
	cost := column("COST", 1, func(h *pgo.HotEdge) string {
		if h.Decision == nil || h.Decision.Cost <= 0 {
			return words.NoneMark
		}
		return strconv.Itoa(h.Decision.Cost)
	})
	reason := column("WHY", 3, func(h *pgo.HotEdge) string {
		if h.Decision == nil {
			return ""
		}
		return render.Harmless(h.Decision.Reason)
	})
	where := column("AT", 0, func(h *pgo.HotEdge) string {
		if h.Decision == nil {
			return ""
		}
		return render.Harmless(h.Decision.Position)
	})
	what.Right, reason.Right, where.Right, where.Show = false, false, false, table.Wide
	columns = append(columns, what, cost, where)
	if slices.ContainsFunc(j.Hot[:n], func(h pgo.HotEdge) bool { return h.Decision != nil && h.Decision.Reason != "" }) {
		columns = append(columns, reason)
	}
	part.List = render.Places(n, columns)
	return part
}

// callerLine is where a call is made: the function, and how many lines after its first.
func callerLine(e *pgo.Edge) string {
	return render.OrUnknown(e.Caller) + fmt.Sprintf(" %+d", e.Offset)
}

// DryRunText says what the compiler said: "compiler go1.26.8, ./cmd/service: 29 calls newly inlined, 3 devirtualised, 5 skipped; binary +12 KiB".
func DryRunText(d *pgo.DryRun) string {
	text := "compiler"
	if d.GoVersion != "" {
		text += " " + render.Harmless(d.GoVersion)
	}
	if d.Package != "" {
		text += ", " + render.Harmless(d.Package)
	}
	text += ": " + words.Plural(d.Inlined, "call") + " newly inlined, " + strconv.Itoa(d.Devirtualised) + " devirtualised, " + strconv.Itoa(d.Skipped) + " skipped; binary "
	switch {
	case !d.Known:
		return text + "not linked: size unknown"
	case d.Grown < 0:
		return text + "smaller by " + words.Bytes(-d.Grown)
	case d.Grown == 0:
		return text + "as large as before"
	}
	return text + "larger by " + words.Bytes(d.Grown)
}

// DecisionText is what the compiler would do with a call, once it has the profile.
func DecisionText(h *pgo.HotEdge) string {
	switch {
	case h.Decision != nil:
		return render.Harmless(h.Decision.What)
	case h.Inlined:
		return "inlined already"
	}
	return "as before"
}

func decisionRole(d *pgo.Decision) render.Role {
	if d == nil {
		return render.RoleDim
	}
	switch d.What {
	case pgo.Inlines, pgo.Devirtualises:
		return render.RoleGood
	case pgo.Skips:
		return render.RoleWarn
	}
	return render.RolePlain
}

// riskLines are known ways in which PGO has hurt, each with the way around it.
func riskLines(j *pgo.Judgement, o *render.ReportOptions) []render.Line {
	lines := []render.Line{{Role: render.RoleAccent, Text: "risks"}}
	for i := range j.Risks {
		r := &j.Risks[i]
		text := render.Harmless(r.Message)
		if r.Source != "" {
			text += " (" + render.Harmless(r.Source) + ")"
		}
		lines = append(lines, render.Line{Role: render.RoleWarn, Text: render.Glyph(render.RoleWarn, o.ASCII) + " ", After: []render.Piece{{Role: render.RolePlain, Text: text}}})
		if r.Block != "" {
			lines = append(lines, render.Line{Role: render.RoleDim, Text: "    " + render.Harmless(shellquote.Shell("kitescope", "pgo", "pack").Flag("--block", r.Block).String()), Whole: true})
		}
	}
	return lines
}
