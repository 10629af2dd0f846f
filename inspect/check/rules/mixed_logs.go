package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// mixedLogs finds segments with insert logs of two storage versions.
var mixedLogs = &check.Check{
	ID:       "mixed-logs",
	Title:    "Segments have insert logs in two storage versions",
	Severity: check.Warning,
	Symptoms: []string{check.AfterUpgrade},
	Starts:   "segment_flushed node_joined | segment_compacted",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs,
	Doc: `A query node misses rows of a segment because its record names the rows of a field twice. The check looks
for segments that have insert logs of a single field (storage version 1) and also in a column group (storage version
2, Milvus 2.6 and later). A segment has one layout: a query node that loads it by one layout misses the files of the
other. birdwatcher calls such segments MIXED_BINLOGS and can repair them.

Exact for the first 54 fields of a schema. Not reported: column groups that were added for other fields. Not judged: a
segment that has insert logs and a manifest of storage version 3 (Milvus issue 51250), because releases leave
different records. Not seen on a server.`,
	Remedy: `Take a backup of etcd, then run birdwatcher's ` + "`repair mixed-binlogs`" + `: it names the keys of the
layout that lacks fields, and removes them once you tell it to run. It refuses if neither layout has all fields.`,
	Run: runMixedLogs,
}

func runMixedLogs(p *check.Pass) {
	for _, x := range p.Collections {
		list := p.SegmentsIn(x.ID, facts.MixedSegs)
		if len(list) == 0 || x.Dropped() {
			continue
		}
		f := check.Finding{Severity: check.Warning, Object: facts.RefCollection(p.Cluster, x.ID)}
		var rows int64
		for _, s := range list {
			rows += s.Rows
			if len(f.Objects) < facts.MaxObjects {
				f.Objects = append(f.Objects, facts.RefSegment(s.ID))
				single, grouped := layouts(s)
				f.Evidence = append(f.Evidence,
					check.Fact("segment "+s.ID.String(),
						words.Plural(single, "field")+" alone, "+words.Plural(grouped, "column group"), "etcd"))
			}
		}
		f.Evidence = append(f.Evidence, check.Count("segments with both", len(list), "etcd"),
			check.Count("rows in them", rows, "etcd"))
		f.Message = fmt.Sprintf("%s of %s with %s rows %s insert logs of two storage versions",
			words.Plural(len(list), "segment"),
			facts.CollectionLabel(p.Cluster, x.ID), words.Number(rows), words.Agree(len(list), "has", "have"))
		f.Impact = "Query nodes may load part of the rows, or fail to load the segments; compacting them may fail."
		f.Fix = check.Fix(
			check.Do("take a backup of etcd, then run birdwatcher's repair mixed-binlogs: "+
				"it lists the keys of the layout that lacks fields").
				Interrupting(0, "nothing"),
			check.Shell(check.Kitescope("describe segment").Arg(list[0].ID.String())).
				Does("shows the logs of the first"),
		)
		p.Report(f)
	}
}

// layouts counts a segment's single-field insert logs and its column groups.
func layouts(s *model.Segment) (single, grouped int) {
	for i := range s.Logs {
		switch l := &s.Logs[i]; {
		case l.Kind != model.InsertLog:
		case l.Group.Empty():
			single++
		default:
			grouped++
		}
	}
	return single, grouped
}
