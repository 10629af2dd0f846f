package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// watchTimeout is the time that Milvus allows a data node for taking over a channel
// (dataCoord.channel.watchTimeoutInterval: 300).
const watchTimeout = 5 * time.Minute

// channelWatchState reports vchannels whose assignment does not complete.
var channelWatchState = &check.Check{
	ID:       "channel-watch-state",
	Title:    "A vchannel's assignment does not complete",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.FlushesHang},
	Starts: "7m channel_assigned channel_reassigned channel_rewritten | node_joined:datanode node_lost:datanode " +
		"collection_created",
	Parts: model.PartObjects | model.PartChannels | model.PartSessions,
	Doc: `A data node never finishes taking a vchannel. The check looks at watch records (` + "`channelwatch/`" + `,
Milvus 2.5 and older). Every state but WatchSuccess is a step (ToWatch, ToRelease and so on). Warning if the step
began longer ago than ` + "`dataCoord.channel.watchTimeoutInterval`" + ` (5 minutes) plus 2 minutes. WatchFailure and
ReleaseFailure are an error after 2 minutes, because DataCoord should have retried. Without a start time in the
record, only failures are reported.

Channels of dropped collections count too: their data node retries forever (Milvus issue 32658).

On 2.6 and later the pchannel's state counts: Assigning is a warning 10 minutes after its assignment or, if that is
not recorded, the checkpoint of its log; without either, info. Any other state but Assigned is a warning.`,
	Remedy: `Search the log of the data node for the vchannel; often it cannot read the queue or the checkpoint.
Restart the node to move the channel to another one.`,
	Run:   runChannelWatchState,
	Roles: []string{"datanode", "datacoord"},
	FollowsFrom: []check.Cause{
		{Check: "queue-unreachable"}, {Check: "channel-unwatched", Applies: check.Shares("vchannels")},
	},
}

func runChannelWatchState(p *check.Pass) {
	for _, v := range p.VChannels {
		severity, since, bad := judgeWatchState(p, v)
		if !bad {
			continue
		}
		x := p.Collection(v.Collection)
		gone := x == nil || x.Dropped()
		f := check.Finding{
			Severity: severity, Object: facts.RefVChannel(v.Name),
			Objects: []model.Ref{
				facts.RefCollection(p.Cluster, v.Collection), facts.RefNode(p.Cluster.WatcherRole(v), v.Watcher),
			},
			Message: fmt.Sprintf("%s of %s is in state %s on %s, started %s", v.Name,
				facts.CollectionLabel(p.Cluster, v.Collection), v.WatchState, watcherName(p.Cluster, v),
				ago(p, v, since)),
			Evidence: []check.Evidence{
				check.Fact("state", v.WatchState, "etcd"), check.Fact("started", facts.TimeText(since), "etcd"),
				check.Fact("node", watcherName(p.Cluster, v), "etcd"),
			},
			Impact: notWatched,
			Fix: check.Fix(
				check.Do("search the log of %s for %s, to find out what it waits for", watcherName(p.Cluster, v),
					v.Name),
				check.Do("if it is stuck, restart %s: the channel then moves to another node",
					watcherName(p.Cluster, v)).
					Restarting(p.Cluster, 2*time.Minute, "datanode"),
				check.Shell(check.Kitescope("get vchannels").Arg("name="+v.Name)).
					Does("shows WatchSuccess (2.6: Assigned) once it is done"),
			),
		}
		if limit := transientStateOf(p, "vchannels", "", v.WatchState); limit != nil {
			f.Evidence = append(f.Evidence, check.Duration("limit", limit.limit, ""))
		}
		if gone {
			f.Severity = min(f.Severity, check.Warning)
			f.Message += "; its collection is gone"
			f.Impact = "The node retries it forever."
			f.Fix = append(f.Fix[:1],
				check.Shell(check.Kitescope("get keys").Arg("key~channelwatch/.*/"+v.Name)).Does("shows its record"),
				check.Do("delete it by hand only with DataCoord and the data nodes stopped "+
					"and a snapshot of etcd saved: this cannot be undone").
					Interrupting(0, "writes and flushes while they are stopped"))
		}
		p.Report(f)
	}
}

// ago describes how long ago the state of a channel began.
func ago(p *check.Pass, v *model.VChannel, since time.Time) string {
	switch {
	case since.IsZero():
		return "at an unknown time"
	case v.WatchedAt.IsZero() && p.PChannel(v.PChannel).AssignedAt.IsZero():
		return "at most " + words.Span(p.Age(since)) + " ago, when its log was last consumed"
	}
	return words.Span(p.Age(since)) + " ago"
}

// judgeWatchState judges the state of a channel. since is the time at which it began, zero if unknown.
func judgeWatchState(p *check.Pass, v *model.VChannel) (severity check.Severity, since time.Time, bad bool) {
	if !v.Watched || v.Watcher == model.UnassignedNode {
		return 0, since, false
	}
	since = v.WatchedAt
	if x := p.PChannel(v.PChannel); v.WatchedAt.IsZero() && x != nil && x.Streaming {
		if since = x.AssignedAt; since.IsZero() {
			since = x.Checkpoint.At.Time()
		}
	}
	limit := transientStateOf(p, "vchannels", "", v.WatchState)
	switch v.WatchState {
	case "", "WatchSuccess", "Complete", "Assigned":
		return 0, since, false
	case "Assigning":
		if since.IsZero() {
			return check.Info, since, true // assigning takes seconds
		}
		return check.Warning, since, p.OlderThan(since, limit.limit, false)
	case "WatchFailure", "ReleaseFailure":
		return check.Error, since, p.OlderThan(since, limit.limit, true)
	}
	if limit == nil {
		return check.Warning, since, true // Unavailable, Uninitialized: no streaming node has the pchannel
	}
	return check.Warning, since, p.OlderThan(since, limit.limit, false)
}
