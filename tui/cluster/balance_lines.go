package cluster

import (
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/render"
	"kitescope/render/clusters"
)

// layOut makes the lines of the page for a width.
func (p *balancePage) layOut(w int) {
	p.lines, p.At, p.madeFor = p.lines[:0], p.At[:0], w
	p.prose(p.survey.HeadLines(), w)
	p.add(render.RolePlain, "")
	if p.object != nil {
		p.oneGroup(w)
	} else {
		p.allGroups(w)
	}
	for i := range p.lines {
		if p.lines[i].ref.Resource != "" {
			p.At = append(p.At, i)
		}
	}
}

func (p *balancePage) add(role render.Role, text string) {
	p.lines = append(p.lines, balanceLine{text: text, role: role})
}

// prose adds lines of the report, wrapped unless they are code.
func (p *balancePage) prose(list []render.Line, w int) {
	for _, l := range list {
		if text := l.EscapedText(); l.Code || render.Cells(text) <= w-2 {
			p.add(l.Role, text)
			continue
		}
		for _, text := range render.WrapLine(l.EscapedText(), w-2, "…") {
			p.add(l.Role, text)
		}
	}
}

// shares adds the table of the segments that nodes serve.
func (p *balancePage) shares(list []*balance.Share, g *balance.Group, w int) {
	header, rows := p.survey.ShareLines(list, g, w-2)
	p.add(render.RoleDim, header)
	for i, text := range rows {
		x := list[i]
		role := render.RolePlain
		if !x.Known || x.State() != "" || g == nil && x.Assignable() && x.Sealed+x.Growing == 0 {
			role = render.RoleWarn
		}
		p.lines = append(p.lines, balanceLine{
			text: text, role: role, ref: model.Ref{Resource: "nodes", ID: x.Name(), Name: x.Name()},
		})
	}
}

func (p *balancePage) allGroups(w int) {
	r := p.survey.Report
	p.shares(r.Survey.Nodes, nil, w)
	p.add(render.RolePlain, "")
	if len(r.Groups) == 0 {
		p.add(render.RoleDim, "no collection is loaded")
		return
	}
	header, rows := p.survey.GroupLines(w - 2)
	p.add(render.RoleDim, header)
	for i, text := range rows {
		g := r.Groups[i]
		role := render.RoleWarn
		if len(r.Plans[i].Moves) == 0 {
			role = render.RoleDim // nothing to move, or no move possible
		}
		p.lines = append(p.lines, balanceLine{text: text, role: role, ref: g.Ref(), group: g})
	}
	p.add(render.RolePlain, "")
	p.prose(p.survey.FootLines(false, false), w)
}

// oneGroup adds the lines of a replica and its plan. The object of a move's line is its segment.
func (p *balancePage) oneGroup(w int) {
	r := p.survey.Report
	g, moves := r.Groups[0], r.Plans[0].Moves
	p.add(render.RoleTitle, clusters.GroupTitle(g)+"  "+clusters.GroupSpread(g, r.Options.By))
	p.shares(g.Shares, g, w)
	p.add(render.RolePlain, "")
	from := len(p.lines)
	p.prose(p.survey.PlanLines(0), w)
	for i := from; i < len(p.lines) && len(moves) > 0; i++ {
		if strings.Contains(p.lines[i].text, " segment "+moves[0].Segment.String()+" ") {
			p.lines[i].ref, moves = model.Ref{Resource: "segments", ID: moves[0].Segment.String()}, moves[1:]
		}
	}
}
