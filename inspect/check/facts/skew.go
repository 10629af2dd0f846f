package facts

import (
	"slices"
	"time"

	"kitescope/inspect/model"
)

// ClockTolerance is the tolerance for two clocks that agree: RootCoord reserves timestamps up to 3 s ahead of its
// clock, and reading a large store takes a while.
const ClockTolerance = 10 * time.Second

// ClockAhead returns how far the clock by which a live cluster was read is ahead of the cluster's own. It returns 0
// if they agree or if that is unknown. Positions, versions and start times of processes are in the cluster's time.
// Compared with a clock that is five minutes off, every node would appear five minutes behind, and no node just
// started. The reservation of RootCoord is near its clock only while RootCoord responds.
func ClockAhead(c *model.Cluster) time.Duration {
	p := Facts{Cluster: c}
	reserved := p.Reserved()
	if !p.ByClock() || reserved.IsZero() || c.Origin.Taken.IsZero() || !rootCoordResponds(c.Runtime) {
		return 0
	}
	ahead := c.Origin.Taken.Sub(reserved)
	if ahead.Abs() < ClockTolerance {
		return 0
	}
	return ahead
}

// rootCoordResponds reports whether RootCoord, which reserves timestamps, responds.
func rootCoordResponds(r *model.Runtime) bool {
	return r != nil && slices.ContainsFunc(r.Nodes, func(n *model.LiveNode) bool {
		return (n.Role == "rootcoord" || n.Role == "mixcoord") && n.Outcome == model.Answered &&
			(n.State == "" || n.State == "Healthy")
	})
}

// Reserved returns the time up to which RootCoord has reserved timestamps, zero if it is not recorded.
func (f *Facts) Reserved() time.Time {
	var at time.Time
	for _, a := range f.Allocators {
		if (a.Name == "gid/timestamp" || a.Name == "tso/timestamp") && a.At.After(at) {
			at = a.At
		}
	}
	return at
}

// ByClock reports whether the time at which the metadata was read comes from a clock, not from a timestamp of
// Milvus.
func (f *Facts) ByClock() bool { return f.Origin.Kind == "etcd" || f.Origin.ByClock }
