package view

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var segments = define(definition[*model.Segment]{
	Resource: Resource{
		Schema: table.Schema{
			Name:       "segments",
			Names:      []string{"id"},
			Shorthands: collectionShorthands("deleted", "deleted_rows"),
		},
		Aliases: []string{"seg", "segs"},
		Doc: "Segments in DataCoord's metadata. Lists leave dropped ones out unless `--all` or a " +
			"selector asks for them.",
		Needs: model.PartObjects | model.PartSegments,
		Omits: "dropped", OmitOverrides: []string{"state", "dropped_at"},
	},
	rows: func(e *Env) []*model.Segment { return e.Cluster.Segments },
	columns: concat(
		[]column[*model.Segment]{
			col(table.Column{Name: "id", Kind: table.ID, Doc: "Segment id."},
				func(_ *Env, s *model.Segment) table.Cell { return id(s.ID) }),
		},
		collectionColumns(func(s *model.Segment) model.CollectionID { return s.Collection }),
		segmentPlace,
		segmentContent,
		segmentFlags,
		segmentTimes, segmentDetails,
		segmentLive, segmentJSON, segmentTarget,
	),
	find:    findSegment,
	omitted: func(_ *Env, s *model.Segment) bool { return s.State == model.SegmentDropped },
	ref:     func(_ *Env, s *model.Segment) Ref { return Ref{ID: s.ID.String()} },
	owner:   func(e *Env, s *model.Segment) (Ref, bool) { return collectionRef(e, s.Collection) },
	links: func(_ *Env, s *model.Segment) []Link {
		return []Link{
			link("index files", "segment-indexes", "segment_id="+s.ID.String()),
			link("vchannel", "vchannels", "name="+s.VChannel),
			link("replaced by", "segments", "compacted_from="+s.ID.String()),
		}
	},
	sections: segmentSections,
})

// findSegment returns the position of a segment. It relies on segments being sorted by id.
func findSegment(e *Env, id string) (int, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, false
	}
	return slices.BinarySearchFunc(e.Cluster.Segments, model.SegmentID(n), compareSegmentID)
}

func compareSegmentID(s *model.Segment, id model.SegmentID) int { return cmp.Compare(s.ID, id) }

