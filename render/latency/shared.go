package latency

import (
	"slices"
	"strings"

	"kitescope/inspect/latency"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// Rows are the phases of a budget in the order of the request, the whole request first.
func Rows(b *latency.Budget) []*Row {
	return slices.DeleteFunc(phases(b, b.Root, 0, 0), func(r *Row) bool { return r.at != nil })
}

// Whole is the row of all of a request.
func Whole(b *latency.Budget) *Row { return &Row{budget: b, phase: b.Root} }

// Processes are what each process says of a phase, the one that the client waits for longest first.
func Processes(b *latency.Budget, p *latency.Phase) []*Row {
	return slices.DeleteFunc(phases(b, p, -1, 0), func(r *Row) bool { return r.at == nil || r.phase != p })
}

// Columns are those of such lists that are named, in this order. Bars are as wide as the options have room for.
func Columns(o *render.ReportOptions, names ...string) []table.ColumnOf[*Row] {
	all := columns(o, phaseID)
	var list []table.ColumnOf[*Row]
	for _, name := range names {
		for _, c := range all {
			if c.Name == name {
				list = append(list, c)
			}
		}
	}
	return list
}

// Budget is what the row is of.
func (r *Row) Budget() *latency.Budget { return r.budget }

// Phase is the phase.
func (r *Row) Phase() *latency.Phase { return r.phase }

// At is what the process says, nil if the row is of all processes.
func (r *Row) At() *latency.NodePhase { return r.at }

// Process is the name of the process, "" if the row is of all.
func (r *Row) Process() string {
	if r.at == nil {
		return ""
	}
	return r.at.Node.Name(r.at.Role)
}

// Look is how the row looks: what takes half of a request stands out.
func (r *Row) Look() render.Role {
	if look := barLook(r); look == render.RoleWarn {
		return look
	}
	return r.look()
}

// Rates are how many requests there are, and how long they take: "700 requests, 64.9 a second, p50 8 to 16 ms".
func Rates(b *latency.Budget) string { return rates(b) }

// Silent are the processes that said nothing of themselves, each with the reason.
func Silent(l *latency.Latency) []string {
	list := make([]string, len(l.Unknown))
	for i, u := range l.Unknown {
		list[i] = strings.TrimPrefix(name(u)+": ", words.UnknownMark+": ") + u.Reason
	}
	return list
}
