package builds

import (
	"fmt"
	"strconv"

	"kitescope/internal/shellquote"
	"kitescope/internal/table"
	"kitescope/profile/pgo"
	"kitescope/render"
)

// hotPart lists the hottest calls.
func hotPart(j *pgo.Judgement, o *render.ReportOptions) render.Part {
	n := o.Shown(len(j.Hot))
	column := func(title string, priority int, text func(h *pgo.HotEdge) string) table.ColumnOf[int] {
		return table.ColumnOf[int]{
			Column: table.Column{Title: title, AlignRight: true, Priority: priority},
			Shown:  func(i int) string { return text(&j.Hot[i]) },
		}
	}
	caller := column("CALLER +LINE", 0, func(h *pgo.HotEdge) string { return callerLine(&h.Edge) })
	callee := column("CALLEE", 0, func(h *pgo.HotEdge) string { return render.OrUnknown(h.Callee) })
	caller.AlignRight, caller.Shorten, callee.AlignRight, callee.Shorten = false, true, false, true
	columns := []table.ColumnOf[int]{
		column("SHARE", 0, func(h *pgo.HotEdge) string { return shareCell(h.Share) }),
		column("SAMPLES", 2, func(h *pgo.HotEdge) string { return render.EventCount(h.Hits) }),
		caller, callee,
	}
	head := render.Line{
		Role: render.RoleAccent, Text: "hot calls",
		After: []render.Piece{
			{
				Role: render.RolePlain,
				Text: ", the heaviest " + strconv.Itoa(n) + " of " + strconv.Itoa(max(j.HotEdges, n)),
			},
		},
	}
	inlined := column("INLINED", 1, func(h *pgo.HotEdge) string {
		return []string{"no", "yes"}[render.BoolInt(h.Inlined)]
	})
	inlined.AlignRight = false
	return render.Part{Head: []render.Line{head}, List: render.PositionGrid(n, append(columns, inlined))}
}

// callerLine returns the position of a call: the function, and the line relative to the function's first line.
func callerLine(e *pgo.Edge) string {
	return render.OrUnknown(e.Caller) + fmt.Sprintf(" %+d", e.Offset)
}

// riskLines returns lines with known cases in which PGO made programs slower, and with workarounds.
func riskLines(j *pgo.Judgement, o *render.ReportOptions) []render.Line {
	lines := []render.Line{{Role: render.RoleAccent, Text: "risks"}}
	for i := range j.Risks {
		r := &j.Risks[i]
		text := render.Harmless(r.Message)
		if r.Source != "" {
			text += " (" + render.Harmless(r.Source) + ")"
		}
		lines = append(lines, render.Line{
			Role: render.RoleWarn, Text: render.Glyph(render.RoleWarn, o.ASCII) + " ",
			After: []render.Piece{{Role: render.RolePlain, Text: text}},
		})
		if r.Block != "" {
			lines = append(lines, render.Line{
				Role: render.RoleDim,
				Text: "    " +
					render.Harmless(shellquote.Shell("kitescope", "pgo", "pack").Flag("--block", r.Block).String()),
				NoWrap: true,
			})
		}
	}
	return lines
}
