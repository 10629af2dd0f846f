package clusters

import (
	"kitescope/inspect/check"
	"kitescope/inspect/impact"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// ImpactRole returns the role of a state of requests.
func ImpactRole(s impact.State) render.Role {
	switch s {
	case impact.Hanging, impact.Failing, impact.Refused:
		return render.RoleBad
	case impact.Slow, impact.Unsure:
		return render.RoleWarn
	case impact.Fine:
		return render.RoleGood
	case impact.Unknown, impact.Idle:
	}
	return render.RoleDim
}

// ImpactOf returns what clients felt of the cluster that a report is about, nil if its processes were not asked.
func ImpactOf(r *check.Report) *impact.Impact {
	if r.Cluster.Runtime == nil {
		return nil
	}
	return r.Impact
}

// ImpactLines returns what clients feel, in the first lines of a report.
func ImpactLines(x *impact.Impact, ascii bool) []render.Line {
	var lines []render.Line
	for _, l := range x.Lines() {
		role := ImpactRole(l.State)
		glyph := words.UnknownMark
		if l.State != impact.Unknown && l.State != impact.Unsure {
			glyph = render.GlyphOf(role, ascii)
		}
		lines = append(lines, render.Line{Role: role, Text: glyph + " ", After: []render.Piece{{Text: l.Text}}})
	}
	return lines
}

// writeImpact writes what clients feel as a list under a key, with the columns of the resource impact.
func writeImpact(e *encode.Encoder, c *model.Cluster) {
	r, err := view.Find("impact")
	if err != nil {
		return
	}
	grid := table.All(r.Table(view.NewEnv(c, c.Origin.Taken)), table.Hidden)
	items := render.NewItems(grid)
	e.Key("impact")
	e.BeginList()
	for i := range grid.Len() {
		items.Write(e, i)
	}
	e.EndList()
}
