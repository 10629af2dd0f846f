package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// watchTimeout is what Milvus gives a data node to take a channel over (dataCoord.channel.watchTimeoutInterval: 300).
const watchTimeout = 5 * time.Minute

// channelWatchState finds channels whose assignment does not come to an end.
var channelWatchState = &check.Check{
	ID:       "channel-watch-state",
	Title:    "A vchannel's assignment does not complete",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.FlushesHang},
	Starts:   "7m channel_assigned channel_reassigned channel_rewritten | node_joined:datanode node_lost:datanode collection_created",
	Parts:    model.PartObjects | model.PartChannels | model.PartSessions,
	Doc: `Looks at the state of watch records (` + "`channelwatch/`" + `, Milvus 2.5 and older). Anything but WatchSuccess is a step of an assignment: ToWatch, ToRelease
and so on. Warning if the step began longer ago than ` + "`dataCoord.channel.watchTimeoutInterval`" + ` (5 minutes) plus 2 minutes. WatchFailure and
ReleaseFailure are an error after 2 minutes: DataCoord should have retried. Without a start time in the record, only the failures are findings.

On 2.6 and later the state of the pchannel is judged: Assigning is info, as its start is not recorded; any other state but Assigned is a warning.`,
	Remedy: `Search the log of the data node for the vchannel; often it cannot read the queue or the checkpoint. Restarting the node moves the channel to another
one.`,
	Run:   runChannelWatchState,
	Roles: []string{"datanode", "datacoord"},
	FollowsFrom: []check.Cause{
		{Check: "queue-unreachable"}, {Check: "channel-unwatched", Of: check.Shares("vchannels")},
	},
}

func runChannelWatchState(p *check.Pass) {
	timeout := func() time.Duration {
		return p.SettingSeconds("dataCoord.channel.watchTimeoutInterval", watchTimeout, facts.DataCoords()...) + assignGrace
	}
	servedChannels(p, func(x *model.Collection, v *model.VChannel) {
		severity, bad := judgeWatchState(p, v, timeout)
		if !bad {
			return
		}
		since := "at an unknown time"
		if !v.WatchedAt.IsZero() {
			since = words.Span(p.Age(v.WatchedAt)) + " ago"
		}
		p.Report(check.Finding{
			Severity: severity, Object: facts.RefVChannel(v.Name), Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID), facts.RefNode(watcherRole(p.Cluster, v), v.Watcher)},
			Message: fmt.Sprintf("%s of %s is in state %s on %s, started %s", v.Name, facts.CollectionLabel(p.Cluster, x.ID), v.WatchState, watcherName(p.Cluster, v), since),
			Evidence: []check.Evidence{
				check.Fact("state", v.WatchState, "etcd"), check.Fact("started", facts.TimeText(v.WatchedAt), "etcd"), check.Fact("node", watcherName(p.Cluster, v), "etcd"), check.Lasts("limit", timeout(), ""),
			},
			Impact: "Inserts into the channel wait in the queue.",
			Fix: check.Fix(
				check.Do("search the log of %s for %s, to find out what it waits for", watcherName(p.Cluster, v), v.Name),
				check.Do("if it is stuck, restart %s: the channel then moves to another node", watcherName(p.Cluster, v)),
				check.Shell(check.Kitescope("get vchannels").Arg("name="+v.Name)).Does("shows WatchSuccess (2.6: Assigned) once it is done"),
			),
		})
	})
}

func judgeWatchState(p *check.Pass, v *model.VChannel, timeout func() time.Duration) (severity check.Severity, bad bool) {
	if !v.Watched || v.Watcher == model.UnassignedNode {
		return 0, false
	}
	switch v.WatchState {
	case "", "WatchSuccess", "Complete", "Assigned":
		return 0, false
	case "Assigning":
		return check.Info, true // since when is not recorded; it takes seconds
	case "WatchFailure", "ReleaseFailure":
		return check.Error, p.OlderThan(v.WatchedAt, assignGrace, true)
	case "ToWatch", "Uncomplete", "ToRelease", "ReleaseSuccess":
		return check.Warning, p.OlderThan(v.WatchedAt, timeout(), false)
	}
	return check.Warning, true // Unavailable, Uninitialized: a pchannel that no streaming node has
}
