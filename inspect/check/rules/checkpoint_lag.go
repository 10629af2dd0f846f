package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of checkpoint-lag.
const (
	// lagWarning is the age at which Milvus itself stops compacting a channel
	// (dataCoord.compaction.channelMaxCPLag: 900). On a healthy 2.3.5, idle and under load, the oldest
	// checkpoint was 652 s (docs/evidence/diagnosis.md): a growing segment had not filled its buffer, which is
	// written after dataNode.segment.syncPeriod (600 s) at the latest.
	lagWarning = 15 * time.Minute
	syncPeriod = 10 * time.Minute
	// lagError is the lag at which a query node refuses searches on a channel (queryNode.scheduler.maxTimestampLag:
	// 86400), and longer than some queues keep messages. A node that loads the channel now starts that far back.
	lagError = 24 * time.Hour
	// watchGrace is the time for a data node that has just taken over a channel.
	watchGrace = 5 * time.Minute
	// maxCollectionFindings is the number of collections above which the lag of a watcher is one finding about the
	// watcher.
	maxCollectionFindings = 5
)

// checkpointLag reports channels whose checkpoint is old.
var checkpointLag = &check.Check{
	ID:       "checkpoint-lag",
	Title:    "A vchannel's checkpoint falls behind",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.FlushesHang},
	Starts: "20m checkpoint_stopped channel_released node_lost:datanode node_left:datanode | channel_reassigned " +
		"segment_created node_lost:streamingnode config_changed:dataNode",
	Parts: model.PartObjects | model.PartChannels | model.PartSessions,
	Doc: `A data node stopped writing, and the next load reads hours of messages. The check looks at the checkpoint
ages of existing collections' vchannels (` + "`datacoord-meta/channel-cp/`" + `). Time ticks move one about once a
minute, even on an idle channel. While a growing segment waits in a data node's buffer, the checkpoint does not
advance, for at most ` + "`dataNode.segment.syncPeriod`" + ` (10 minutes).

Warning from 15 minutes (or syncPeriod plus 5 minutes, if longer): from then on Milvus 2.4 and later do not compact
the channel (` + "`dataCoord.compaction.channelMaxCPLag`" + `). Error from a day: a query node that loads the channel
starts there and refuses searches, "Timestamp lag too large", until it catches up. On healthy clusters the oldest was
652 seconds.

Not reported: channels of dropped collections (see ` + "`checkpoint-stale-dropped`" + `), without a checkpoint
(` + "`checkpoint-missing`" + `), or assigned less than 5 minutes ago; Milvus 2.1, which has no such checkpoints. If
more than 5 collections of one node lag, there is one finding about the node.

Meanwhile segments cannot be collected. If the queue's retention passes, data is lost. Milvus issues 27762, 29689,
30470, 44172, 45210.`,
	Remedy: `Look at the node that consumes the channel: log, memory, object storage. If clients insert faster than it
can write, turn on ` + "`quotaAndLimits.limitWriting.ttProtection.enabled`" + ` to slow them down. Flush the collection
to write segments that wait in buffers. Keep the queue's retention above the age of the checkpoint.`,
	Run:   runCheckpointLag,
	Roles: []string{"datanode", "datacoord", "rootcoord", "streamingnode"},
	FollowsFrom: []check.Cause{
		check.StorageReadOnly(),
		check.StorageFails("datanode", "streamingnode"),
		{Check: "channel-unwatched", Applies: check.Shares("vchannels")},
		{Check: "channel-watch-state", Applies: check.Shares("vchannels")},
		// their findings list only some of their vchannels
		check.SevereCause("wal-not-open", check.Shares("pchannels")),
		check.SevereCause("wal-flush-lag", check.Shares("pchannels")),
		{Check: "queue-unreachable"},
		{Check: "timetick-lag", Applies: check.ClusterWideOr(consumedBy)},
		{Check: "etcd-no-leader"},
		{Check: "etcd-alarm"},
		// otherwise ages do not depend on the wrong clock
		{
			Check:   "clock-regression",
			Applies: func(_ *model.Cluster, _, cause *check.Finding) bool { return cause.Severity == check.Warning },
		},
		{
			Check: "bad-switches",
			Applies: check.AboutSettings("dataNode.segment.syncPeriod",
				"dataNode.channel.updateChannelCheckpointInterval"),
		},
	},
}

// consumedBy reports whether a vchannel of the effect is consumed by a node that the cause mentions.
func consumedBy(c *model.Cluster, effect, cause *check.Finding) bool {
	return slices.ContainsFunc(effect.Objects, func(ref model.Ref) bool {
		v := c.VChannel(ref.ID)
		return ref.Resource == "vchannels" && v != nil && cause.Mentions(facts.RefNode(c.WatcherRole(v), v.Watcher))
	})
}

// lagging holds the channels of a collection that are behind.
type lagging struct {
	x        *model.Collection
	channels []*model.VChannel
	worst    *model.VChannel
}

