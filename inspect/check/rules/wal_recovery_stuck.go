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

// maxCheckpointAge is the maximum age of a write-ahead log's checkpoint. Time ticks move the checkpoint on an idle
// channel too, and it is written every few seconds (streaming.walRecovery.persistInterval: 10s; Milvus
// pkg/util/paramtable/component_param.go).
const maxCheckpointAge = 30 * time.Minute

// walRecoveryStuck finds write-ahead logs with a checkpoint that does not move, or that lack a schema.
var walRecoveryStuck = &check.Check{
	ID:       "wal-recovery-stuck",
	Title:    "The checkpoint of a write-ahead log does not advance",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail, check.FlushesHang},
	Starts: "30m node_lost:streamingnode node_left:streamingnode checkpoint_stopped | node_joined:streamingnode " +
		"config_changed",
	Parts: model.PartChannels | model.PartServing,
	Doc: `A channel takes no writes, or they pile up, because its checkpoint does not advance. The check looks at the
checkpoint time of each pchannel (` + "`streamingnode-meta/wal/PCHANNEL/consume-checkpoint`" + `, 2.6 and later). Time
ticks move it on an idle channel too, and it is written every few seconds.

Error from 30 minutes: the node makes no progress, or hangs in recovery. Also an error: a vchannel of the log whose
recovery metadata (` + "`vchannel/VCHANNEL`" + `) has no schema. The streaming node panics whenever it opens the log,
after an upgrade from a release candidate of 2.6.0 (Milvus issues 43538, 44134).

Never seen on a live Milvus.`,
	Remedy: `Search the log of the streaming node for "recovery", "flusher" and errors of the queue or of object
storage. Restart it to move the channel to another node, which reads the log from the checkpoint on.`,
	Run:   runWALRecoveryStuck,
	Roles: []string{"streamingnode"},
	FollowsFrom: []check.Cause{
		check.SevereCause("wal-not-open", check.Shares("pchannels")),
		check.SevereCause("wal-flush-lag", check.Shares("pchannels")),
		{Check: "wal-damaged", Applies: check.Shares("pchannels")},
		{Check: "etcd-alarm"},
		{Check: "etcd-no-leader"},
	},
}

func runWALRecoveryStuck(p *check.Pass) {
	unopened := logsWithoutSchema(p)
	for _, x := range p.PChannels {
		if list := unopened[x.Name]; len(list) > 0 {
			reportWithoutSchema(p, x, list)
			continue
		}
		at := x.Checkpoint.At
		if !x.Streaming || at == 0 || at == model.MaxTSO || at >= p.Before(maxCheckpointAge) {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Error, Object: refPChannel(x.Name),
			Message: fmt.Sprintf("the checkpoint of %s has not advanced for %s", x.Name, words.Span(p.Age(at.Time()))),
			Evidence: []check.Evidence{
				check.Fact("checkpoint", facts.TimeText(at.Time()), "etcd"),
				check.Fact("state", cmp.Or(x.State, "none"), "etcd"),
				check.Fact("streaming node", assignee(x), "etcd"),
				check.Factf("term", "etcd", "%s", check.Digits(x.Term)),
				check.Duration("limit", maxCheckpointAge, ""),
			},
			Impact: "Its channels take no writes, or take writes that reach no segment; a restart reads the log from " +
				"there.",
			Fix: check.Fix(
				atNode(x.Node,
					check.Do("look at the log of %s for \"recovery\", \"flusher\" and errors of the message queue "+
						"and of object storage", refStreaming(x.Node).ID)),
				check.Shell(check.Kitescope("get wal").Arg("pchannel="+x.Name)).
					Does("shows how far it is behind the end of its log, and what holds it up"),
			),
		})
	}
}

// logsWithoutSchema returns the vchannels without a schema in their recovery metadata, by pchannel. It returns none if
// the metadata is damaged.
func logsWithoutSchema(p *check.Pass) map[string][]*model.VChannel {
	logs := map[string][]*model.VChannel{}
	for _, v := range p.VChannels {
		if v.State == "Normal" && v.Schemas == 0 && v.Collection != 0 && p.Damage() == "" {
			logs[v.PChannel] = append(logs[v.PChannel], v)
		}
	}
	return logs
}

func reportWithoutSchema(p *check.Pass, x *model.PChannel, list []*model.VChannel) {
	f := check.Finding{
		Severity: check.Error, Object: refPChannel(x.Name),
		Message: fmt.Sprintf("the recovery metadata of %s lacks the schema of %s: no streaming node can open it",
			x.Name, words.Plural(len(list), "vchannel")),
		Evidence: []check.Evidence{
			check.Count("vchannels without a schema", len(list), "etcd"), check.Fact("first", list[0].Name, "etcd"),
			check.Fact("streaming node", assignee(x), "etcd"),
		},
		Impact: "The streaming node panics when it recovers the log, and its channels take no writes.",
		Fix: check.Fix(
			check.Do("save a snapshot of etcd, then run birdwatcher's \"repair wal-recovery-storage\": it writes the "+
				"schemas from the catalog into etcd").
				Interrupting(2*time.Minute, "nothing"),
			check.Shell(check.Kitescope("get wal").Arg("pchannel="+x.Name)).
				Does("shows the log open once a streaming node has recovered it"),
		),
	}
	for _, v := range list[:min(len(list), facts.MaxObjects)] {
		f.Objects = append(f.Objects, facts.RefVChannel(v.Name))
	}
	p.Report(f)
}
