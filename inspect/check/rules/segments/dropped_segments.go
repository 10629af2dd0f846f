package segments

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// Thresholds of dropped-not-collected.
const (
	// dropTolerance is how long dropped segments are kept if no process tells it: the longest default (dataCoord.gc.dropTolerance
	// 24 h in 2.2, 3 h from 2.3 on).
	dropTolerance = 24 * time.Hour
	// collectEvery is the collector's interval (dataCoord.gc.interval: 3600); it gets a few rounds.
	collectEvery  = time.Hour
	collectRounds = 3
	// uncollectedWarning is from how many on it is a warning, if they outnumber the living.
	uncollectedWarning = 1000
)

// droppedNotCollected finds dropped segments that garbage collection leaves.
var droppedNotCollected = &check.Check{
	ID:       "dropped-not-collected",
	Title:    "Dropped segments are not garbage collected",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartSegments | model.PartChannels,
	Doc: `Looks at dropped segments whose retention has passed: ` + "`dataCoord.gc.dropTolerance`" + ` as DataCoord tells it, else 24 h, and three rounds of the collector
on top. They are information; a warning if there are at least 1,000 and more than there are living ones.

Segments that carry no time of dropping are counted by their last write, and never make it a warning, as they may have been dropped a moment ago: milvus issue 48902 tells of 2.6, where
the drop of a collection leaves it out and the collector then passes them over for good. The collector also spares segments while the checkpoint of their channel is behind their last
write, and those that were compacted into a segment whose index is not finished (` + "`internal/datacoord/garbage_collector.go`" + `,
checkDroppedSegmentGC; issue 53064): the evidence counts the former.

They cost storage, and DataCoord reads and keeps all of them in memory.`,
	Remedy: `Check ` + "`dataCoord.enableGarbageCollection`" + ` and DataCoord's log for "GC". Where checkpoints hold it up, mend those first.`,
	Run:    runDroppedNotCollected,
	Roles:  []string{"datacoord"},
	FollowsFrom: []check.Cause{
		{Check: "bad-switches", Of: aboutCollection}, {Check: "checkpoint-lag"}, {Check: "checkpoint-missing"},
	},
}

func runDroppedNotCollected(p *check.Pass) error {
	total := p.Totals()
	if total.ByState[model.SegmentDropped] == 0 {
		return nil
	}
	keep := p.SettingSeconds("dataCoord.gc.dropTolerance", dropTolerance, facts.DataCoords()...)
	interval := p.SettingSeconds("dataCoord.gc.interval", collectEvery, facts.DataCoords()...)
	u := p.Uncollected(p.Before(keep + collectRounds*interval))
	if u.Segments == 0 {
		return nil
	}
	f := check.Finding{
		Severity: check.Info,
		Message:  uncollectedText(p, &u),
		Evidence: []check.Evidence{
			check.Count("dropped segments past their retention", u.Segments, "etcd"),
			check.Count("all dropped segments", total.ByState[model.SegmentDropped], "etcd"),
			check.Count("living segments", total.Segments, "etcd"),
			check.Size("their logs", u.Bytes, "etcd"),
			check.Lasts("retention", keep, p.SettingSource("dataCoord.gc.dropTolerance")),
			check.Count("without a time of dropping", u.Undated, "etcd"),
			check.Count("whose checkpoint is behind their last write", u.Behind, "etcd"),
		},
		Impact: "Object storage and etcd keep what nobody reads.",
		Hint:   "look for \"GC\" in the log of DataCoord, and at dataCoord.enableGarbageCollection",
	}
	for _, s := range u.First {
		f.Objects = append(f.Objects, facts.RefSegment(s.ID))
	}
	if dated := u.Segments - u.Undated; dated >= uncollectedWarning && dated > total.Segments {
		f.Severity = check.Warning
	}
	p.Report(f)
	return nil
}

func uncollectedText(p *check.Pass, u *facts.Uncollected) string {
	dropped := words.Plural(u.Segments, "dropped segment")
	switch u.Undated {
	case u.Segments:
		return fmt.Sprintf("%s %s not say when that was, so that %s may never be collected", dropped, words.Agree(u.Segments, "does", "do"), words.Agree(u.Segments, "it", "they"))
	case 0:
		return fmt.Sprintf("%s should have been collected, the oldest dropped %s ago", dropped, words.Span(p.Age(u.Oldest)))
	}
	return fmt.Sprintf("%s should have been collected, the oldest dropped %s ago; %s of them %s not say when", dropped, words.Span(p.Age(u.Oldest)), words.Number(u.Undated), words.Agree(u.Undated, "does", "do"))
}
