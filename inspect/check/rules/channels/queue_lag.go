package channels

import (
	"encoding/binary"
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// queueLagWarning is how many messages behind a checkpoint are a finding. An idle channel gets 5 time ticks a second, 3,000 in the 10 minutes that
// a checkpoint may stand still on a healthy cluster; the captures of 2.3.5 stay below 1,500.
const queueLagWarning = 100_000

// queueLag finds checkpoints that many messages, or all that are left, are behind.
var queueLag = &check.Check{
	ID:       "queue-lag",
	Title:    "A checkpoint is far behind its topic, or no longer inside of it",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartChannels,
	Needs:    check.NeedQueue,
	Doc: `Compares the position in each checkpoint of a living collection with the offsets of its topic (Kafka: the message id of a checkpoint is its offset, as a little-endian int64).

- The topic no longer has the message at the checkpoint: what came after it was deleted by the queue's retention before Milvus had written it. An error: a restart of the node that consumes
  the channel, or a load, fails or misses rows.
- The checkpoint is beyond the topic's end, and of a time before the topic was asked for it: the queue was emptied or replaced. An error: nothing that is inserted is consumed until the topic has
grown that far.
- 100,000 messages behind: a warning. An idle channel gets 5 time ticks a second; captured healthy clusters stay below 1,500.

A checkpoint that is newer than the answer of the queue, as in metadata that was read later, is not judged by it. Skipped if no checkpoint could be compared: none is of a topic
that the queue told, or their message ids are no offsets.`,
	Remedy: `Raise the queue's retention above the age of the oldest checkpoint now, before more is deleted, and mend what holds the checkpoint up. Where messages are gone, what they held has to be inserted
again. Flush the collection before the node that consumes the channel is restarted: it may hold in memory what it has read and not written.`,
	Run:         runQueueLag,
	Roles:       []string{"datanode", "datacoord", "streamingnode"},
	FollowsFrom: check.CausedBy(check.Shares("vchannels"), "checkpoint-lag", "channel-unwatched"),
}

func runQueueLag(p *check.Pass) error {
	topics := make(map[string]model.Topic, len(p.Runtime.Queue.Topics))
	for _, t := range p.Runtime.Queue.Topics {
		topics[t.Name] = t
	}
	compared, served := 0, 0
	asked := p.FirstAsked()
	servedChannels(p, func(x *model.Collection, v *model.VChannel) {
		served++
		t, ok := topics[v.PChannel]
		if !ok || len(v.Checkpoint.Message) != 8 || v.Checkpoint.At == model.MaxTSO {
			return
		}
		compared++
		at := int64(binary.LittleEndian.Uint64(v.Checkpoint.Message))
		f := check.Finding{
			Severity: check.Error, Object: facts.RefVChannel(v.Name), Objects: []model.Ref{facts.RefCollection(p.Cluster, x.ID)},
			Evidence: []check.Evidence{
				check.Measured("offset of the checkpoint", "etcd", "%s", check.Digits(at)),
				check.Measured("oldest offset of the topic", "message queue", "%s", check.Digits(t.First)),
				check.Measured("end of the topic", "message queue", "%s", check.Digits(t.End)),
				check.Fact("time of the checkpoint", facts.TimeText(v.Checkpoint.At.Time()), "etcd"),
			},
			Hint: check.Advise("look at the retention of topic %s, and at the log of %s", t.Name, watcherLog(p.Cluster, v)),
		}
		name := v.Name + " of " + facts.CollectionLabel(p.Cluster, x.ID)
		switch {
		case at < t.First-1: // the checkpoint is the last message that is done with
			f.Message = fmt.Sprintf("%s messages after the checkpoint of %s are no longer in the queue", words.Number(t.First-at), name)
			f.Impact = "Rows that were inserted there and not yet written are lost at the next restart of the node."
			f.Hint = check.Python("%sCollection(%s).flush() now writes what the node has in memory; then raise the retention of topic %s", check.InDatabase(p.Cluster, x), x.Name, check.Advise("%s", t.Name))
		case at > t.End && v.Checkpoint.At != 0 && v.Checkpoint.At.Time().Before(asked):
			f.Message = fmt.Sprintf("the checkpoint of %s is %s messages beyond the end of its topic", name, words.Number(at-t.End))
			f.Impact = "Nothing that is inserted into the channel is consumed."
			f.Hint = check.Advise("look whether topic %s was deleted or the queue replaced", t.Name)
		case t.End-at >= queueLagWarning:
			f.Severity = check.Warning
			f.Message = fmt.Sprintf("%s messages are behind the checkpoint of %s", words.Number(t.End-at), name)
			f.Impact = "A load, or a restart of the node that consumes the channel, reads all of them first."
		default:
			return
		}
		p.Report(f)
	})
	if compared == 0 && served > 0 {
		return p.Skip("no checkpoint is of a topic that the message queue told, with an offset as its message id")
	}
	return nil
}
