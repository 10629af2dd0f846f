package channels

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/words"
)

// walDamaged finds logs of which a part that is still needed has no readable record.
var walDamaged = &check.Check{
	ID:       "wal-damaged",
	Title:    "A write-ahead log lacks a segment that is still needed",
	Severity: check.Error,
	Since:    "0.12",
	Parts:    model.PartChannels | model.PartServing,
	Doc: `Looks at the records of Woodpecker's segments in etcd (` + "`woodpecker/logs/LOG/segments/`" + `) behind the point up to which the log is truncated: each must be there and
readable. Woodpecker numbers segments without holes and deletes records from the oldest on, so a number without a record between two that have one
was lost.

Error: reading the log stops there. A streaming node that starts from a checkpoint before it does not get past it, and rows in the
segment that are not in storage yet are lost. Seen on a real Woodpecker in tests, never on a live Milvus.`,
	Remedy: `Bring the key back from a snapshot of etcd. Do not restart the streaming node before: what it still holds in memory may be all that is left. Flush the
collections on the channel.`,
	Run:   runWALDamaged,
	Roles: []string{"streamingnode"},
}

func runWALDamaged(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
	return eachLog(p, func(x *model.PChannel, l *model.Log) {
		var first *model.LogSegment
		missing, unread := 0, 0
		for i := range l.Segments {
			s := &l.Segments[i]
			lost := s.State == model.LogMissing || s.State == model.LogUnread
			if !lost || s.ID <= l.Truncated.Segment {
				continue
			}
			if first == nil {
				first = s
			}
			if s.State == model.LogMissing {
				missing++
			} else {
				unread++
			}
		}
		if first == nil {
			return
		}
		p.Report(check.Finding{
			Severity: check.Error, Object: refPChannel(x.Name),
			Message: fmt.Sprintf("the log of %s lacks %s from segment %s on", x.Name, words.Plural(missing+unread, "segment"), words.Number(first.ID)),
			Evidence: []check.Evidence{
				check.Count("segments without a record", missing, "etcd"),
				check.Count("segments with a record that cannot be decoded", unread, "etcd"),
				check.Fact("truncated to", truncatedTo(l), "etcd"),
			},
			Impact: "A streaming node that reads the log from before it does not get past it: its channels stand still, and rows in it that are not in storage are lost.",
			Fix: check.Fix(
				check.Do("bring the record of segment %d of log %s back from a snapshot of etcd: it lies below woodpecker/logs/", first.ID, x.Name),
				check.Shell(check.Kitescope("get wal").Arg("pchannel="+x.Name)).Does("shows which checkpoints lie before it"),
			),
		})
	})
}

func truncatedTo(l *model.Log) string {
	if l.Truncated.Segment < 0 {
		return "nothing"
	}
	return l.Truncated.String()
}
