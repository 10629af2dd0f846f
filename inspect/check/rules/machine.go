package rules

import (
	"net"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// machine holds the number of processors of the host of a process, and the number of busy ones. busy is the larger of
// own, the sum over the processes on the host, and the usage that these processes report for the whole host.
type machine struct {
	own, busy float64
	cores     int64
	processes int
}

// machineOf returns the machine of a node. Processes are on the same machine if their addresses have the same host. The
// result uses the median of their reports, because each report covers only a moment of the window. It ignores reports
// of 0, because a process that is queried twice within a moment reports 0.
func machineOf(p *check.Pass, n *model.LiveNode) (m machine) {
	if n.System == nil || n.System.CPUs <= 0 {
		return m
	}
	m.cores = n.System.CPUs
	seen := map[*model.Process]bool{}
	var said []float64
	for _, x := range p.Runtime.Nodes {
		if x != n && !sameHost(x, n) {
			continue
		}
		if x.System != nil && x.System.CPUUsage > 0 {
			said = append(said, min(1, x.System.CPUUsage/100)*float64(m.cores))
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
	m.own = min(m.own, float64(m.cores))
	m.busy = max(m.own, median(said))
	return m
}

// full reports whether a machine has no idle processor left.
func (m *machine) full() bool { return m.cores > 0 && m.busy >= busy*float64(m.cores) }

// sameHost reports whether two sessions are on one host.
func sameHost(x, n *model.LiveNode) bool {
	a, _, err := net.SplitHostPort(x.Address)
	b, _, other := net.SplitHostPort(n.Address)
	return err == nil && other == nil && a == b
}
