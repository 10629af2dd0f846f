package replay

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/replay/load"
)

// ServerUsage returns the activity of a Milvus cluster's processes during a load: the CPU time of each, and the phases
// of a mean search, which calibrate whatif. It is the increase of their metrics between their last two scrapes.
// idle is the cluster before the load, with two scrapes of its own; it may be nil. here holds the addresses of this
// machine. ServerUsage returns an error if metrics are missing, or if the proxies counted no search.
func ServerUsage(c, idle *model.Cluster, here []net.IP) (*load.ServerUsage, error) {
	if c == nil || c.Runtime == nil {
		return nil, errors.New("the processes of the cluster were not queried")
	}
	s := &load.ServerUsage{}
	before := idleCores(idle)
	seen := map[*model.Process]bool{}
	for _, n := range c.Runtime.Nodes {
		if n.Process == nil || seen[n.Process] {
			continue
		}
		seen[n.Process] = true
		w := metrics.NewWindow(n.Process.Before, n.Process.Metrics)
		if w == nil || w.SinceStart || !w.To.After(w.From) {
			continue
		}
		used, ok := w.Counter(metrics.CPUSeconds)
		if !ok {
			continue
		}
		s.Took = max(s.Took, w.To.Sub(w.From))
		p := load.Process{
			Role: n.Role, Node: int64(n.Node), Name: n.Name(), Here: isHere(n.Address, here),
			CPU: time.Duration(used * float64(time.Second)), Idle: -1,
		}
		if cores, ok := before[n.Name()]; ok {
			p.Idle = cores
		}
		if n.System != nil {
			p.Cores = float64(max(0, n.System.CPUs))
		}
		s.Processes = append(s.Processes, p)
	}
	if len(s.Processes) == 0 {
		return nil, errors.New("no process returned metrics before and after the load")
	}
	slices.SortFunc(s.Processes, func(a, b load.Process) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Node, b.Node))
	})
	l := latency.Compute(c)
	b := l.Find("", latency.Search)
	if b == nil || b.Requests <= 0 || !b.Root.Known {
		for _, u := range l.Unknown {
			if u.Role == "proxy" {
				return nil, fmt.Errorf("proxy-%v returned no metrics: %s", u.Node, u.Reason)
			}
		}
		return nil, errors.New("its proxies counted no searches during the load: is the target another cluster?")
	}
	s.Requests = b.Requests
	b.Root.Walk(func(p *latency.Phase, _ int) {
		if p.Known {
			s.Phases = append(s.Phases, servedPhase(p))
		}
	})
	return s, nil
}

func servedPhase(p *latency.Phase) load.Phase {
	x := load.Phase{
		Name: string(p.Name), Parent: string(p.Parent), Role: p.Role, Wait: milliseconds(p.Ms), Estimate: p.Estimate,
	}
	for _, n := range p.Nodes {
		x.Nodes = append(x.Nodes, load.PhaseOf{
			Node: int64(n.Node), Calls: n.Calls, Each: milliseconds(n.Ms), Low: milliseconds(n.Mean.Low),
			High: milliseconds(n.Mean.High),
		})
	}
	slices.SortFunc(x.Nodes, func(a, b load.PhaseOf) int { return cmp.Compare(a.Node, b.Node) })
	return x
}

// milliseconds converts ms to a Duration of at most an hour, because an upper bound may be infinite.
func milliseconds(ms float64) time.Duration {
	return time.Duration(min(max(0, ms), 3.6e6) * float64(time.Millisecond))
}

// idleCores returns the cores that each process uses before the load, by name.
func idleCores(c *model.Cluster) map[string]float64 {
	cores := map[string]float64{}
	if c == nil || c.Runtime == nil {
		return cores
	}
	for _, n := range c.Runtime.Nodes {
		// Skip a window of less than a second and the time since the process started: neither measures the current
		// use.
		if used, over, ok := n.Process.CPU(); ok && n.Process.Before != nil && over >= time.Second {
			cores[n.Name()] = used
		}
	}
	return cores
}

// isHere reports whether an address belongs to this machine.
func isHere(address string, here []net.IP) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && (ip.IsLoopback() || slices.ContainsFunc(here, ip.Equal))
}
