package channels

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
	"kitescope/words"
)

// Thresholds of checkpoint-lag.
const (
	// lagWarning is the age from which Milvus itself no longer compacts a channel (dataCoord.compaction.channelMaxCPLag: 900). On a healthy
	// 2.3.5, idle and under load, the oldest was 652 s (docs/DIAGNOSIS.md): a growing segment that had not
	// filled its buffer, which is written after dataNode.segment.syncPeriod (600 s) at the latest.
	lagWarning = 15 * time.Minute
	syncPeriod = 10 * time.Minute
	// lagError is by how much the channel of a query node may be behind before it refuses searches (queryNode.scheduler.maxTimestampLag: 86400), and more
	// than some queues keep. Whoever loads the channel now begins that far back.
	lagError = 24 * time.Hour
	// watchGrace is what a data node that has just taken a channel over is given.
	watchGrace = 5 * time.Minute
	// crowd is from how many collections on a watcher's lag is one finding about the watcher.
	crowd = 5
)

// checkpointLag finds channels whose checkpoint is old.
var checkpointLag = &check.Check{
	ID:       "checkpoint-lag",
	Title:    "The checkpoint of a vchannel does not keep up",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartChannels | model.PartSessions,
	Doc: `Looks at the age of the checkpoints of living collections' vchannels (` + "`datacoord-meta/channel-cp/`" + `). A checkpoint moves on an idle channel too, with
time ticks, about once a minute. While a growing segment waits in a data node's buffer it stands still, for at most ` + "`dataNode.segment.syncPeriod`" + ` (10 minutes).

A warning from 15 minutes on (or syncPeriod and 5 minutes, if that is longer): there Milvus 2.4 and later stop compacting the channel (` + "`dataCoord.compaction.channelMaxCPLag`" + `). An error from a day on: a query
node that loads the channel begins there, and refuses searches, "Timestamp lag too large", until it has caught up. On healthy clusters the oldest was 652 seconds.

Not a finding: channels of dropped collections (see ` + "`checkpoint-stale-dropped`" + `), without a checkpoint (` + "`checkpoint-missing`" + `), taken over less than 5 minutes ago; Milvus
2.1, which has no such checkpoints. If more than 5 collections of one node lag, that is one finding about the node.

Whoever loads the collection has to read the queue from the checkpoint on; segments cannot be collected; if the queue's retention passes, data is lost. Milvus issues
27762, 29689, 30470, 44172, 45210.`,
	Remedy: `Look at the node that consumes the channel: its log, its memory, object storage behind it. Inserting faster than it can write makes it lag:
` + "`quotaAndLimits.limitWriting.ttProtection.enabled`" + ` slows writers down. Flushing the collection ends segments that wait in buffers. Look that the queue keeps messages for longer than the
checkpoint is old.`,
	Run:   runCheckpointLag,
	Roles: []string{"datanode", "datacoord", "rootcoord", "streamingnode"},
	FollowsFrom: []check.Cause{
		check.TakesNoWrites(),
		check.StorageFails("datanode", "streamingnode"),
		{Check: "channel-unwatched", Of: check.Shares("vchannels")},
		{Check: "channel-watch-state", Of: check.Shares("vchannels")},
		{Check: "queue-unreachable"},
		{Check: "timetick-lag"},
		{Check: "etcd-no-leader"},
		{Check: "etcd-alarm"},
		{Check: "clock-regression", Of: func(_ *model.Cluster, _, cause *check.Finding) bool { return cause.Severity == check.Warning }}, // else ages do not go by the clock that is wrong
		{Check: "bad-switches", Of: aboutSync},
	},
}

// lagging are a collection's channels that are behind.
type lagging struct {
	x        *model.Collection
	channels []*model.VChannel
	worst    *model.VChannel
}

