package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of small-segments.
const (
	// usualSize is the default of dataCoord.segment.maxSize, in MB.
	usualSize = 1024
	// mergeable is the minimum number of small segments that Milvus merges
	// (internal/datacoord/compaction_trigger.go, MinSegmentToMerge: 3).
	mergeable = 3
	// mergeAfter is the minimum age of a small segment. Milvus looks for compactions every minute
	// (dataCoord.compaction.global.interval: 60).
	mergeAfter = time.Hour
	// excessInfo and excessWarning are the numbers of segments that merging would save.
	excessInfo, excessWarning = 10, 50
)

// smallSegments finds collections with small segments that are not merged.
var smallSegments = &check.Check{
	ID:       "small-segments",
	Title:    "Compaction lags: many small segments are not merged",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.TasksHang, check.StorageGrows},
	Starts:   "segment_flushed segment_sealed | config_changed:compaction segment_created collection_loaded",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs | model.PartServing | model.PartIndexes,
	Doc: `Frequent flushes left small segments, each with a search, an index, and work for QueryCoord. The check looks
at flushed segments below half of the rows that their record allows (` + "`dataCoord.segment.smallProportion`" + `), per
partition and vchannel, as compaction does. If logs record their size in memory (Milvus 2.4 and later) a segment also
has to be below half of ` + "`dataCoord.segment.maxSize`" + `: Milvus then goes by size, and rows larger than their
schema suggests fill a segment early. If at least 3 of them are an hour old, the check counts the segments that
merging would save. Info from 10 in a collection, warning from 50 if it is loaded.

Not reported: single small segments in each of many partitions, which cannot be merged; L0, L2, importing and
invisible segments; a cluster configured for small segments, because the limit is the one in the records.

Milvus merges a segment only when it is indexed and the checkpoint of its channel is at most 15 minutes old
(` + "`dataCoord.compaction.channelMaxCPLag`" + `, 2.4 and later). Milvus issues 23378, 24730, 25681 and 29486.`,
	Remedy: `Flush less often: each flush ends a segment on every shard. Check that automatic compaction is on
(` + "`dataCoord.enableCompaction`" + `, ` + "`dataCoord.compaction.enableAutoCompaction`" +
		`, the collection's property
` + "`collection.autocompaction.enabled`" + `), that data nodes are not overloaded, and that indexes are built. Run
` + "`Collection(NAME).compact()`" + ` to merge now.`,
	Phases: []latency.Name{latency.ThreadWait, latency.KernelSealed},
	Run:    runSmallSegments,
	Roles:  []string{"datacoord", "datanode"},
	FollowsFrom: slices.Concat(
		check.CausedBy(aboutCompaction, "bad-switches"),
		check.CausedBy(check.Shares("collections"), "checkpoint-lag", "index-stuck", "index-failed", "index-missing"),
	),
}

func runSmallSegments(p *check.Pass) {
	limit := p.Before(mergeAfter)
	for _, x := range p.Collections {
		if t := p.CollectionTotals(x.ID); !x.Dropped() && t.ByState[model.SegmentFlushed] >= excessInfo {
			judgeSmall(p, x, limit)
		}
	}
}

func judgeSmall(p *check.Pass, x *model.Collection, limit model.TSO) {
	d := p.DigestOf(x.ID)
	full := int64(facts.SmallShare*float64(
		p.SettingCount("dataCoord.segment.maxSize", usualSize, facts.DataCoords()...),
	)) << 20
	sums := p.Merges(x.ID, full, limit)
	small, excess := 0, 0
	var rows int64
	for _, g := range sums {
		if g.Segments < mergeable {
			continue
		}
		small, rows = small+g.Segments, rows+g.Rows
		excess += g.Segments - max(1, int((g.Rows+g.MaxRows-1)/g.MaxRows))
	}
	if excess < excessInfo {
		return
	}
	f := check.Finding{
		Severity: check.Info, Object: facts.RefCollection(p.Cluster, x.ID),
		Message: fmt.Sprintf("%s of %s are small (%s rows in total) and could be %s fewer",
			words.Plural(small, "segment"), facts.CollectionLabel(p.Cluster, x.ID), words.Number(rows),
			words.Number(excess)),
		Evidence: []check.Evidence{
			check.Count("small segments older than "+words.Span(mergeAfter), small, "etcd"),
			check.Count("all flushed segments", d.Flushed, "etcd"),
			check.Count("rows in small segments", rows, "etcd"),
			check.Count("max rows per segment", d.MaxRows, "etcd"),
			check.Count("their partitions and vchannels", len(sums), "etcd"),
		},
		Impact: fmt.Sprintf("Each search of the collection has to search up to %s segments and merge their results.",
			words.Number(d.Flushed)),
		Fix: check.Fix(
			check.Pymilvus(p.Cluster, x.Database, "Collection(%s).compact()", x.Name).
				Does("merges them now; data nodes are busy meanwhile").
				Interrupting(5*time.Minute, "nothing"),
			check.Do("flush less often: each flush seals a segment on every shard"),
		),
	}
	if empty := emptySegments(p, x.ID); empty > 0 {
		f.Message += fmt.Sprintf("; %s of its segments %s empty", words.Number(empty), words.Agree(empty, "is", "are"))
		f.Evidence = append(f.Evidence, check.Count("flushed segments without rows", empty, "etcd"))
	}
	if !slices.ContainsFunc(p.IndexesOf(x.ID), func(i *model.Index) bool { return !i.Deleted }) {
		f.Evidence = append(f.Evidence,
			check.Fact("index definitions", "none: Milvus merges only indexed segments", "etcd"))
		f.Fix = check.Fix(check.Do("create an index on its vectors: Milvus merges only indexed segments").
			Interrupting(0, "nothing"))
	}
	for _, kv := range x.Properties {
		if kv.Key == autoCompactionOf {
			f.Evidence = append(f.Evidence, check.Fact(kv.Key, kv.Value, "etcd"))
			if strings.EqualFold(kv.Value, "false") {
				f.Fix = append(f.Fix,
					check.Pymilvus(p.Cluster, x.Database,
						"Collection(%s).set_properties({\"collection.autocompaction.enabled\": \"true\"})", x.Name).
						Does("lets Milvus merge them automatically from now on").
						Interrupting(0, "nothing"))
			}
		}
	}
	switch {
	case p.LoadState(x.ID) == nil:
		f.Impact = "None while it is not loaded. Loading and searching it will take longer."
	case excess >= excessWarning:
		f.Severity = check.Warning
	}
	p.Report(f)
}

// emptySegments counts the flushed segments of a collection without rows. It excludes L0 segments, which hold deletes,
// and fake segments.
func emptySegments(p *check.Pass, id model.CollectionID) (n int) {
	for _, s := range p.SegmentsOf(id) {
		if s.State == model.SegmentFlushed && s.Level != model.LevelL0 && s.Rows == 0 && !s.Fake {
			n++
		}
	}
	return n
}
