package rules

import (
	"net"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// machine is how many processors there are where a process runs, and how many of them are busy: as many as the processes use that
// told it, or as what these say of all that runs there, if that is more.
type machine struct {
	own, busy float64
	has       int64
	processes int
}

// machineOf is that of a node, as far as its host's address tells what runs beside it. Who is asked twice within a moment says 0 of
// the machine, and one moment is not all of the window: what most say counts.
func machineOf(p *check.Pass, n *model.LiveNode) (m machine) {
	if n.System == nil || n.System.CPUs <= 0 {
		return m
	}
	m.has = n.System.CPUs
	seen := map[*model.Process]bool{}
	var said []float64
	for _, x := range p.Runtime.Nodes {
		if x != n && !sameHost(x, n) {
			continue
		}
		if x.System != nil && x.System.CPUUsage > 0 {
			said = append(said, min(1, x.System.CPUUsage/100)*float64(m.has))
		}
		if x.Process == nil || seen[x.Process] {
			continue
		}
		seen[x.Process] = true
		if used, _, ok := x.Process.CPU(); ok {
			m.own += used
			m.processes++
		}
	}
	m.own = min(m.own, float64(m.has))
	m.busy = max(m.own, middle(said))
	return m
}

// full reports whether a machine has no processor left.
func (m *machine) full() bool { return m.has > 0 && m.busy >= busy*float64(m.has) }

// sameHost reports whether two sessions are on one host.
func sameHost(x, n *model.LiveNode) bool {
	a, _, err := net.SplitHostPort(x.Address)
	b, _, other := net.SplitHostPort(n.Address)
	return err == nil && other == nil && a == b
}
