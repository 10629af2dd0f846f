package latency

import (
	"slices"
	"strings"

	"kitescope/inspect/latency"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

// Rows returns the phases of a budget in the order of the request. The first row is the whole request.
func Rows(b *latency.Budget) []*Row {
	return slices.DeleteFunc(phases(b, b.Root, 0, 0), func(r *Row) bool { return r.at != nil })
}

// RootRow returns the row of the whole request.
func RootRow(b *latency.Budget) *Row { return &Row{budget: b, phase: b.Root} }

// Processes returns a row for each process of a phase, in the order of the phase: the client waits longest for the
// first one.
func Processes(b *latency.Budget, p *latency.Phase) []*Row {
	return slices.DeleteFunc(phases(b, p, -1, 0), func(r *Row) bool { return r.at == nil || r.phase != p })
}

// Columns returns the named columns, in the order of names. The width of the bars depends on the width in o.
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

// Budget returns the budget of the row.
func (r *Row) Budget() *latency.Budget { return r.budget }

// Phase returns the phase of the row.
func (r *Row) Phase() *latency.Phase { return r.phase }

// At returns the data of the row's process, or nil if the row is for all processes.
func (r *Row) At() *latency.NodePhase { return r.at }

// Process returns the name of the row's process, or "" if the row is for all processes.
func (r *Row) Process() string {
	if r.at == nil {
		return ""
	}
	return r.at.Node.Name(r.at.Role)
}

// Look returns the role of the row. It emphasizes phases without children that take at least half of the request.
func (r *Row) Look() render.Role {
	if look := barLook(r); look == render.RoleWarn {
		return look
	}
	return r.look()
}

// Rates returns the number of requests, their rates and their quantiles, e.g. "700 requests, 64.9 a second, p50 8 to
// 16 ms".
func Rates(b *latency.Budget) string { return rates(b) }

// Unresponsive returns the processes that reported nothing, each with the reason.
func Unresponsive(l *latency.Latency) []string {
	list := make([]string, len(l.Unknown))
	for i, u := range l.Unknown {
		list[i] = strings.TrimPrefix(name(u)+": ", words.UnknownMark+": ") + u.Reason
	}
	return list
}
