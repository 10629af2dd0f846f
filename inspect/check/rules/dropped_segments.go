package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of dropped-not-collected.
const (
	// dropTolerance is the retention of dropped segments if no process reports it. It is the longest default:
	// dataCoord.gc.dropTolerance is 24 h in 2.2 and 3 h since 2.3.
	dropTolerance = 24 * time.Hour
	// collectEvery is the collector's interval (dataCoord.gc.interval: 3600 s). collectRounds is the number of
	// intervals to wait before a finding.
	collectEvery  = time.Hour
	collectRounds = 3
	// uncollectedWarning is the minimum number of uncollected segments for a warning, if there are also more of
	// them than segments in use.
	uncollectedWarning = 1000
)

// droppedNotCollected reports dropped segments that garbage collection does not remove.
var droppedNotCollected = &check.Check{
	ID:       "dropped-not-collected",
	Title:    "Dropped segments are not garbage collected",
	Severity: check.Warning,
	Symptoms: []string{check.EtcdSlow, check.StorageGrows, check.Leftovers},
	Starts:   "3h segment_dropped segment_compacted | config_changed:gc collection_dropped",
	Parts:    model.PartObjects | model.PartSegments | model.PartChannels,
	Doc: `Thousands of dropped segments still take up storage, and DataCoord keeps all of them in memory. The check
looks at dropped segments past their retention: ` + "`dataCoord.gc.dropTolerance`" + ` as DataCoord reports it, else 24
h, plus three rounds of the collector. Info; warning if there are at least 1,000 and more than segments in use.

Segments without a drop time are judged by their last write and never raise a warning, because they may have been
dropped a moment ago. In 2.6 dropping a collection omits the time, and the collector then skips them forever (Milvus
issue 48902). The collector also skips segments while their channel's checkpoint is behind their last write (counted
in the evidence), and those compacted into a segment whose index is unfinished
(` + "`internal/datacoord/garbage_collector.go`" + `, checkDroppedSegmentGC; issue 53064). An operator can pause the
collector for a backup: MixCoord reports this over HTTP in later 2.6 and in 3.0 (` + "`/management/data_gc`" + `), and
the finding then includes the remaining time.`,
	Remedy: `Check ` + "`dataCoord.enableGarbageCollection`" + `, and DataCoord's log for "GC". If checkpoints block it,
fix those first.`,
	Run:   runDroppedNotCollected,
	Roles: []string{"datacoord"},
	FollowsFrom: []check.Cause{
		{Check: "bad-switches", Applies: check.AboutSettings("dataCoord.enableGarbageCollection")},
		{Check: "checkpoint-lag", Applies: check.Shares("vchannels")},
		{Check: "checkpoint-missing", Applies: check.Shares("vchannels")},
	},
}

func runDroppedNotCollected(p *check.Pass) {
	total := p.Totals()
	if total.ByState[model.SegmentDropped] == 0 {
		return
	}
	keep := p.SettingSeconds("dataCoord.gc.dropTolerance", dropTolerance, facts.DataCoords()...)
	interval := p.SettingSeconds("dataCoord.gc.interval", collectEvery, facts.DataCoords()...)
	u := p.Garbage(p.Before(keep + collectRounds*interval))
	if u.Segments == 0 {
		return
	}
	f := check.Finding{
		Severity: check.Info,
		Message:  uncollectedText(p, &u),
		Evidence: []check.Evidence{
			check.Count("dropped segments past their retention", u.Segments, "etcd"),
			check.Count("all dropped segments", total.ByState[model.SegmentDropped], "etcd"),
			check.Count("segments in use", total.Segments, "etcd"),
			check.Size("uncollected logs", u.Bytes, "etcd"),
			check.Duration("retention", keep, p.SettingSource("dataCoord.gc.dropTolerance")),
			check.Count("without a drop time", u.Undated, "etcd"),
			check.Count("with a checkpoint behind their last write", u.Behind, "etcd"),
		},
		Impact: "Object storage and etcd keep data that nothing reads.",
		Fix: check.Fix(
			resumeFirst(p),
			checkpointsFirst(&u),
			check.Shell(check.Kitescope("get settings").Arg("key~garbagecollection|datacoord.gc")).
				Does("shows whether garbage collection is on: if not, set dataCoord.enableGarbageCollection to true"),
			check.Do("search the log of DataCoord for GC, to find out what it skips"),
		),
	}
	if gc := pausedCollector(p); gc != nil {
		f.Message += "; garbage collection is paused for another " + words.Span(gc.Remaining)
		f.Evidence = append(f.Evidence,
			check.Duration("remaining pause of garbage collection", gc.Remaining, gc.Reporter+" /management/data_gc"))
	}
	for _, s := range u.First {
		f.Objects = append(f.Objects, facts.RefSegment(s.ID))
	}
	f.Objects = append(f.Objects, facts.Refs(u.LateChannels, facts.RefVChannel)...)
	if dated := u.Segments - u.Undated; dated >= uncollectedWarning && dated > total.Segments {
		f.Severity = check.Warning
	}
	p.Report(f)
}

// pausedCollector returns the garbage collector if an operator has paused it. It returns nil if it is not
// paused or its state is unknown.
func pausedCollector(p *check.Pass) *model.GarbageCollector {
	if p.Runtime == nil || p.Runtime.Collector == nil || !p.Runtime.Collector.Paused {
		return nil
	}
	return p.Runtime.Collector
}

// resumeFirst returns the first step of a fix if the collector is paused, and an empty step otherwise.
func resumeFirst(p *check.Pass) check.Step {
	if pausedCollector(p) == nil {
		return check.Step{}
	}
	return check.Do(`end the pause once the backup that needs it is done: `+
		`PUT {"status": "resumed"} to /management/data_gc on MixCoord's HTTP server`).
		Interrupting(time.Hour, "nothing")
}

func uncollectedText(p *check.Pass, u *facts.Garbage) string {
	dropped := words.Plural(u.Segments, "dropped segment")
	switch u.Undated {
	case u.Segments:
		return fmt.Sprintf("%s %s no drop time and may never be collected", dropped,
			words.Agree(u.Segments, "has", "have"))
	case 0:
		return fmt.Sprintf("%s %s overdue for garbage collection, the oldest dropped %s ago", dropped,
			words.Agree(u.Segments, "is", "are"), words.Span(p.Age(u.Oldest)))
	}
	return fmt.Sprintf("%s %s overdue for garbage collection, the oldest dropped %s ago; %s without a drop time",
		dropped, words.Agree(u.Segments, "is", "are"), words.Span(p.Age(u.Oldest)), words.Number(u.Undated))
}

// checkpointsFirst returns the first step of a fix if checkpoints hold up the collector, and an empty step
// otherwise.
func checkpointsFirst(u *facts.Garbage) check.Step {
	if u.Behind == 0 {
		return check.Step{}
	}
	return check.Shell(check.Kitescope("diagnose --only checkpoint-lag,checkpoint-missing,channel-unwatched")).
		Does("names the checkpoints that hold up the collector: fix those first")
}
