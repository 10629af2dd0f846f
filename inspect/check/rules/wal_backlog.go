package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// walBacklogBytes is the backlog from which reading a log again takes minutes. It is 64 times half the size at which a
// segment is rolled.
const walBacklogBytes = 8 << 30

// walBacklog finds logs that are far ahead of their checkpoint, so that a streaming node must read much of them again.
var walBacklog = &check.Check{
	ID:       "wal-backlog",
	Title:    "A write-ahead log is far ahead of its checkpoint",
	Severity: check.Warning,
	Symptoms: []string{check.FlushesHang},
	Starts:   "checkpoint_stopped | node_lost:streamingnode segment_created config_changed",
	Parts:    model.PartChannels | model.PartServing,
	Doc: `A streaming node that starts, or takes the channel over, reads the whole backlog before it takes a write.
The check counts the bytes of Woodpecker's closed segments after the checkpoint; the checkpoint's own segment counts
in proportion. Not counted: the segment being written (size not recorded).

Warning from 8 GiB. Run ` + "`kitescope get wal --watch`" + ` to see whether it grows.`,
	Remedy: `Find out what blocks the checkpoint: a growing segment that is not flushed, a slow object storage, a
streaming node without memory. Flush the collections on the channel to move it.`,
	Run:         runWALBacklog,
	Roles:       []string{"streamingnode"},
	FollowsFrom: []check.Cause{{Check: "wal-recovery-stuck", Applies: check.Shares("pchannels")}},
}

func runWALBacklog(p *check.Pass) {
	eachLog(p, func(x *model.PChannel, l *model.Log) {
		if x.Checkpoint.Entry == nil {
			return
		}
		entries, bytes, uncounted := l.Behind(*x.Checkpoint.Entry)
		if bytes < walBacklogBytes {
			return
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: refPChannel(x.Name),
			Message: fmt.Sprintf("the checkpoint of %s is at least %s behind the end of its log", x.Name,
				words.Bytes(bytes)),
			Evidence: []check.Evidence{
				check.Factf("bytes behind", "etcd", "%s", check.Bytes(bytes)),
				check.Factf("messages behind", "etcd", "%s", check.Digits(entries)),
				check.Count("segments after it that are not counted", uncounted, "etcd"),
				check.Fact("checkpoint", x.Checkpoint.Entry.String(), "etcd"),
			},
			Impact: "A streaming node that starts or takes the channel over reads all of it first; until then the " +
				"channel takes no writes.",
			Fix: check.Fix(
				check.Shell(check.Kitescope("get vchannels").Arg("pchannel="+x.Name)).
					Does("shows whose checkpoint is the oldest; flushing that collection moves it"),
				atNode(x.Node,
					check.Do("look at the log and memory of %s, and at object storage", refStreaming(x.Node).ID)),
			),
		})
	})
}
