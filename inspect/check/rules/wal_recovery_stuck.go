package rules

import (
	"cmp"
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// recoveryStands is how old the checkpoint of a write-ahead log may be. Time ticks move it on an idle channel too, and it is written every
// few seconds (streaming.walRecovery.persistInterval: 10s; Milvus pkg/util/paramtable/component_param.go).
const recoveryStands = 30 * time.Minute

// walRecoveryStuck finds write-ahead logs whose checkpoint does not move.
var walRecoveryStuck = &check.Check{
	ID:       "wal-recovery-stuck",
	Title:    "The checkpoint of a write-ahead log stands still",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.FlushesHang},
	Starts:   "30m node_lost:streamingnode node_left:streamingnode checkpoint_stopped | node_joined:streamingnode config_changed",
	Parts:    model.PartChannels | model.PartServing,
	Doc: `Looks at the time of the checkpoint that a streaming node keeps for each pchannel (` + "`streamingnode-meta/wal/PCHANNEL/consume-checkpoint`" + `, 2.6 and later). Time
ticks move it on an idle channel too, and it is written every few seconds.

Error from 30 minutes: the streaming node does not get on, or hangs while it recovers the log; the channel takes no writes, or writes that pile up.
Never seen on a live Milvus.`,
	Remedy: `Look at the log of the streaming node for "recovery", "flusher" and errors of the queue or of object storage. Restarting it moves the channel to another
node, which reads the log from the checkpoint on.`,
	Run:   runWALRecoveryStuck,
	Roles: []string{"streamingnode"},
	FollowsFrom: []check.Cause{
		check.Grave("wal-not-open", check.Shares("pchannels")), check.Grave("wal-flush-lag", check.Shares("pchannels")), {Check: "wal-damaged", Of: check.Shares("pchannels")}, {Check: "etcd-alarm"}, {Check: "etcd-no-leader"},
	},
}

func runWALRecoveryStuck(p *check.Pass) {
	for _, x := range p.PChannels {
		at := x.Checkpoint.At
		if !x.Streaming || at == 0 || at == model.MaxTSO || at >= p.Before(recoveryStands) {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Error, Object: refPChannel(x.Name),
			Message: fmt.Sprintf("the checkpoint of %s has stood still for %s", x.Name, words.Span(p.Age(at.Time()))),
			Evidence: []check.Evidence{
				check.Fact("checkpoint", facts.TimeText(at.Time()), "etcd"), check.Fact("state", cmp.Or(x.State, "none"), "etcd"),
				check.Fact("streaming node", assignee(x), "etcd"), check.Measured("term", "etcd", "%s", check.Digits(x.Term)),
				check.Lasts("limit", recoveryStands, ""),
			},
			Impact: "Its channels take no writes, or writes that no segment gets: a restart reads the log from there.",
			Fix: check.Fix(
				atNode(x.Node, check.Do("look at the log of streaming node %s for \"recovery\", \"flusher\" and errors of the message queue and of object storage", x.Node)),
				check.Shell(check.Kitescope("get wal").Arg("pchannel="+x.Name)).Does("shows how far it is behind the end of its log, and who holds it up"),
			),
		})
	}
}
