package rules

import (
	"fmt"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of delete-heavy.
const (
	// rewriteAfter is how old the segment has to be.
	rewriteAfter = time.Hour
	// deletedLeast is how many deleted rows are worth a word, heavyShare how much of a collection has to be in such segments,
	// halfDeleted how much of those segments for a warning.
	deletedLeast            = 10_000
	heavyShare, halfDeleted = 0.1, 0.5
)

// deleteHeavy finds collections that carry many deleted rows along.
var deleteHeavy = &check.Check{
	ID:       "delete-heavy",
	Title:    "Segments carry many deleted rows",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.TasksHang, check.StorageGrows},
	Starts:   "task_failed config_changed:compaction | segment_flushed segment_compacted",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs | model.PartTasks | model.PartServing,
	Doc: `Looks at flushed segments an hour old whose delta logs cover more than a fifth of their rows: from there on Milvus rewrites a segment
(` + "`dataCoord.compaction.single.ratio.threshold`" + `). A finding if such segments hold at least a tenth of the collection's rows and 10,000 deletes. Info; a
warning if half of their rows are deleted and the collection is loaded, unless a compaction of L0 segments brought deletes within the last hour
(Milvus 2.4 and later): rewriting may be about to start.

The count is an upper bound: a key deleted twice counts twice, and so does a false positive of a segment's bloom filter. Deletes in L0 segments are
not counted here, see ` + "`l0-backlog`" + `.

Deleted rows stay in memory and in indexes. Each search compares them and discards them, and graph indexes find fewer results.`,
	Remedy: "`Collection(NAME).compact()`" + ` rewrites the segments. If it keeps happening, check that automatic compaction is on and keeps up.`,
	Run:    runDeleteHeavy,
	Roles:  []string{"datacoord", "datanode"},
	FollowsFrom: []check.Cause{
		{Check: "bad-switches", Of: aboutCompaction}, {Check: "checkpoint-lag", Of: check.Shares("collections")},
	},
}

func runDeleteHeavy(p *check.Pass) {
	limit := p.Before(rewriteAfter)
	for _, x := range p.Existing() {
		t := p.CollectionTotals(x.ID)
		if t.DeletedRows < deletedLeast {
			continue
		}
		segments := 0
		var rows, deleted int64
		var objects []model.Ref
		for _, s := range p.Among(x.ID, facts.DeletedSegs) {
			if !facts.Settled(s, limit) {
				continue
			}
			segments++
			rows, deleted = rows+s.Rows, deleted+min(s.DeletedRows, s.Rows)
			if len(objects) < facts.MaxObjects {
				objects = append(objects, facts.RefSegment(s.ID))
			}
		}
		if deleted < deletedLeast || facts.Part(rows, t.Rows) < heavyShare {
			continue
		}
		f := check.Finding{
			Severity: check.Info, Object: facts.RefCollection(p.Cluster, x.ID), Objects: objects,
			Message: fmt.Sprintf("%s of %s %s up to %s of %s rows deleted", words.Plural(segments, "segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Agree(segments, "has", "have"), words.Share(facts.Part(deleted, rows)), words.Number(rows)),
			Evidence: []check.Evidence{
				check.Count("segments with more than a fifth deleted", segments, "etcd"),
				check.Count("their rows", rows, "etcd"),
				check.Count("deletes in their delta logs, at most one a row", deleted, "etcd"),
				check.Count("rows of the collection", t.Rows, "etcd"),
			},
			Impact: "Memory and search time are spent on rows that no search returns.",
			Fix: check.Fix(
				check.Pymilvus(p.Cluster, x.Database, "Collection(%s).compact()", x.Name).Does("rewrites the segments without the deleted rows; data nodes are busy meanwhile"),
				check.Shell(check.Kitescope("get segments state=Flushed --sort -deleted_rows").Arg("collection_id="+x.ID.String())).Does("shows the deleted rows of each segment: they should fall within minutes"),
			),
		}
		if at := lastDeletes(p, x.ID); !at.IsZero() && p.Age(at) < rewriteAfter {
			f.Evidence = append(f.Evidence, check.Fact("last deletes from L0 segments", facts.TimeText(at), "etcd"))
		} else if facts.Part(deleted, rows) >= halfDeleted && p.LoadState(x.ID) != nil {
			f.Severity = check.Warning
		}
		p.Report(f)
	}
}

// lastDeletes is when a compaction last moved deletes from L0 segments into others of a collection, as far as etcd still has its task. The
// segments that it moves them into keep their times.
func lastDeletes(p *check.Pass, id model.CollectionID) (at time.Time) {
	for _, t := range p.Tasks {
		if t.Collection == id && t.Type == "compaction" && strings.HasPrefix(t.SubType, "Level0") && t.EndedAt.After(at) {
			at = t.EndedAt
		}
	}
	return at
}
