package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// broadcastWaits is how long a broadcast may wait for acknowledgements. Each channel acknowledges it as soon as its streaming node has
// consumed the message: within seconds, or as long as it takes to open the log on another node.
const broadcastWaits = 10 * time.Minute

// broadcastStuck finds broadcasts that some channels have acknowledged and that do not end.
var broadcastStuck = &check.Check{
	ID:       "broadcast-stuck",
	Title:    "A broadcast to all channels does not end",
	Severity: check.Warning,
	Symptoms: []string{check.LoadsHang},
	Starts:   "15m node_lost:streamingnode node_left:streamingnode task_created | channel_reassigned task_changed",
	Parts:    model.PartTasks | model.PartChannels,
	Doc: `From 2.6 on StreamingCoord writes a change of a collection, database or user into several channels, and keeps a task of it (` + "`streamingcoord-meta/broadcast-task/`" + `) until all
have acknowledged it and what follows was done. Until then it locks what it changes.

Warning: a task that is not over 10 minutes after it was written into the first of the channels that have acknowledged it. Not a finding: a task that none has acknowledged, as nothing says since when it is there,
and one that is kept as a tombstone. ` + constructedOnly,
	Remedy: `Look at the log of MixCoord for "broadcast", and at the channels that have not acknowledged: their log may not be open (` + "`wal-not-open`" + `). If all have, what follows fails, and MixCoord's log says why.`,
	Run:    runBroadcastStuck,
	Roles:  []string{"mixcoord", "rootcoord", "streamingnode"},
	FollowsFrom: []check.Cause{
		check.Grave("wal-not-open", check.Shares("pchannels")), check.Grave("wal-flush-lag", check.Shares("pchannels")),
		{Check: "wal-recovery-stuck", Of: check.Shares("pchannels")},
		{Check: "channel-unwatched", Of: check.Shares("vchannels")},
		{Check: "queue-unreachable"},
		{Check: "etcd-alarm"},
		{Check: "etcd-no-leader"},
	},
}

func runBroadcastStuck(p *check.Pass) {
	for _, t := range p.Tasks {
		if t.Type != "broadcast" || t.State == "Tombstone" || t.State == "Done" || t.StartedAt.IsZero() || !p.OlderThan(t.StartedAt, broadcastWaits, false) {
			continue
		}
		what := t.SubType
		if what == "" {
			what = "unknown type"
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: facts.RefTask(t), Objects: waitsFor(p, t),
			Message: fmt.Sprintf("the broadcast of %s has not ended in %s: %s", what, words.Span(p.Age(t.StartedAt)), t.Progress),
			Evidence: []check.Evidence{
				check.Fact("message", what, "etcd"), check.Fact("state", t.State, "etcd"), check.Fact("progress", t.Progress, "etcd"),
				check.Fact("written", facts.TimeText(t.StartedAt), "etcd"), check.Lasts("limit", broadcastWaits, ""),
			},
			Impact: "What it changes stays locked: further changes of the same collection, database or user wait.",
			Fix: check.Fix(
				check.Do("search the log of MixCoord for %q and \"broadcast\"", model.NodeID(t.ID).String()),
				check.Shell(check.Kitescope("get pchannels --columns name,node,state,wal_state")).Does("shows which logs are not Open: they acknowledge nothing"),
			),
		})
	}
}

// waitsFor are the channels that have not acknowledged a broadcast, with their logs and what else is on these; none where its record does not
// name them.
func waitsFor(p *check.Pass, t *model.Task) (refs []model.Ref) {
	for _, name := range t.Unacknowledged {
		x := p.PChannel(name)
		if i := strings.LastIndexByte(name, '_'); x == nil && i > 0 { // of a vchannel, or of the control channel
			x = p.PChannel(name[:i])
		}
		if x != nil && !slices.Contains(refs, refPChannel(x.Name)) {
			refs = append(append(refs, refPChannel(x.Name)), vchannelsOn(p, x.Name)...)
		}
	}
	return refs
}