var segmentPlace = []column[*model.Segment]{
	col(table.Column{
		Name: "partition_id", Kind: table.ID, Show: table.Wide, Priority: 6,
		Doc: "Id of the partition; -1 is all of them (L0 segments).",
	},
		func(_ *Env, s *model.Segment) table.Cell { return id(s.Partition) }),
	col(table.Column{
		Name: "partition", Priority: 4, Doc: "Name of the partition, none if it is gone, * for all of them.",
	},
		func(e *Env, s *model.Segment) table.Cell { return text(e.Cluster.PartitionName(s.Partition)) }),
	col(table.Column{
		Name: "vchannel", Show: table.Wide, Priority: 5, Doc: "Virtual channel that the segment's rows came through.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return text(s.VChannel) }),
	col(table.Column{
		Name: "state", Kind: table.State, Pinned: true,
		Doc: "Growing, Sealed, Flushing, Flushed, Dropped or Importing.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return text(s.State.String()) }),
	col(table.Column{
		Name: "level", Priority: 5, Doc: "Compaction level: Legacy (2.3 and older), L0 (deletes only), L1 or L2.",
		Vocabulary: true,
	},
		func(_ *Env, s *model.Segment) table.Cell { return text(s.Level.String()) }),
}

var segmentContent = []column[*model.Segment]{
	col(table.Column{
		Name: "rows", Kind: table.Int, Doc: "Rows as recorded: 0 on a growing segment until its first sync.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return count(s.Rows) }),
	col(table.Column{Name: "deleted_rows", Title: "DELETES", Kind: table.Int, Priority: 4, Doc: deletesDoc},
		func(_ *Env, s *model.Segment) table.Cell { return count(s.DeletedRows) }).withNeeds(model.PartLogs),
	col(table.Column{
		Name: "size_bytes", Kind: table.Bytes, Priority: 3,
		Doc: "Bytes of all logs in storage, index files not included; unknown with storage version 3, whose files " +
			"are " +
			"listed in a manifest in storage.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return storageCount(s, s.Bytes) }).withNeeds(model.PartLogs),
	col(table.Column{
		Name: "index_state", Title: "INDEX", Kind: table.State, Priority: 2,
		Doc: "Worst state over the collection's indexes: Finished, InProgress, Unissued, Retry, Missing, Failed; " +
			"NotNeeded if the segment gets none.",
	},
		func(e *Env, s *model.Segment) table.Cell { return indexState(e.Cluster.IndexState(s)) }).
		withNeeds(model.PartIndexes | model.PartSegmentIndexes),
	col(table.Column{
		Name: "index_states", Kind: table.Pairs, Show: table.Hidden, Doc: "State per index, by the index's name.",
	}, indexStates).withNeeds(model.PartIndexes | model.PartSegmentIndexes),
	col(table.Column{
		Name: "index_bytes", Title: "INDEX SIZE", Kind: table.Bytes, Show: table.Wide, Priority: 6,
		Doc: "Bytes of finished index files, where Milvus records them.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return countOrNone(s.IndexBytes) }).
		withNeeds(model.PartSegmentIndexes),
	col(table.Column{Name: "files", Kind: table.Int, Show: table.Wide, Priority: 7, Doc: "Log files in storage."},
		func(_ *Env, s *model.Segment) table.Cell { return storageCount(s, logFiles(s)) }).withNeeds(model.PartLogs),
	col(table.Column{
		Name: "max_rows", Kind: table.Int, Show: table.Hidden,
		Doc: "Rows at which the segment is sealed, estimated when it was opened.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return count(s.MaxRows) }),
	col(table.Column{
		Name: "streaming_rows", Kind: table.Int, Show: table.Hidden,
		Doc: "Rows written so far to a growing segment, as the streaming node counts them (2.6).",
	},
		func(_ *Env, s *model.Segment) table.Cell {
			if s.Details == nil || s.Details.Growing == nil {
				return none()
			}
			return count(s.Details.Growing.Rows)
		}),
	col(table.Column{
		Name: "streaming_account", Kind: table.Pairs, Rare: true, Show: table.Hidden,
		Doc: "Other counts of the streaming node for a growing segment: its state, bytes, the bytes at which it is " +
			"sealed, binlogs written, and times (2.6).",
	}, growingRecord),
	col(table.Column{
		Name: "compacted_from", Kind: table.List, Show: table.Hidden,
		Doc: "Ids of the segments that were compacted into this one.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return ids(s.CompactedFrom) }),
}

var segmentFlags = []column[*model.Segment]{
	col(table.Column{
		Name: "sorted", Kind: table.Bool, Show: table.Hidden, Doc: "Rows are sorted by primary key (2.5 and later).",
	},
		func(_ *Env, s *model.Segment) table.Cell { return yesNo(s.Sorted) }),
	col(table.Column{
		Name: "invisible", Kind: table.Bool, Show: table.Hidden,
		Doc: "Not to be searched until sorting or an import is done (2.5 and later).",
	},
		func(_ *Env, s *model.Segment) table.Cell { return yesNo(s.Invisible) }),
	col(table.Column{Name: "compacted", Kind: table.Bool, Show: table.Hidden, Doc: "A compaction has replaced it."},
		func(_ *Env, s *model.Segment) table.Cell { return yesNo(s.Compacted) }),
	col(table.Column{
		Name: "by_compaction", Kind: table.Bool, Show: table.Hidden,
		Doc: "It was created by a compaction.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return yesNo(s.ByCompaction) }),
	col(table.Column{Name: "importing", Kind: table.Bool, Show: table.Hidden, Doc: "A running import owns it."},
		func(_ *Env, s *model.Segment) table.Cell { return yesNo(s.Importing) }),
	col(table.Column{
		Name: "fake", Kind: table.Bool, Show: table.Hidden,
		Doc: "Record without data, left by a compaction that removed every row.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return yesNo(s.Fake) }),
	col(table.Column{
		Name: "by_streaming", Kind: table.Bool, Show: table.Hidden,
		Doc: "It was opened by the streaming service (2.6).",
	},
		func(_ *Env, s *model.Segment) table.Cell { return yesNo(s.ByStreaming) }),
	col(table.Column{
		Name: "two_layouts", Kind: table.Bool, Show: table.Hidden,
		Doc: "The record has inline logs (2.1) and separate log keys (2.2) at once: an upgrade was interrupted or " +
			"rolled back.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return yesNo(s.TwoLayouts) }).withNeeds(model.PartLogs),
	col(table.Column{
		Name: "storage_version", Title: "STORAGE", Kind: table.Int, Show: table.Hidden,
		Doc: "Version of the storage format; 0 is binlogs per field.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return count(int64(s.StorageVersion)) }),
}

var segmentTimes = []column[*model.Segment]{
	col(table.Column{
		Name: "created_at", Title: "CREATED", Kind: table.Time, Show: table.Wide, Priority: 5,
		Doc: "Time of the first message, else of the last allocation of rows.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return timeCell(s.CreatedAt()) }),
	col(table.Column{Name: "age_seconds", Kind: table.Duration, Priority: 5, Doc: "Time since created_at."},
		func(e *Env, s *model.Segment) table.Cell { return age(e, s.CreatedAt()) }),
	col(table.Column{
		Name: "position_at", Title: "POSITION", Kind: table.Time, Show: table.Hidden,
		Doc: "Time of the segment's checkpoint in its vchannel.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return tso(s.PositionAt) }),
	col(table.Column{
		Name: "dropped_at", Title: "DROPPED", Kind: table.Time, Show: table.Hidden,
		Doc: "When it was dropped; kept after that until garbage collection.",
	},
		func(_ *Env, s *model.Segment) table.Cell { return tso(s.DroppedAt) }),
}

func indexState(s model.IndexState) table.Cell {
	if s == model.IndexUnknown {
		return unknown()
	}
	return text(s.String())
}

func indexStates(e *Env, s *model.Segment) table.Cell {
	var flat []string
	for i := range s.Indexes {
		x := &s.Indexes[i]
		if x.Deleted {
			continue
		}
		flat = append(flat, indexName(e, x.Index), x.State.String())
	}
	return table.Cell{List: flat}
}

// indexName returns the name of an index, otherwise its id.
func indexName(e *Env, id model.IndexID) string {
	if x := e.Cluster.Index(id); x != nil && x.Name != "" {
		return x.Name
	}
	return id.String()
}

func logFiles(s *model.Segment) int64 {
	var n int64
	for i := range s.Logs {
		n += int64(s.Logs[i].Files)
	}
	return n
}

func segmentSections(s *scope, x *model.Segment) []Section {
	var made, from []*model.Segment
	for _, other := range s.Cluster.SegmentsOf(x.Collection) {
		for _, id := range other.CompactedFrom {
			if id == x.ID {
				made = append(made, other)
			}
		}
	}
	gone := 0
	for _, id := range x.CompactedFrom {
		if other := s.Cluster.Segment(id); other != nil {
			from = append(from, other)
		} else {
			gone++
		}
	}
	ancestors := section(s, "compacted from", "segments", from, "id", "state", "rows", "size_bytes", "created_at")
	if gone > 0 {
		ancestors.Note = strconv.Itoa(gone) + " more no longer in the metadata"
	}
	return []Section{
		section(s, "indexes", "segment-indexes", pointers(x.Indexes), "index", "field", "state", "rows", "size_bytes",
			"build_id", "node", "fail_reason"),
		sectionOf(s, "logs", segmentLogs, logRows(s.Env, x)),
		ancestors,
		section(s, "compacted into", "segments", made, "id", "state", "rows", "size_bytes", "created_at"),
	}
}

// deletesDoc documents the count of deletes. Metadata alone does not have the number of deleted rows.
const deletesDoc = "Deletes in the delta logs, an upper bound of the rows deleted: keys deleted twice count twice, " +
	"and so do false positives of a segment's bloom filter. " +
	"Deletes that are not flushed yet are not included."

// storageCount returns the cell of a count over a segment's files. It is unknown if the metadata does not list
// them.
func storageCount(s *model.Segment, n int64) table.Cell {
	if s.Unsized() {
		return unknown()
	}
	return count(n)
}

// sizeOf returns the size of segments in storage. It is unknown if the size of one of the segments is
// unknown.
func sizeOf(t model.Totals) table.Cell {
	if t.Unsized > 0 {
		return unknown()
	}
	return count(t.Bytes)
}

// growingRecord returns the streaming node's own record of a growing segment.
func growingRecord(_ *Env, s *model.Segment) table.Cell {
	if s.Details == nil || s.Details.Growing == nil {
		return none()
	}
	g := s.Details.Growing
	list := []string{
		"state", g.State, "level", g.Level.String(), "bytes", strconv.FormatInt(g.Bytes, 10), "max_bytes",
		strconv.FormatInt(g.MaxBytes, 10), "binlogs", strconv.FormatInt(g.Flushes, 10),
	}
	for _, moment := range []struct {
		name string
		at   time.Time
	}{{"created_at", g.CreatedAt}, {"modified_at", g.ModifiedAt}, {"checkpoint_at", g.Checkpoint.Time()}} {
		if !moment.at.IsZero() {
			list = append(list, moment.name, moment.at.UTC().Format(time.RFC3339Nano))
		}
	}
	return table.Cell{List: list}
}
