package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// truncationGrace is the time allowed for truncation and deletion after the retention. Each runs every half hour
// at most.
const truncationGrace = 24 * time.Hour

// walNotTruncated finds logs with segments that are not truncated or not deleted after their retention.
var walNotTruncated = &check.Check{
	ID:       "wal-not-truncated",
	Title:    "A write-ahead log is not truncated, and grows",
	Severity: check.Warning,
	Symptoms: []string{check.StorageGrows},
	Starts:   "96h config_changed checkpoint_stopped | node_lost:streamingnode",
	Parts:    model.PartChannels | model.PartServing,
	Doc: `Log segments that no node needs fill a disk. The check looks at Woodpecker's closed segments before the
streaming node's checkpoint. Milvus truncates the log after a retention
(` + "`woodpecker.logstore.retentionPolicy.ttl`" + `, 72 hours if not set), and Woodpecker deletes truncated segments
after the same time.

Warning: a segment before the checkpoint was closed more than the retention and a day ago and is not truncated; a
truncated one is still there after twice the retention and a day, or Woodpecker recorded that deleting it failed.
Unknown: how full the disk or the bucket is.`,
	Remedy: `Search the log of the streaming node for "truncate" and "cleanup", and check that files can be deleted in
object storage, or the folder of the log. Milvus issue 51032.`,
	Run:         runWALNotTruncated,
	Roles:       []string{"streamingnode"},
	FollowsFrom: []check.Cause{{Check: "wal-recovery-stuck", Applies: check.Shares("pchannels")}},
}

func runWALNotTruncated(p *check.Pass) {
	eachLog(p, func(x *model.PChannel, l *model.Log) {
		if x.Checkpoint.Entry == nil || len(l.Segments) == 0 {
			return
		}
		retention := logRetention(p)
		var oldest, failed *model.LogSegment
		count, bytes := 0, int64(0)
		for i := range l.Segments {
			s := &l.Segments[i]
			over := retention + truncationGrace
			if s.State == model.LogTruncated {
				over += retention
			}
			if s.CleaningFailed && failed == nil {
				failed = s
			}
			if !s.Closed() || s.ID >= x.Checkpoint.Entry.Segment || !p.OlderThan(s.Completed, over, false) {
				continue
			}
			if oldest == nil {
				oldest = s
			}
			count++
			bytes += s.Bytes
		}
		if oldest == nil && failed == nil {
			return
		}
		f := check.Finding{
			Severity: check.Warning, Object: refPChannel(x.Name),
			Impact: "The log grows until the disk or the bucket is full; then inserts are refused.",
		}
		if oldest != nil {
			f.Message = fmt.Sprintf("the log of %s keeps %s (%s) past their retention, the oldest closed %s ago",
				x.Name, words.Plural(count, "segment"), words.Bytes(bytes), words.Span(p.Age(oldest.Completed)))
			f.Evidence = append(f.Evidence, check.Count("segments past their retention", count, "etcd"),
				check.Fact("oldest closed", facts.TimeText(oldest.Completed), "etcd"))
		} else {
			f.Message = fmt.Sprintf("segment %s of the log of %s is truncated, and deleting it failed",
				words.Number(failed.ID), x.Name)
		}
		if failed != nil {
			f.Evidence = append(f.Evidence, check.Fact("deleting failed", failed.CleaningError, "etcd"))
		}
		f.Evidence = append(f.Evidence, check.Fact("truncated to", truncatedTo(l), "etcd"),
			check.Fact("checkpoint", x.Checkpoint.Entry.String(), "etcd"),
			check.Duration("retention", retention, ""))
		f.Fix = check.Fix(
			atNode(x.Node, check.Do("look at the log of %s for \"truncate\" and \"cleanup\", "+
				"and make sure that it may delete files in the log's storage", refStreaming(x.Node).ID)),
			check.Shell(check.Kitescope("get queue-topics").Arg("name="+x.Name)).
				Does("shows KEPT, the size of the log: it should fall"),
		)
		p.Report(f)
	})
}
