package rules

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// assignGrace is the time for DataCoord to assign the channels of a new collection, and for a session to come back.
const assignGrace = 2 * time.Minute

// channelUnwatched reports vchannels that no node consumes.
var channelUnwatched = &check.Check{
	ID:       "channel-unwatched",
	Title:    "A vchannel is not consumed, or its node is gone",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.FlushesHang, check.MemoryFull},
	Starts: "2m channel_released node_lost:datanode node_left:datanode node_lost:streamingnode " +
		"node_left:streamingnode | collection_created channel_reassigned",
	Parts: model.PartObjects | model.PartChannels | model.PartSessions | model.PartServing,
	Doc: `Inserts succeed, but no node persists them. They go to the queue, segments are not sealed, the checkpoint
does not advance, and flushes wait forever. The check looks at vchannels of existing collections at least 2 minutes
old and their consumers: data nodes by the records under ` + "`channelwatch/`" + ` (Milvus 2.5 and older), streaming
nodes by the assignment of the pchannel (2.6 and later). Error if

- there is no record, or the channel is in DataCoord's buffer of channels without a node;
- its node has no session. After a crash DataCoord reassigns the channels within seconds after the session ends. A
  record of a node that is gone means that this failed, or that there is no other node.

If more than 5 collections lost the same node, there is one finding for all. Could not run if no process is
registered: a stopped cluster consumes nothing.`,
	Remedy: `Start a data node (Milvus 2.6: a streaming node). If one is running but gets no channels, restart
DataCoord.`,
	Run:   runChannelUnwatched,
	Whole: true,
	Roles: []string{"datanode", "datacoord", "streamingnode"},
}

func runChannelUnwatched(p *check.Pass) {
	if !facts.Alive(p.Cluster) {
		p.Skip("no process is registered")
		return
	}
	if !facts.WatchesKnown(p.Cluster) {
		p.Skip("kitescope does not know where this version stores its watches")
		return
	}
	lost := make(map[model.CollectionID][]*model.VChannel)
	servedChannels(p, func(x *model.Collection, v *model.VChannel) {
		if !newCollection(p, x, assignGrace) && lostWatcher(p, v) != "" {
			lost[x.ID] = append(lost[x.ID], v)
		}
	})
	whys := make(map[string][]model.CollectionID)
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		why := lostWatcher(p, lost[id][0])
		whys[why] = append(whys[why], id)
	}
	for _, why := range slices.Sorted(maps.Keys(whys)) {
		if ids := whys[why]; len(ids) > maxCollectionFindings {
			reportUnwatched(p, why, ids, lost)
			continue
		}
		for _, id := range whys[why] {
			reportUnwatched(p, why, []model.CollectionID{id}, lost)
		}
	}
}

// reportUnwatched reports the channels of one collection, or of all collections that lost the same node.
func reportUnwatched(
	p *check.Pass, why string, ids []model.CollectionID, lost map[model.CollectionID][]*model.VChannel,
) {
	count, all := 0, 0
	first := lost[ids[0]][0]
	f := check.Finding{
		Severity: check.Error, Object: facts.RefCollection(p.Cluster, ids[0]),
		Impact: "Inserts pile up in the queue: they are not persisted, sealed or flushed.",
		Fix:    consumeFix(p),
	}
	if first.Watched && first.Watcher > 0 {
		f.Objects = append(f.Objects, facts.RefNode(p.Cluster.WatcherRole(first), first.Watcher))
	}
	for _, id := range ids {
		count, all = count+len(lost[id]), all+len(p.Collection(id).VChannels)
		if len(ids) > 1 {
			f.Objects = append(f.Objects, facts.RefCollection(p.Cluster, id))
		}
		for _, v := range lost[id] {
			f.Objects = append(f.Objects, facts.RefVChannel(v.Name))
		}
	}
	f.Objects = f.Objects[:min(len(f.Objects), facts.MaxObjects)]
	f.Message = fmt.Sprintf("%s of %s: %s (%s)", words.Plural(count, "vchannel"),
		facts.CollectionLabel(p.Cluster, ids[0]), why, first.Name)
	if len(ids) > 1 {
		f.Object = model.Ref{}
		if first.Watched && first.Watcher > 0 {
			f.Object = facts.RefNode(p.Cluster.WatcherRole(first), first.Watcher)
		}
		f.Message = fmt.Sprintf("%s of %s: %s", words.Plural(count, "vchannel"), words.Plural(len(ids), "collection"),
			why)
	}
	f.Evidence = []check.Evidence{
		check.Count("vchannels", count, "etcd"),
		check.Count("vchannels of these collections", all, "etcd"),
		check.Fact("reason", why, "etcd"),
		check.Fact("registered nodes that could consume them", words.Summarize(consumers(p)), "etcd"),
	}
	p.Report(f)
}

// lostWatcher returns the reason why no node consumes a vchannel, "" if a node does.
func lostWatcher(p *check.Pass, v *model.VChannel) string {
	switch {
	case !v.Watched || v.Watcher == 0:
		return "not watched by any node"
	case v.Watcher == model.UnassignedNode:
		return "waiting for a node in DataCoord's buffer"
	case len(p.SessionsOf(v.Watcher)) > 0:
		return ""
	case recent(p, v.WatchedAt, assignGrace):
		return "" // the session may have registered after sessions were read
	}
	return watcherName(p.Cluster, v) + " is gone (not registered)"
}

// recent reports whether a time is known and less than d ago.
func recent(p *check.Pass, t time.Time, d time.Duration) bool { return !p.OlderThan(t, d, true) }

// consumeFix returns the steps that get channels consumed.
func consumeFix(p *check.Pass) []check.Step {
	names := consumers(p)
	switch streaming := facts.HasRole(p.Cluster, "streamingnode"); {
	case len(names) > 0 && streaming:
		return check.Fix(
			check.Do("search the log of MixCoord for the channel and the reason why %s did not get it", names),
			check.Do("if the log gives no reason, restart MixCoord").Restarting(p.Cluster, 2*time.Minute, "mixcoord"),
		)
	case len(names) > 0:
		return check.Fix(check.Do("restart DataCoord: it then reassigns all channels, and %s could take them; "+
			"its log has the reason why that has not happened", names).
			Restarting(p.Cluster, 2*time.Minute, "datacoord"))
	case facts.HasRole(p.Cluster, "mixcoord"):
		return check.Fix(check.Do("start a streaming node: none is registered").Interrupting(2*time.Minute, "nothing"))
	}
	return check.Fix(check.Do("start a data node: none is registered").Interrupting(2*time.Minute, "nothing"))
}

// consumers returns the sessions that could consume channels.
func consumers(p *check.Pass) []string {
	var list []*model.Session
	for _, s := range p.Sessions {
		if s.Role == "datanode" || s.Role == "streamingnode" {
			list = append(list, s)
		}
	}
	return facts.NamesOf(list)
}
