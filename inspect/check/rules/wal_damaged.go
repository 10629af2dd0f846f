package rules

import (
	"fmt"
	"slices"
	"strconv"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// walDamaged finds logs with a missing or unreadable record of a segment that is still needed.
var walDamaged = &check.Check{
	ID:       "wal-damaged",
	Title:    "A write-ahead log lacks a segment that is still needed",
	Severity: check.Error,
	Symptoms: []string{check.FlushesHang},
	Starts:   "node_joined | node_lost:streamingnode",
	Parts:    model.PartChannels | model.PartServing,
	Doc: `A streaming node cannot read past a lost segment of its log. The check looks at the records of Woodpecker's
segments in etcd (` + "`woodpecker/logs/LOG/segments/`" + `) after the truncation point: each must exist and be
readable. Woodpecker numbers segments without holes and deletes from the oldest on, so a missing number between two
records was lost.

Error: a streaming node that starts from an earlier checkpoint stops there, and rows in the segment that are not in
storage yet are lost. Seen on a real Woodpecker in tests, never on a live Milvus.`,
	Remedy: `Restore the key from a snapshot of etcd. Do not restart the streaming node before that: only its memory
may still have the rows. Flush the collections on the channel.`,
	Run:   runWALDamaged,
	Whole: true,
	Roles: []string{"streamingnode"},
}

func runWALDamaged(p *check.Pass) {
	eachLog(p, func(x *model.PChannel, l *model.Log) {
		var missing, unread []int64
		for i := range l.Segments {
			switch s := &l.Segments[i]; {
			case s.ID <= l.Truncated.Segment:
			case s.State == model.LogMissing:
				missing = append(missing, s.ID)
			case s.State == model.LogUndecoded:
				unread = append(unread, s.ID)
			}
		}
		if len(missing)+len(unread) > 0 {
			reportDamaged(p, x, l, missing, unread)
		}
	})
}

func reportDamaged(p *check.Pass, x *model.PChannel, l *model.Log, missing, unread []int64) {
	all := slices.Sorted(slices.Values(slices.Concat(missing, unread)))
	segments := words.Agree(len(all), "segment", "segments")
	p.Report(check.Finding{
		Severity: check.Error, Object: refPChannel(x.Name),
		Message: fmt.Sprintf("the log of %s lacks %s %s", x.Name, segments, words.Summarize(ranges(all))),
		Evidence: []check.Evidence{
			check.Count("segments without a record", len(missing), "etcd"),
			check.Fact("without a record", words.FirstOf(ranges(missing), facts.MaxObjects, ", "), "etcd"),
			check.Count("segments with a record that cannot be decoded", len(unread), "etcd"),
			check.Fact("cannot be decoded", words.FirstOf(ranges(unread), facts.MaxObjects, ", "), "etcd"),
			check.Fact("truncated to", truncatedTo(l), "etcd"),
		},
		Impact: "A streaming node that reads the log from an earlier point cannot get past the first: " +
			"its channels stop, and rows in these segments that are not in storage are lost.",
		Fix: check.Fix(
			bringBack(x, all),
			check.Shell(check.Kitescope("get wal").Arg("pchannel="+x.Name)).Does("shows which checkpoints are earlier"),
		),
	})
}

func bringBack(x *model.PChannel, segments []int64) check.Step {
	if len(segments) == 1 {
		return check.Do("restore the record of segment %d of log %s, under woodpecker/logs/, from a snapshot of etcd",
			segments[0], x.Name).
			Interrupting(0, "nothing")
	}
	return check.Do("restore the records of segments %s of log %s, under woodpecker/logs/, from a snapshot of etcd",
		ranges(segments), x.Name).
		Interrupting(0, "nothing")
}

// ranges formats sorted numbers and joins consecutive numbers into ranges, e.g. "2", "4-7".
func ranges(ids []int64) (list []string) {
	for i := 0; i < len(ids); {
		last := i
		for last+1 < len(ids) && ids[last+1] == ids[last]+1 {
			last++
		}
		text := strconv.FormatInt(ids[i], 10)
		if last > i {
			text += "-" + strconv.FormatInt(ids[last], 10)
		}
		list, i = append(list, text), last+1
	}
	return list
}

func truncatedTo(l *model.Log) string {
	if l.Truncated.Segment < 0 {
		return "nothing"
	}
	return l.Truncated.String()
}
