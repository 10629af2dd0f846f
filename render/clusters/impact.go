package clusters

import (
	"slices"

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

// ImpactOf returns the impact on clients of the cluster in a report. It returns nil if the processes were not
// queried, unless they were not queried because etcd does not respond.
func ImpactOf(r *check.Report) *impact.Impact {
	if r.Cluster.Runtime == nil && !r.Cluster.Etcd.Unresponsive() {
		return nil
	}
	return r.Impact
}

// ImpactLines returns the impact on clients as the first lines of a report.
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

// writeImpact writes the impact on clients as a list, with the columns of the resource impact.
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

// clientFindings returns the findings about requests, which clients notice, and their causes, in the order of the
// report.
func clientFindings(r *check.Report) []*check.Finding {
	wanted := map[string]bool{}
	for range r.Findings { // causes come before their effects and may have causes themselves
		before := len(wanted)
		for _, f := range r.Findings {
			if f.Requests != nil || wanted[f.Key()] {
				wanted[f.Key()], wanted[f.Cause] = true, true
			}
		}
		if len(wanted) == before {
			break
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f *check.Finding) bool { return !wanted[f.Key()] })
}

// ClientFindings returns the findings that clients notice, and the lines of a diagnosis about the impact and these
// findings. If all is set, the lines include requests without problems. ClientFindings returns nil for a nil report.
func ClientFindings(r *check.Report, all, ascii bool) ([]*check.Finding, []render.Line) {
	if r == nil {
		return nil, nil
	}
	x := ImpactOf(r)
	lines := ImpactLines(x, ascii)
	if !all {
		lines = lines[:len(x.Affected())]
	}
	list := clientFindings(r)
	if len(list) > 0 {
		lines = append(append(lines, render.Line{}), (&Found{Report: r, List: list}).lines(check.Info, ascii)...)
	}
	return list, lines
}

// WriteClientFindings writes the impact and the findings that clients notice, with the keys "impact" and "findings".
func WriteClientFindings(e *encode.Encoder, r *check.Report) {
	if r == nil {
		return
	}
	writeImpact(e, r.Cluster)
	writeFound(e, &Found{Report: r, List: clientFindings(r)})
}
