package facts

import (
	"slices"

	"kitescope/inspect/model"
)

// Consumed reports whether every channel of a collection has a node that consumes it, as far as is known. A flush
// waits forever if a channel has no such node.
func Consumed(c *model.Cluster, id model.CollectionID) bool {
	return !c.Loaded.Has(model.PartChannels) || !WatchesKnown(c) ||
		!slices.ContainsFunc(c.VChannelsOf(id), func(v *model.VChannel) bool { return v.Shard >= 0 && !HasWatcher(v) })
}

// WatchesKnown reports whether the metadata has channel watches. If it returns false, the version keeps its watches
// elsewhere.
func WatchesKnown(c *model.Cluster) bool {
	return ReleaseOf(c).Before(Release{2, 6}) ||
		slices.ContainsFunc(c.VChannels, func(v *model.VChannel) bool { return v.Watched }) ||
		slices.ContainsFunc(c.PChannels, func(x *model.PChannel) bool { return x.Streaming })
}

// HasWatcher reports whether a vchannel is assigned to a node that consumes it.
func HasWatcher(v *model.VChannel) bool {
	return v.Watched && v.Watcher != model.UnassignedNode && v.Watcher != 0
}
