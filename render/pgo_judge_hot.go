package render

import (
	"fmt"
	"slices"
	"strconv"

	"kitescope/paste"
	"kitescope/profile/pgo"
	"kitescope/table"
	"kitescope/words"
)

// hotPart are the hottest calls, with what the compiler would do with them if it was asked.
func hotPart(j *pgo.Judgement, o *ReportOptions) sheetPart {
	n := o.shown(len(j.Hot))
	column := func(title string, priority int, text func(h *pgo.HotEdge) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{Column: table.Column{Title: title, Right: true, Priority: priority}, Shown: func(i int) string { return text(&j.Hot[i]) }}
	}
	caller := column("CALLER +LINE", 0, func(h *pgo.HotEdge) string { return callerLine(&h.Edge) })
	callee := column("CALLEE", 0, func(h *pgo.HotEdge) string { return orUnknown(h.Callee) })
	caller.Right, caller.Shorten, callee.Right, callee.Shorten = false, true, false, true
	columns := []table.ColumnOf[int]{
		column("SHARE", 0, func(h *pgo.HotEdge) string { return shareCell(h.Share) }),
		column("SAMPLES", 2, func(h *pgo.HotEdge) string { return countText(h.Hits) }),
		caller, callee,
	}
	head := sheetLine{role: RoleAccent, text: "hot calls", after: []Piece{{RolePlain, ", the heaviest " + strconv.Itoa(n) + " of " + strconv.Itoa(max(j.HotEdges, n))}}}
	part := sheetPart{head: []sheetLine{head}}
	if j.Dry == nil {
		inlined := column("INLINED", 1, func(h *pgo.HotEdge) string { return []string{"no", "yes"}[b2i(h.Inlined)] })
		inlined.Right = false
		columns = append(columns, inlined)
		part.list = places(n, columns)
		part.head = append(part.head, sheetLine{role: RoleDim, text: "--dir MODULE asks the compiler what it would do with them"})
		return part
	}
	part.head = append(part.head, sheetLine{text: DryRunText(j.Dry)})
	what := column("COMPILER", 0, DecisionText)
	what.Role = func(i int) Role { return decisionRole(j.Hot[i].Decision) }
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
		return Harmless(h.Decision.Reason)
	})
	where := column("AT", 0, func(h *pgo.HotEdge) string {
		if h.Decision == nil {
			return ""
		}
		return Harmless(h.Decision.Position)
	})
	what.Right, reason.Right, where.Right, where.Show = false, false, false, table.Wide
	columns = append(columns, what, cost, where)
	if slices.ContainsFunc(j.Hot[:n], func(h pgo.HotEdge) bool { return h.Decision != nil && h.Decision.Reason != "" }) {
		columns = append(columns, reason)
	}
	part.list = places(n, columns)
	return part
}

// callerLine is where a call is made: the function, and how many lines after its first.
func callerLine(e *pgo.Edge) string { return orUnknown(e.Caller) + fmt.Sprintf(" %+d", e.Offset) }

// DryRunText says what the compiler said: "compiler go1.26.8, ./cmd/service: 29 calls newly inlined, 3 devirtualised, 5 skipped; binary +12 KiB".
func DryRunText(d *pgo.DryRun) string {
	text := "compiler"
	if d.GoVersion != "" {
		text += " " + Harmless(d.GoVersion)
	}
	if d.Package != "" {
		text += ", " + Harmless(d.Package)
	}
	text += ": " + words.Plural(d.Inlined, "call") + " newly inlined, " + strconv.Itoa(d.Devirtualised) + " devirtualised, " + strconv.Itoa(d.Skipped) + " skipped; binary "
	switch {
	case !d.Known:
		return text + "not linked, so that nobody knows its size"
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
		return Harmless(h.Decision.What)
	case h.Inlined:
		return "inlined already"
	}
	return "as before"
}

func decisionRole(d *pgo.Decision) Role {
	if d == nil {
		return RoleDim
	}
	switch d.What {
	case pgo.Inlines, pgo.Devirtualises:
		return RoleGood
	case pgo.Skips:
		return RoleWarn
	}
	return RolePlain
}

// riskLines are known ways in which PGO has hurt, each with the way around it.
func riskLines(j *pgo.Judgement, o *ReportOptions) []sheetLine {
	lines := []sheetLine{{role: RoleAccent, text: "risks"}}
	for i := range j.Risks {
		r := &j.Risks[i]
		text := Harmless(r.Message)
		if r.Source != "" {
			text += " (" + Harmless(r.Source) + ")"
		}
		lines = append(lines, sheetLine{role: RoleWarn, text: Glyph(RoleWarn, o.ASCII) + " ", after: []Piece{{RolePlain, text}}})
		if r.Block != "" {
			lines = append(lines, sheetLine{role: RoleDim, text: "    " + Harmless(paste.Shell("kitescope", "pgo", "pack").Flag("--block", r.Block).String()), whole: true})
		}
	}
	return lines
}
