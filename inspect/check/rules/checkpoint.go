package rules

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// servedChannels calls f for each vchannel that should be consumed: those of existing collections.
func servedChannels(p *check.Pass, f func(*model.Collection, *model.VChannel)) {
	for _, v := range p.VChannels {
		if x := p.Collection(v.Collection); x != nil && !x.Dropped() && v.Shard >= 0 {
			f(x, v)
		}
	}
}

// newCollection reports whether a collection is younger than d. It returns false if the creation time is unknown.
func newCollection(p *check.Pass, x *model.Collection, d time.Duration) bool {
	return !p.OlderThan(x.CreatedAt.Time(), d, true)
}

// noWatcher is the watcher name of a channel without a watcher.
const noWatcher = "no node"

// watcherName returns the session that consumes a vchannel, e.g. "datanode-17", or "no node".
func watcherName(c *model.Cluster, v *model.VChannel) string {
	if !facts.HasWatcher(v) {
		return noWatcher
	}
	return v.Watcher.Name(c.WatcherRole(v))
}

// watcherLog returns the process whose log covers a vchannel: its consumer, or DataCoord if it has none.
func watcherLog(c *model.Cluster, v *model.VChannel) string {
	if name := watcherName(c, v); name != noWatcher {
		return name
	}
	return "DataCoord"
}
