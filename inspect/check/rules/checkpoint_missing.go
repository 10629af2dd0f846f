package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// firstCheckpoint is the time for a new collection to get its first checkpoint. Data nodes report checkpoints each
// minute (dataNode.channel.updateChannelCheckpointInterval: 60).
const firstCheckpoint = 10 * time.Minute

// checkpointMissing reports vchannels without a checkpoint.
var checkpointMissing = &check.Check{
	ID:       "checkpoint-missing",
	Title:    "A vchannel has no checkpoint",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesStale, check.FlushesHang},
	Starts:   "collection_created | channel_assigned",
	Parts:    model.PartObjects | model.PartChannels | model.PartSessions,
	Doc: `A load reads a channel from the collection's first message, and nothing on it is compacted or collected.
Warning if a vchannel of an existing collection has no key under ` + "`datacoord-meta/channel-cp/`" + ` once the
collection is 10 minutes and its watch 5 minutes old. Empty collections have checkpoints too: time ticks move them.
Could not run on Milvus 2.1, which has none.`,
	Remedy: `Restart the node that etcd names as consumer: it writes checkpoints each minute, so it does not have the
channel. A flush of the collection would wait forever. If no node consumes the channel, see
` + "`channel-unwatched`" + `.`,
	Run:   runCheckpointMissing,
	Whole: true,
	Roles: []string{"datanode", "datacoord", "streamingnode"},
	FollowsFrom: []check.Cause{
		{Check: "channel-unwatched", Applies: check.Shares("vchannels")},
		{Check: "channel-watch-state", Applies: check.Shares("vchannels")},
		{Check: "queue-unreachable"},
		{Check: "layout-older"},
	},
}

func runCheckpointMissing(p *check.Pass) {
	if facts.IsLegacy(p.Cluster) {
		p.Skip("Milvus 2.1 keeps no checkpoints of channels")
		return
	}
	missing := make(map[model.CollectionID][]*model.VChannel)
	servedChannels(p, func(x *model.Collection, v *model.VChannel) {
		young := newCollection(p, x, firstCheckpoint) || v.Watched && !p.OlderThan(v.WatchedAt, watchGrace, true)
		if v.Checkpoint.At == 0 && !young {
			missing[x.ID] = append(missing[x.ID], v)
		}
	})
	for _, x := range p.Collections {
		list := missing[x.ID]
		if len(list) == 0 {
			continue
		}
		f := check.Finding{
			Severity: check.Warning, Object: facts.RefCollection(p.Cluster, x.ID),
			Message: fmt.Sprintf("%s of %s %s no checkpoint", words.Plural(len(list), "vchannel"),
				facts.CollectionLabel(p.Cluster, x.ID), words.Agree(len(list), "has", "have")),
			Evidence: []check.Evidence{
				check.Count("vchannels without a checkpoint", len(list), "etcd"),
				check.Count("vchannels of the collection", len(x.VChannels), "etcd"),
				check.Fact("collection created", facts.TimeText(x.CreatedAt.Time()), "etcd"),
				check.Fact("consumed by", watcherName(p.Cluster, list[0]), "etcd"),
			},
			Impact: "Loading reads the queue from its beginning; the channel is not compacted or garbage collected.",
		}
		if name := watcherName(p.Cluster, list[0]); name == noWatcher {
			f.Fix = consumeFix(p)
		} else { // a flush would wait forever for a node that does not have the channel
			f.Fix = check.Fix(
				check.Do("restart %s: it is recorded as the consumer, but does not write a checkpoint every minute",
					name).
					Restarting(p.Cluster, 2*time.Minute, p.WatcherRole(list[0])),
				check.Shell(check.Kitescope("get vchannels").Arg("collection_id="+x.ID.String())).
					Does("shows a checkpoint for each vchannel within two minutes"),
				check.Do("if none appears, search the log of %s for the vchannel", watcherLog(p.Cluster, list[0])),
			)
		}
		for _, v := range list[:min(len(list), facts.MaxObjects)] {
			f.Objects = append(f.Objects, facts.RefVChannel(v.Name))
		}
		p.Report(f)
	}
}
