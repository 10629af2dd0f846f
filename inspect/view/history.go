package view

import (
	"strconv"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var history = define(definition[*model.HistoryEntry]{
	Resource: Resource{
		Schema: table.Schema{
			Name:       "history",
			Singular:   "history-entry",
			Names:      []string{"name", "id"},
			Handle:     "key",
			Shorthands: map[string]string{"at": "written_at"},
		},
		Doc:   "Older values kept by RootCoord under snapshots/, including dropped objects.",
		Needs: model.PartHistory,
	},
	rows: func(e *Env) []*model.HistoryEntry { return e.Cluster.History },
	columns: []column[*model.HistoryEntry]{
		col(table.Column{Name: "kind", Doc: "Kind of the older value: collection, partition, field, alias, ..."},
			func(_ *Env, h *model.HistoryEntry) table.Cell { return text(h.Kind) }),
		col(table.Column{Name: "id", Kind: table.ID, Priority: 1, Doc: "Id of the object, none for a tombstone."},
			func(_ *Env, h *model.HistoryEntry) table.Cell { return idOrNone(model.NodeID(h.ID)) }),
		col(table.Column{Name: "name", Doc: "Name of the object, none for a tombstone."},
			func(_ *Env, h *model.HistoryEntry) table.Cell { return text(h.Name) }),
		col(table.Column{Name: "tombstone", Kind: table.Bool, Priority: 1, Doc: "The object was dropped at that time."},
			func(_ *Env, h *model.HistoryEntry) table.Cell { return yesNo(h.Tombstone) }),
		col(table.Column{Name: "written_at", Title: "WRITTEN", Kind: table.Time, Doc: "When the value was written."},
			func(_ *Env, h *model.HistoryEntry) table.Cell { return tso(h.At) }),
		col(table.Column{
			Name: "age_seconds", Kind: table.Duration, Show: table.Wide, Priority: 2, Doc: "Time since written_at.",
		},
			func(e *Env, h *model.HistoryEntry) table.Cell { return age(e, h.At.Time()) }),
		col(table.Column{Name: "of", Priority: 4, Doc: "Key whose value it was, below the metadata's prefix."},
			func(_ *Env, h *model.HistoryEntry) table.Cell { return text(h.OriginalKey) }),
		col(table.Column{Name: "key", Show: table.Hidden, Doc: "Key under snapshots/, below the metadata's prefix."},
			func(_ *Env, h *model.HistoryEntry) table.Cell { return text(h.Key) }),
	},
	ref: func(_ *Env, h *model.HistoryEntry) Ref { return Ref{ID: h.Key, Name: h.Name} },
	key: func(e *Env, h *model.HistoryEntry) string {
		return e.Cluster.Origin.Root + "/" + e.Cluster.Origin.MetaPath + "/" + h.Key
	},
})

var allocators = define(definition[*model.Allocator]{
	Resource: Resource{
		Schema: table.Schema{Name: "allocators", Names: []string{"name"}},
		Doc:    "Upper bounds of the windows of timestamps and ids that coordinators have reserved.",
		Needs:  model.PartRest,
	},
	rows: func(e *Env) []*model.Allocator { return e.Cluster.Allocators },
	columns: []column[*model.Allocator]{
		col(table.Column{Name: "name", Doc: "Name of the allocator: its key below kv/."},
			func(_ *Env, a *model.Allocator) table.Cell { return text(a.Name) }),
		col(table.Column{
			Name: "reserved_until", Kind: table.Time,
			Doc: "End of the window; a few seconds ahead of the clock is normal.",
		},
			func(_ *Env, a *model.Allocator) table.Cell { return timeCell(a.At) }),
		col(table.Column{
			Name: "ahead_seconds", Kind: table.Duration, Priority: 1,
			Doc: "How far reserved_until is ahead of the time of the state, negative if behind.",
		},
			reservedAhead),
	},
	ref: func(_ *Env, a *model.Allocator) Ref { return Ref{ID: a.Name, Name: a.Name} },
	key: func(_ *Env, a *model.Allocator) string { return a.Key },
})

func reservedAhead(e *Env, a *model.Allocator) table.Cell {
	if a.At.IsZero() {
		return none()
	}
	if e.Now.IsZero() {
		return unknown()
	}
	return table.Cell{Int: int64(a.At.Sub(e.Now))}
}

var partitionStats = define(definition[*model.PartitionStats]{
	Resource: Resource{
		Schema: table.Schema{Name: "partition-stats", Names: []string{"version"}, Shorthands: collectionShorthands()},
		Kind:   "PartitionStats",
		Doc:    "Which segments each clustering compaction of a partition produced (2.4 and later).",
		Needs:  model.PartObjects | model.PartTasks,
	},
	rows: func(e *Env) []*model.PartitionStats { return e.Cluster.PartitionStats },
	columns: concat(
		collectionColumns(func(p *model.PartitionStats) model.CollectionID { return p.Collection }),
		[]column[*model.PartitionStats]{
			col(table.Column{Name: "partition_id", Kind: table.ID, Show: table.Hidden, Doc: "Id of the partition."},
				func(_ *Env, p *model.PartitionStats) table.Cell { return id(p.Partition) }),
			col(table.Column{Name: "partition", Priority: 2, Doc: "Name of the partition, none if it is gone."},
				func(e *Env, p *model.PartitionStats) table.Cell { return text(e.Cluster.PartitionName(p.Partition)) }),
			col(table.Column{Name: "vchannel", Show: table.Wide, Priority: 4, Doc: "Virtual channel."},
				func(_ *Env, p *model.PartitionStats) table.Cell { return text(p.VChannel) }),
			col(table.Column{
				Name: "version", Kind: table.ID, Doc: "Version of the statistics: the id of the compaction's plan.",
			},
				func(_ *Env, p *model.PartitionStats) table.Cell { return id(model.NodeID(p.Version)) }),
			col(table.Column{Name: "current", Kind: table.Bool, Doc: "Queries use this version."},
				func(_ *Env, p *model.PartitionStats) table.Cell { return yesNo(p.Current) }),
			col(table.Column{Name: "segments", Kind: table.Int, Priority: 1, Doc: "Segments produced by it."},
				func(_ *Env, p *model.PartitionStats) table.Cell { return count(int64(len(p.Segments))) }),
			col(table.Column{Name: "segment_ids", Kind: table.List, Show: table.Hidden, Doc: "Their ids."},
				func(_ *Env, p *model.PartitionStats) table.Cell { return ids(p.Segments) }),
			col(table.Column{
				Name: "analyze_task", Rare: true, Kind: table.ID, Show: table.Hidden,
				Doc: "Id of the analyze task that found its clusters, if any.",
			},
				func(_ *Env, p *model.PartitionStats) table.Cell { return idOrNone(model.NodeID(p.AnalyzeTask)) }),
			col(table.Column{
				Name: "committed_at", Title: "COMMITTED", Kind: table.Time, Show: table.Wide, Priority: 3,
				Doc: "When it was committed.",
			},
				func(_ *Env, p *model.PartitionStats) table.Cell { return timeCell(p.CommittedAt) }),
		},
	),
	ref: func(_ *Env, p *model.PartitionStats) Ref {
		return Ref{
			ID: p.Collection.String() + "/" + p.Partition.String() + "/" + p.VChannel + "/" +
				strconv.FormatInt(p.Version, 10),
		}
	},
	owner: func(e *Env, p *model.PartitionStats) (Ref, bool) { return collectionRef(e, p.Collection) },
	key:   func(_ *Env, p *model.PartitionStats) string { return p.Key },
})
