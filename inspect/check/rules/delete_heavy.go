package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of delete-heavy.
const (
	// rewriteAfter is the minimum age of a segment.
	rewriteAfter = time.Hour
	// deletedLeast is the minimum number of deleted rows for a finding, and keptLeast the minimum if no
	// compaction removes them. heavyShare is the minimum share of a collection's rows in such segments.
	// halfDeleted is the share of their rows that must be deleted for a warning.
	deletedLeast, keptLeast = 10_000, 1_000
	heavyShare, halfDeleted = 0.1, 0.5
)

// deleteHeavy reports collections with many deleted rows in their segments.
var deleteHeavy = &check.Check{
	ID:       "delete-heavy",
	Title:    "Segments carry many deleted rows",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.TasksHang, check.StorageGrows},
	Starts:   "task_failed config_changed:compaction | segment_flushed segment_compacted",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs | model.PartTasks | model.PartServing,
	Doc: `Each search compares and discards deleted rows that compaction never removed. They stay in memory and in
indexes, and graph indexes find fewer results. The check looks at flushed segments an hour old whose delta logs cover
more than a fifth of their rows: where Milvus rewrites a segment
(` + "`dataCoord.compaction.single.ratio.threshold`" + `). Reported if such segments hold at least a tenth of the
collection's rows and 10,000 deletes. Info; warning if half of their rows are deleted and the collection is loaded,
unless a compaction of L0 segments brought deletes within the last hour (Milvus 2.4 and later): rewriting may be about
to start.

If compaction is off (` + "`dataCoord.enableCompaction`" + `, ` + "`dataCoord.compaction.enableAutoCompaction`" + `, the
collection's property ` + "`collection.autocompaction.enabled`" + `), nothing will start: warning at once if the
collection is loaded, from 1,000 deletes on.

The count is an upper bound: a key deleted twice counts twice, as does a false positive of a segment's bloom filter.
Deletes in L0 segments are not counted here, see ` + "`l0-backlog`" + `.`,
	Remedy: `Run ` + "`Collection(NAME).compact()`" + `, which rewrites segments. If it recurs, check that automatic
compaction is on and keeps up.`,
	Run:   runDeleteHeavy,
	Roles: []string{"datacoord", "datanode"},
	FollowsFrom: []check.Cause{
		{Check: "bad-switches", Applies: aboutCompaction},
		{Check: "checkpoint-lag", Applies: check.Shares("collections")},
	},
}

func runDeleteHeavy(p *check.Pass) {
	limit := p.Before(rewriteAfter)
	for _, x := range p.Existing() {
		t := p.CollectionTotals(x.ID)
		if t.DeletedRows < keptLeast {
			continue
		}
		list := p.SegmentsIn(x.ID, facts.DeletedSegs)
		rows, deleted := deletedFrom(list)
		if deleted < keptLeast || facts.Ratio(rows, t.Rows) < heavyShare {
			continue
		}
		why, off := compactionOff(p, x)
		if !off {
			list = slices.DeleteFunc(slices.Clone(list), func(s *model.Segment) bool {
				return !facts.UnchangedSince(s, limit)
			})
			if rows, deleted = deletedFrom(list); deleted < deletedLeast || facts.Ratio(rows, t.Rows) < heavyShare {
				continue
			}
		}
		segments := len(list)
		f := check.Finding{
			Severity: check.Info, Object: facts.RefCollection(p.Cluster, x.ID),
			Objects: facts.Refs(list, func(s *model.Segment) model.Ref { return facts.RefSegment(s.ID) }),
			Message: fmt.Sprintf("%s of %s %s up to %s of %s rows deleted", words.Plural(segments, "segment"),
				facts.CollectionLabel(p.Cluster, x.ID), words.Agree(segments, "has", "have"),
				words.Share(facts.Ratio(deleted, rows)), words.Number(rows)),
			Evidence: []check.Evidence{
				check.Count("segments with more than a fifth deleted", segments, "etcd"),
				check.Count("rows in them", rows, "etcd"),
				check.Count("deletes in their delta logs, at most one per row", deleted, "etcd"),
				check.Count("rows of the collection", t.Rows, "etcd"),
			},
			Impact: "Memory and search time are spent on rows that no search returns.",
			Fix: check.Fix(
				check.Pymilvus(p.Cluster, x.Database, "Collection(%s).compact()", x.Name).
					Does("rewrites the segments without the deleted rows; data nodes are busy meanwhile").
					Interrupting(5*time.Minute, "nothing"),
				check.Shell(check.Kitescope("get segments state=Flushed --sort -deleted_rows").
					Arg("collection_id="+x.ID.String())).
					Does("shows the deleted rows of each segment: they should fall within minutes"),
			),
		}
		loaded := p.LoadState(x.ID) != nil
		switch at := lastDeletes(p, x.ID); {
		case off:
			f.Message += ", and compaction is off"
			f.Evidence = append(f.Evidence, why)
			if loaded {
				f.Severity = check.Warning
			}
		case !at.IsZero() && p.Age(at) < rewriteAfter:
			f.Evidence = append(f.Evidence, check.Fact("last deletes from L0 segments", facts.TimeText(at), "etcd"))
		case facts.Ratio(deleted, rows) >= halfDeleted && loaded:
			f.Severity = check.Warning
		}
		p.Report(f)
	}
}

// deletedFrom returns the number of rows in the segments and the number of deleted rows. It counts at most Rows
// deletes per segment.
func deletedFrom(list []*model.Segment) (rows, deleted int64) {
	for _, s := range list {
		rows, deleted = rows+s.Rows, deleted+min(s.DeletedRows, s.Rows)
	}
	return rows, deleted
}

// lastDeletes returns the time at which a compaction last moved deletes from L0 segments into other segments
// of a collection. It covers only tasks that are still in etcd. It uses tasks because the target segments
// keep their times.
func lastDeletes(p *check.Pass, id model.CollectionID) (at time.Time) {
	for _, t := range p.Tasks {
		if t.Collection == id && t.Type == "compaction" && strings.HasPrefix(t.SubType, "Level0") &&
			t.EndedAt.After(at) {
			at = t.EndedAt
		}
	}
	return at
}
