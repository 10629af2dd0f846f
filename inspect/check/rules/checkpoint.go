package rules

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// servedChannels are the vchannels that someone should consume: those that living collections list.
func servedChannels(p *check.Pass, f func(*model.Collection, *model.VChannel)) {
	for _, v := range p.VChannels {
		if x := p.Collection(v.Collection); x != nil && !x.Dropped() && v.Shard >= 0 {
			f(x, v)
		}
	}
}

// newCollection reports whether a collection is younger than d. One without a time of creation is not.
func newCollection(p *check.Pass, x *model.Collection, d time.Duration) bool {
	return !p.OlderThan(x.CreatedAt.Time(), d, true)
}

// nobody is the name of the watcher of a channel that has none.
const nobody = "no node"

// watcherName is the session that consumes a vchannel: "datanode-17"; "no node".
func watcherName(c *model.Cluster, v *model.VChannel) string {
	if !facts.HasWatcher(v) {
		return nobody
	}
	return v.Watcher.Name(c.WatcherRole(v))
}

// watcherLog is whose log tells of a vchannel: that of who consumes it, else DataCoord's.
func watcherLog(c *model.Cluster, v *model.VChannel) string {
	if name := watcherName(c, v); name != nobody {
		return name
	}
	return "DataCoord"
}
