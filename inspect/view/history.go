package view

import (
	"strconv"

	"kitescope/inspect/model"
)

var history = define(definition[*model.HistoryEntry]{
	Resource: Resource{
		Schema: Schema{
			Name:       "history",
			Singular:   "history-entry",
			Names:      []string{"name", "id"},
			Handle:     "key",
			Shorthands: map[string]string{"at": "written_at", "age": "age_seconds"},
		},
		Doc:   "Older values that RootCoord keeps under snapshots/: how something that was dropped can still be found.",
		Needs: model.PartHistory,
	},
	rows: func(e *Env) []*model.HistoryEntry { return e.Cluster.History },
	columns: []column[*model.HistoryEntry]{
		col(Column{Name: "kind", Doc: "What the older value is: collection, partition, field, alias, ..."},
			func(_ *Env, h *model.HistoryEntry) Cell { return text(h.Kind) }),
		col(Column{Name: "id", Kind: ID, Priority: 1, Doc: "Id of the object, none for a tombstone."},
			func(_ *Env, h *model.HistoryEntry) Cell { return someID(model.NodeID(h.ID)) }),
		col(Column{Name: "name", Doc: "Name of the object, none for a tombstone."}, func(_ *Env, h *model.HistoryEntry) Cell { return text(h.Name) }),
		col(Column{Name: "tombstone", Kind: Bool, Priority: 1, Doc: "The object was dropped at that time."},
			func(_ *Env, h *model.HistoryEntry) Cell { return yesNo(h.Tombstone) }),
		col(Column{Name: "written_at", Title: "WRITTEN", Kind: Time, Doc: "When the value was written."},
			func(_ *Env, h *model.HistoryEntry) Cell { return tso(h.At) }),
		col(Column{Name: "age_seconds", Kind: Duration, Show: Wide, Priority: 2, Doc: "Time since written_at."},
			func(e *Env, h *model.HistoryEntry) Cell { return age(e, h.At.Time()) }),
		col(Column{Name: "of", Priority: 4, Doc: "Key whose value it was, below the metadata's prefix."},
			func(_ *Env, h *model.HistoryEntry) Cell { return text(h.Of) }),
		col(Column{Name: "key", Show: Hidden, Doc: "Key under snapshots/, below the metadata's prefix."},
			func(_ *Env, h *model.HistoryEntry) Cell { return text(h.Key) }),
	},
	ref: func(_ *Env, h *model.HistoryEntry) Ref { return Ref{ID: h.Key, Name: h.Name} },
	key: func(e *Env, h *model.HistoryEntry) string {
		return e.Cluster.Origin.Root + "/" + e.Cluster.Origin.MetaPath + "/" + h.Key
	},
})

var allocators = define(definition[*model.Allocator]{
	Resource: Resource{
		Schema: Schema{Name: "allocators", Names: []string{"name"}},
		Doc:    "Upper bounds of the windows of timestamps and ids that coordinators have reserved.",
		Needs:  model.PartRest,
	},
	rows: func(e *Env) []*model.Allocator { return e.Cluster.Allocators },
	columns: []column[*model.Allocator]{
		col(Column{Name: "name", Doc: "Name of the allocator: its key below kv/."}, func(_ *Env, a *model.Allocator) Cell { return text(a.Name) }),
		col(Column{Name: "reserved_until", Kind: Time, Doc: "End of the window; a few seconds ahead of the clock is normal."},
			func(_ *Env, a *model.Allocator) Cell { return at(a.At) }),
		col(Column{Name: "ahead_seconds", Kind: Duration, Priority: 1, Doc: "How far reserved_until is ahead of the time of the state, negative if behind."},
			ahead),
	},
	ref: func(_ *Env, a *model.Allocator) Ref { return Ref{ID: a.Name, Name: a.Name} },
	key: func(_ *Env, a *model.Allocator) string { return a.Key },
})

func ahead(e *Env, a *model.Allocator) Cell {
	if a.At.IsZero() {
		return none()
	}
	if e.Now.IsZero() {
		return unknown()
	}
	return Cell{Int: int64(a.At.Sub(e.Now))}
}

var partitionStats = define(definition[*model.PartitionStats]{
	Resource: Resource{
		Schema: Schema{Name: "partition-stats", Names: []string{"version"}, Shorthands: collectionShorthands()},
		Kind:   "PartitionStats",
		Doc:    "Which segments each clustering compaction of a partition produced (2.4 and later).",
		Needs:  model.PartObjects | model.PartTasks,
	},
	rows: func(e *Env) []*model.PartitionStats { return e.Cluster.PartitionStats },
	columns: concat(
		collectionColumns(func(p *model.PartitionStats) model.CollectionID { return p.Collection }),
		[]column[*model.PartitionStats]{
			col(Column{Name: "partition_id", Kind: ID, Show: Hidden, Doc: "Id of the partition."},
				func(_ *Env, p *model.PartitionStats) Cell { return id(p.Partition) }),
			col(Column{Name: "partition", Priority: 2, Doc: "Name of the partition, none if it is gone."},
				func(e *Env, p *model.PartitionStats) Cell { return text(e.Cluster.PartitionName(p.Partition)) }),
			col(Column{Name: "vchannel", Show: Wide, Priority: 4, Doc: "Virtual channel."},
				func(_ *Env, p *model.PartitionStats) Cell { return text(p.VChannel) }),
			col(Column{Name: "version", Kind: ID, Doc: "Version of the statistics: the id of the compaction's plan."},
				func(_ *Env, p *model.PartitionStats) Cell { return id(model.NodeID(p.Version)) }),
			col(Column{Name: "current", Kind: Bool, Doc: "Queries use this version."}, func(_ *Env, p *model.PartitionStats) Cell { return yesNo(p.Current) }),
			col(Column{Name: "segments", Kind: Int, Priority: 1, Doc: "Segments that were produced."},
				func(_ *Env, p *model.PartitionStats) Cell { return count(int64(len(p.Segments))) }),
			col(Column{Name: "segment_ids", Kind: List, Show: Hidden, Doc: "Their ids."},
				func(_ *Env, p *model.PartitionStats) Cell { return ids(p.Segments) }),
			col(Column{Name: "committed_at", Title: "COMMITTED", Kind: Time, Show: Wide, Priority: 3, Doc: "When it was committed."},
				func(_ *Env, p *model.PartitionStats) Cell { return at(p.CommittedAt) }),
		},
	),
	ref: func(_ *Env, p *model.PartitionStats) Ref {
		return Ref{ID: p.Collection.String() + "/" + p.Partition.String() + "/" + p.VChannel + "/" + strconv.FormatInt(p.Version, 10)}
	},
	owner: func(e *Env, p *model.PartitionStats) (Ref, bool) { return collectionRef(e, p.Collection) },
	key:   func(_ *Env, p *model.PartitionStats) string { return p.Key },
})