func runCheckpointLag(p *check.Pass) error {
	if facts.IsLegacy(p.Cluster) {
		return p.Skip("Milvus 2.1 keeps no checkpoints of channels")
	}
	if p.Now.IsZero() {
		return p.Skip("the time of the metadata is unknown")
	}
	allowed := sync.OnceValue(func() time.Duration {
		return max(lagWarning, p.SettingSeconds("dataNode.segment.syncPeriod", syncPeriod, "datanode", "streamingnode")+5*time.Minute)
	})
	limit := p.Before(lagWarning)
	byWatcher := make(map[string][]*lagging)
	seen := make(map[model.CollectionID]*lagging)
	servedChannels(p, func(x *model.Collection, v *model.VChannel) {
		at := v.Checkpoint.At
		if at == 0 || at == model.MaxTSO || at >= limit || v.Watched && !p.OlderThan(v.WatchedAt, watchGrace, true) || at >= p.Before(allowed()) {
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
		if len(list) > crowd {
			reportLags(p, name, list, allowed())
			continue
		}
		for _, l := range list {
			reportLags(p, "", []*lagging{l}, allowed())
		}
	}
	return nil
}

// reportLags reports the lag of one collection, or, if a watcher is named, of all that it lags with.
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
	age := p.Age(worst.Checkpoint.At.Time())
	switch {
	case watcher == nobody:
		f.Object = model.Ref{}
		f.Message = fmt.Sprintf("%s of %s lag by up to %s, and nobody consumes them", words.Plural(channels, "vchannel"), words.Plural(len(list), "collection"), words.Span(age))
	case watcher != "":
		f.Object = model.Ref{Resource: "nodes", ID: watcher, Name: watcher}
		f.Message = fmt.Sprintf("%s of %s on %s lag by up to %s", words.Plural(channels, "vchannel"), words.Plural(len(list), "collection"), watcher, words.Span(age))
	default:
		f.Message = fmt.Sprintf("%s of %s: the checkpoint is %s old (%s)", words.Plural(channels, "vchannel"), facts.CollectionLabel(p.Cluster, list[0].x.ID), words.Span(age), worst.Name)
	}
	f.Evidence = []check.Evidence{
		check.Fact("oldest checkpoint", facts.TimeText(worst.Checkpoint.At.Time()), "etcd"),
		check.Fact("of vchannel", worst.Name, "etcd"),
		check.Count("vchannels that lag", channels, "etcd"),
		check.Lasts("limit", allowed, ""),
		check.Fact("consumed by", watcherName(p.Cluster, worst), "etcd"),
		check.Fact("state of the watch", cmp.Or(worst.WatchState, "none"), "etcd"),
	}
	if lag, ok := p.QueueLag(worst); ok {
		f.Evidence = append(f.Evidence, check.Count("messages behind", lag, "message queue"))
	}
	f.Impact = "Loading reads the queue from there on; compaction and garbage collection of the channel stand still."
	if age >= lagError {
		f.Severity = check.Error
		f.Impact = "Whoever loads the channel begins there, and refuses searches until it has caught up; rows are lost if the queue no longer has the messages."
	}
	switch name := watcherName(p.Cluster, worst); {
	case name == nobody:
		f.Hint = "no node consumes it; " + consumeHint(p)
	case watcher != "":
		f.Hint = check.Advise("look at the log, the memory and the processor of %s, and at object storage: all of its channels wait for one of them", name)
	default:
		f.Hint = check.Python("look at the log and the memory of %s; %sCollection(%s).flush() ends segments that wait in its buffer", check.Advise("%s", name), check.InDatabase(p.Cluster, list[0].x), list[0].x.Name)
	}
	p.Report(f)
}

// aboutSync reports whether a switch holds up that checkpoints move.
func aboutSync(c *model.Cluster, effect, cause *check.Finding) bool {
	return check.SpeaksOf("dataNode.segment.syncPeriod", "dataNode.channel.updateChannelCheckpointInterval")(c, effect, cause)
}
