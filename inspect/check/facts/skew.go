package facts

import (
	"slices"
	"time"

	"kitescope/inspect/model"
)

// Agreeing is by how much two clocks may differ and still count as one: RootCoord's reservation of timestamps runs up to 3 s
// ahead of its clock, and reading a large store takes a while.
const Agreeing = 10 * time.Second

// ClockAhead is by how much the clock by which a live cluster was read is ahead of the cluster's own; 0 if they agree, or nothing
// tells. Positions, versions and starts of processes are of the cluster's clock: counted to another, whoever runs kitescope on
// a machine that is five minutes off would find every node five minutes behind, and no node that has just started. Only where RootCoord
// answers is what it has reserved near to what its clock says.
func ClockAhead(c *model.Cluster) time.Duration {
	p := Facts{Cluster: c}
	reserved := p.Reserved()
	if !p.ByClock() || reserved.IsZero() || c.Origin.Taken.IsZero() || !keepsTime(c.Runtime) {
		return 0
	}
	ahead := c.Origin.Taken.Sub(reserved)
	if ahead.Abs() < Agreeing {
		return 0
	}
	return ahead
}

// keepsTime reports whether RootCoord, which reserves timestamps, answers.
func keepsTime(r *model.Runtime) bool {
	return r != nil && slices.ContainsFunc(r.Nodes, func(n *model.LiveNode) bool {
		return (n.Role == "rootcoord" || n.Role == "mixcoord") && n.Outcome == model.Answered && (n.State == "" || n.State == "Healthy")
	})
}

// Reserved is up to when RootCoord has reserved timestamps, zero if that is not recorded.
func (f *Facts) Reserved() time.Time {
	var at time.Time
	for _, a := range f.Allocators {
		if (a.Name == "gid/timestamp" || a.Name == "tso/timestamp") && a.At.After(at) {
			at = a.At
		}
	}
	return at
}

// ByClock reports whether the time at which the metadata were read is a clock's, and no timestamp of Milvus.
func (f *Facts) ByClock() bool { return f.Origin.Kind == "etcd" || f.Origin.ByClock }
