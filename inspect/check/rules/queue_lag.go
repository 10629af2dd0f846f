package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// queueLagWarning is the minimum number of messages behind a checkpoint for a finding. An idle channel gets 5
// time ticks a second, that is 3,000 in the 10 minutes for which a checkpoint may not advance on a healthy
// cluster. The captures of 2.3.5 have fewer than 1,500.
const queueLagWarning = 100_000

// queueLag reports checkpoints that are many messages behind their topic, or outside it.
var queueLag = &check.Check{
	ID:       "queue-lag",
	Title:    "A checkpoint is far behind its topic, or outside its range",
	Severity: check.Error,
	Symptoms: []string{check.SearchesStale, check.FlushesHang},
	Starts:   "20m checkpoint_stopped node_lost:datanode | channel_released config_changed",
	Parts:    model.PartObjects | model.PartChannels,
	Needs:    check.NeedQueue,
	Doc: `Kafka's retention deleted messages that Milvus had not persisted, and rows are lost. The check compares the
position in each checkpoint of an existing collection with the offsets of its topic (Kafka: the message id of a
checkpoint is its offset, as a little-endian int64).

- Error: the topic no longer has the message at the checkpoint. A load, or a restart of the node that consumes the
  channel, fails or misses rows.
- Error: the checkpoint is past the end of the topic, and older than the queue's answer. The topic was emptied or
  replaced: no insert is consumed until the topic has grown that far.
- Warning: 100,000 messages behind. An idle channel gets 5 time ticks a second; captured healthy clusters stay below
  1,500.

Not judged: a checkpoint newer than the queue's answer, as in metadata read later. Could not run if no checkpoint can
be compared: its topic is not among those reported, or its message id is not an offset.`,
	Remedy: `Raise the queue's retention above the age of the oldest checkpoint now, before more is deleted, and fix
the cause of the late checkpoint. Rows in deleted messages have to be inserted again. Flush the collection before
restarting the node that consumes the channel: it may hold rows in memory that it has read and not yet written.`,
	Run:         runQueueLag,
	Roles:       []string{"datanode", "datacoord", "streamingnode"},
	FollowsFrom: check.CausedBy(check.Shares("vchannels"), "checkpoint-lag", "channel-unwatched"),
}

func runQueueLag(p *check.Pass) {
	topics := make(map[string]model.Topic, len(p.Runtime.Queue.Topics))
	for _, t := range p.Runtime.Queue.Topics {
		if t.Stats == nil { // topics of Pulsar have Stats and no offsets
			topics[t.Name] = t
		}
	}
	compared, served := 0, 0
	asked := p.FirstAsked()
	servedChannels(p, func(x *model.Collection, v *model.VChannel) {
		served++
		t, ok := topics[v.PChannel]
		at, numbered := v.Checkpoint.Offset()
		if !ok || !numbered || v.Checkpoint.At == model.MaxTSO {
			return
		}
		compared++
		f := check.Finding{
			Severity: check.Error, Object: facts.RefVChannel(v.Name),
			Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID)},
			Evidence: []check.Evidence{
				check.Factf("checkpoint offset", "etcd", "%s", check.Digits(at)),
				check.Factf("oldest offset in the topic", "message queue", "%s", check.Digits(t.First)),
				check.Factf("end of the topic", "message queue", "%s", check.Digits(t.End)),
				check.Fact("checkpoint time", facts.TimeText(v.Checkpoint.At.Time()), "etcd"),
			},
		}
		name := v.Name + " of " + facts.CollectionLabel(p.Cluster, x.ID)
		switch {
		case at < t.First-1: // the message at the checkpoint is already processed
			f.Message = fmt.Sprintf("the queue has deleted %s messages after the checkpoint of %s",
				words.Number(t.First-at), name)
			f.Impact = "Rows in them that are not yet persisted are lost at the next restart of the node."
			f.Fix = check.Fix(
				check.Flush(p.Cluster, x, 5*time.Minute,
					"writes what the node still holds in memory; run it before anything restarts"),
				check.Do("raise the retention of topic %s above the age of the checkpoint", t.Name).
					Interrupting(0, "nothing"),
				check.Do("insert the rows of the deleted messages again").Interrupting(0, "nothing"),
			)
		case at > t.End && v.Checkpoint.At != 0 && v.Checkpoint.At.Time().Before(asked):
			f.Message = fmt.Sprintf("the checkpoint of %s is %s messages past the end of its topic", name,
				words.Number(at-t.End))
			f.Impact = "Inserts into the channel are not consumed."
			f.Fix = check.Fix(
				check.Do("find out who deleted or replaced topic %s or its queue, and restore the old one if it "+
					"still exists",
					t.Name),
				check.Do("otherwise stop inserting: nothing is consumed until the topic has grown past the checkpoint").
					Interrupting(0, "inserts"),
			)
		case t.End-at >= queueLagWarning:
			f.Severity = check.Warning
			f.Message = fmt.Sprintf("the checkpoint of %[2]s is %[1]s messages behind the end of its topic",
				words.Number(t.End-at), name)
			f.Impact = "A load, or a restart of the node that consumes the channel, reads all of them first."
			f.Fix = check.Fix(
				check.Flush(p.Cluster, x, 5*time.Minute, "writes the buffered rows, which moves the checkpoint"),
				check.Do("if it stays behind, look at the log of %s; keep the retention of topic %s above the age of "+
					"the checkpoint meanwhile", watcherLog(p.Cluster, v), t.Name).
					Interrupting(0, "nothing"),
			)
		default:
			return
		}
		p.Report(f)
	})
	if compared == 0 && served > 0 {
		p.Skip("no checkpoint has an offset in a topic that the message queue reported")
	}
}