func runCheckpointLag(p *check.Pass) {
	if facts.IsLegacy(p.Cluster) {
		p.Skip("Milvus 2.1 keeps no checkpoints of channels")
		return
	}
	if p.Now.IsZero() {
		p.Skip("the time of the metadata is unknown")
		return
	}
	allowed := sync.OnceValue(func() time.Duration {
		return max(lagWarning,
			p.SettingSeconds("dataNode.segment.syncPeriod", syncPeriod, "datanode", "streamingnode")+5*time.Minute)
	})
	limit := p.Before(lagWarning)
	byWatcher := make(map[string][]*lagging)
	seen := make(map[model.CollectionID]*lagging)
	servedChannels(p, func(x *model.Collection, v *model.VChannel) {
		at := v.Checkpoint.At
		if at == 0 || at == model.MaxTSO || at >= limit || v.Watched && !p.OlderThan(v.WatchedAt, watchGrace, true) ||
			at >= p.Before(allowed()) {
			return
		}
		l := seen[x.ID]
		if l == nil {
			l = &lagging{x: x, worst: v}
			seen[x.ID] = l
			name := watcherName(p.Cluster, v)
			byWatcher[name] = append(byWatcher[name], l)
		}
		l.channels = append(l.channels, v)
		if at < l.worst.Checkpoint.At {
			l.worst = v
		}
	})
	for _, name := range slices.Sorted(maps.Keys(byWatcher)) {
		list := byWatcher[name]
		slices.SortFunc(list, func(a, b *lagging) int { return cmp.Compare(a.x.ID, b.x.ID) })
		if len(list) > maxCollectionFindings {
			reportLags(p, name, list, allowed())
			continue
		}
		for _, l := range list {
			reportLags(p, "", []*lagging{l}, allowed())
		}
	}
}

// reportLags reports the lag of one collection or, if watcher is set, of all collections that lag on that watcher.
func reportLags(p *check.Pass, watcher string, list []*lagging, allowed time.Duration) {
	worst, channels := list[0].worst, 0
	f := check.Finding{Severity: check.Warning, Object: facts.RefCollection(p.Cluster, list[0].x.ID)}
	for _, l := range list {
		if l.worst.Checkpoint.At < worst.Checkpoint.At {
			worst = l.worst
		}
		channels += len(l.channels)
		if watcher != "" {
			f.Objects = append(f.Objects, facts.RefCollection(p.Cluster, l.x.ID))
		}
		for _, v := range l.channels[:min(len(l.channels), facts.MaxObjects)] {
			f.Objects = append(f.Objects, facts.RefVChannel(v.Name))
		}
	}
	f.Objects = append(f.Objects, streamedLogs(p, list)...)
	age := p.Age(worst.Checkpoint.At.Time())
	switch {
	case watcher == noWatcher:
		f.Object = model.Ref{}
		f.Message = fmt.Sprintf("%s of %s lag by up to %s and are not consumed", words.Plural(channels, "vchannel"),
			words.Plural(len(list), "collection"), words.Span(age))
	case watcher != "":
		f.Object = model.Ref{Resource: "nodes", ID: watcher, Name: watcher}
		f.Message = fmt.Sprintf("%s of %s on %s lag by up to %s", words.Plural(channels, "vchannel"),
			words.Plural(len(list), "collection"), watcher, words.Span(age))
	default:
		f.Message = fmt.Sprintf("%s of %s: checkpoint %s old (%s)", words.Plural(channels, "vchannel"),
			facts.CollectionLabel(p.Cluster, list[0].x.ID), words.Span(age), worst.Name)
	}
	f.Evidence = []check.Evidence{
		check.Fact("oldest checkpoint", facts.TimeText(worst.Checkpoint.At.Time()), "etcd"),
		check.Fact("vchannel", worst.Name, "etcd"),
		check.Count("vchannels behind", channels, "etcd"),
		check.Duration("limit", allowed, ""),
		check.Fact("consumed by", watcherName(p.Cluster, worst), "etcd"),
		check.Fact("watch state", cmp.Or(worst.WatchState, "none"), "etcd"),
	}
	if lag, ok := p.QueueLag(worst); ok {
		f.Evidence = append(f.Evidence, check.Count("messages behind", lag, "message queue"))
	}
	f.Impact = "Loading has to read the queue from there; compaction and garbage collection of the channel are paused."
	if age >= lagError {
		f.Severity = check.Error
		f.Impact = "A node that loads the channel starts there and refuses searches until it has caught up. Rows are " +
			"lost if the queue has already deleted the messages."
	}
	switch name := watcherName(p.Cluster, worst); {
	case name == noWatcher:
		f.Fix = consumeFix(p)
	case watcher != "":
		f.Fix = check.Fix(
			check.Do("look at the log, memory and CPU of %s, and at object storage: all its channels wait for one of "+
				"them", name),
			check.Shell(check.Kitescope("get vchannels").Arg("watcher="+worst.Watcher.String())).
				Does("shows the age of each checkpoint: it should fall"),
		)
	default:
		x := list[0].x
		f.Fix = check.Fix(
			check.Flush(p.Cluster, x, 2*time.Minute,
				"writes the segments that wait in the buffer of %s, and so moves the checkpoint", name),
			check.Shell(check.Kitescope("get vchannels").Arg("collection_id="+x.ID.String())).
				Does("shows the age of each checkpoint: it should fall within two minutes"),
			check.Do("if it does not, look at the log and memory of %s, and at object storage", name),
		)
	}
	p.Report(f)
}

// streamedLogs returns the pchannels of the streaming service that lag.
func streamedLogs(p *check.Pass, list []*lagging) (refs []model.Ref) {
	names := map[string]bool{}
	for _, l := range list {
		for _, v := range l.channels {
			names[v.PChannel] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if x := p.PChannel(name); x != nil && x.Streaming {
			refs = append(refs, refPChannel(name))
		}
	}
	return refs
}
