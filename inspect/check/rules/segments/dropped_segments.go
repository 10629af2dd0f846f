package segments

import (
	"fmt"
	"slices"
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

// uncollected are dropped segments past their retention.
type uncollected struct {
	count, behind, undated int
	bytes                  int64
	oldest                 time.Time
	objects                []model.Ref
}

func runDroppedNotCollected(p *check.Pass) error {
	total := p.Totals()
	if total.ByState[model.SegmentDropped] == 0 {
		return nil
	}
	keep := p.SettingSeconds("dataCoord.gc.dropTolerance", dropTolerance, facts.DataCoords()...)
	interval := p.SettingSeconds("dataCoord.gc.interval", collectEvery, facts.DataCoords()...)
	u := countUncollected(p, p.Before(keep+collectRounds*interval))
	if u.count == 0 {
		return nil
	}
	f := check.Finding{
		Severity: check.Info, Objects: u.objects,
		Message: uncollectedText(p, u),
		Evidence: []check.Evidence{
			check.Count("dropped segments past their retention", u.count, "etcd"),
			check.Count("all dropped segments", total.ByState[model.SegmentDropped], "etcd"),
			check.Count("living segments", total.Segments, "etcd"),
			check.Size("their logs", u.bytes, "etcd"),
			check.Lasts("retention", keep, p.SettingSource("dataCoord.gc.dropTolerance")),
			check.Count("without a time of dropping", u.undated, "etcd"),
			check.Count("whose checkpoint is behind their last write", u.behind, "etcd"),
		},
		Impact: "Object storage and etcd keep what nobody reads.",
		Hint:   "look for \"GC\" in the log of DataCoord, and at dataCoord.enableGarbageCollection",
	}
	if dated := u.count - u.undated; dated >= uncollectedWarning && dated > total.Segments {
		f.Severity = check.Warning
	}
	p.Report(f)
	return nil
}

// countUncollected adds up the segments that were dropped before limit.
func countUncollected(p *check.Pass, limit model.TSO) (u uncollected) {
	u.oldest = p.Now
	var first []*model.Segment // by id
	for s := range p.AllAmong(facts.DroppedSegs) {
		if at := droppedAt(s); at == 0 || at >= limit {
			continue
		}
		u.count++
		u.bytes += s.Bytes
		if s.DroppedAt == 0 {
			u.undated++
		}
		if v := p.VChannel(s.VChannel); v != nil && v.Removal == "non-removed" && v.Checkpoint.At < s.PositionAt {
			u.behind++
		}
		if t := s.DroppedAt.Time(); s.DroppedAt != 0 && t.Before(u.oldest) {
			u.oldest = t
		}
		if n := len(first); n < facts.MaxObjects || s.ID < first[n-1].ID {
			at, _ := slices.BinarySearchFunc(first, s, facts.ByID)
			first = slices.Insert(first, at, s)
			first = first[:min(len(first), facts.MaxObjects)]
		}
	}
	for _, s := range first {
		u.objects = append(u.objects, facts.RefSegment(s.ID))
	}
	return u
}

func uncollectedText(p *check.Pass, u uncollected) string {
	dropped := words.Plural(u.count, "dropped segment")
	switch u.undated {
	case u.count:
		return fmt.Sprintf("%s %s not say when that was, so that %s may never be collected", dropped, words.Agree(u.count, "does", "do"), words.Agree(u.count, "it", "they"))
	case 0:
		return fmt.Sprintf("%s should have been collected, the oldest dropped %s ago", dropped, words.Span(p.Age(u.oldest)))
	}
	return fmt.Sprintf("%s should have been collected, the oldest dropped %s ago; %s of them %s not say when", dropped, words.Span(p.Age(u.oldest)), words.Number(u.undated), words.Agree(u.undated, "does", "do"))
}

// droppedAt is when a segment was dropped, if that is not recorded when it was written last; 0 if nothing tells.
func droppedAt(s *model.Segment) model.TSO {
	if last := facts.LastTouched(s); s.DroppedAt == 0 && !last.IsZero() {
		return model.TSOFromTime(last)
	}
	return s.DroppedAt
}
