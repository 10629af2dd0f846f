package latency

import (
	"kitescope/inspect/latency"
	"kitescope/render"
)

// Row is a phase of a budget: for all processes, or for one process.
type Row struct {
	budget *latency.Budget
	phase  *latency.Phase
	at     *latency.NodePhase // nil for all processes
	depth  int
	// start is the start of the phase, in milliseconds after the start of the request.
	start float64
}

// rowsOf returns the rows of budgets: the phases in the order of the request, each followed by its processes.
func rowsOf(budgets []*latency.Budget) []*Row {
	var rows []*Row
	for _, b := range budgets {
		rows = append(rows, phases(b, b.Root, 0, 0)...)
	}
	return rows
}

func phases(b *latency.Budget, p *latency.Phase, depth int, start float64) []*Row {
	rows := []*Row{{b, p, nil, depth, start}}
	for i := range p.Nodes {
		rows = append(rows, &Row{b, p, &p.Nodes[i], depth + 1, start})
	}
	for _, c := range p.Children {
		rows = append(rows, phases(b, c, depth+1, start)...)
		start += c.Ms
	}
	return rows
}

// ms returns the row's part of the mean request time, in milliseconds.
func (r *Row) ms() float64 {
	if r.at != nil {
		return r.at.Waited
	}
	return r.phase.Ms
}

func (r *Row) share() float64 {
	if r.budget.Ms <= 0 {
		return 0
	}
	return r.ms() / r.budget.Ms
}

// known reports whether the time of the phase is known.
func (r *Row) known() bool { return r.phase.Known }

// atLeast reports whether only a part of the time of a whole request is known.
func (r *Row) atLeast() bool {
	return !r.phase.Known && r.phase.Name == latency.Total && r.phase.Ms > 0
}

func (r *Row) role() string {
	if r.at != nil {
		return r.at.Role
	}
	return r.phase.Role
}

// look returns the role of the texts in a row.
func (r *Row) look() render.Role {
	switch {
	case r.at != nil || !r.phase.Known:
		return render.RoleDim
	case r.phase.Name == latency.Unexplained:
		return render.RoleDim
	}
	return render.RolePlain
}
