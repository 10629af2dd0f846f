package view

import (
	"strconv"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var snapshots = define(definition[*model.Snapshot]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "snapshots", Names: []string{"name", "id"}, Handle: "id",
			Shorthands: collectionShorthands("snapshot", "name"),
		},
		Doc:   "Snapshots that users made of collections (3.0), from DataCoord's metadata.",
		Needs: model.PartObjects | model.PartTasks,
	},
	rows: func(e *Env) []*model.Snapshot { return e.Cluster.Snapshots },
	columns: concat(
		[]column[*model.Snapshot]{
			col(table.Column{Name: "id", Kind: table.ID, Priority: 3, Doc: "Snapshot id."},
				func(_ *Env, s *model.Snapshot) table.Cell { return table.Cell{Int: s.ID} }),
			col(table.Column{Name: "name", Doc: "Name of the snapshot, unique in its collection."},
				func(_ *Env, s *model.Snapshot) table.Cell { return text(s.Name) }),
		},
		collectionColumns(func(s *model.Snapshot) model.CollectionID { return s.Collection }),
		snapshotContent,
	),
	ref:   func(_ *Env, s *model.Snapshot) Ref { return Ref{ID: strconv.FormatInt(s.ID, 10), Name: s.Name} },
	owner: func(e *Env, s *model.Snapshot) (Ref, bool) { return collectionRef(e, s.Collection) },
	links: func(_ *Env, s *model.Snapshot) []Link {
		return []Link{
			link("jobs", "tasks", "type=copy-segment-job,export-snapshot-job", "collection_id="+s.Collection.String(),
				"snapshot="+s.Name),
		}
	},
})

var snapshotContent = []column[*model.Snapshot]{
	col(table.Column{Name: "state", Kind: table.State, Doc: "Pending, Committed or Deleting."},
		func(_ *Env, s *model.Snapshot) table.Cell { return text(s.State) }),
	col(table.Column{Name: "partition_ids", Kind: table.List, Show: table.Hidden, Doc: "Ids of the partitions in it."},
		func(_ *Env, s *model.Snapshot) table.Cell { return ids(s.Partitions) }),
	col(table.Column{
		Name: "pins", Kind: table.Int, Priority: 2,
		Doc: "Number of readers that use its data: it cannot be dropped meanwhile.",
	},
		func(_ *Env, s *model.Snapshot) table.Cell { return count(int64(s.Pins)) }),
	col(table.Column{
		Name: "protected_until", Title: "PROTECTED", Kind: table.Time, Priority: 4,
		Doc: "Time until which its segments are not compacted, none if they may be.",
	},
		func(_ *Env, s *model.Snapshot) table.Cell { return timeCell(s.ProtectedUntil) }),
	col(table.Column{
		Name: "pinned_until", Rare: true, Title: "PINNED", Kind: table.Time, Show: table.Hidden,
		Doc: "When the last of its pins expires, if any does.",
	},
		func(_ *Env, s *model.Snapshot) table.Cell { return timeCell(s.PinnedUntil) }),
	col(table.Column{
		Name: "pending_since", Rare: true, Title: "PENDING", Kind: table.Time, Show: table.Hidden,
		Doc: "When it was started.",
	},
		func(_ *Env, s *model.Snapshot) table.Cell { return timeCell(s.PendingSince) }),
	col(table.Column{
		Name: "created_at", Title: "CREATED", Kind: table.Time, Priority: 3,
		Doc: "The earliest of the positions of its vchannels.",
	},
		func(_ *Env, s *model.Snapshot) table.Cell { return timeCell(s.CreatedAt) }),
	col(table.Column{
		Name: "location", Show: table.Wide, Priority: 5,
		Doc: "Where it was exported to in object storage, if it was.",
	},
		func(_ *Env, s *model.Snapshot) table.Cell { return text(s.Location) }),
	col(table.Column{
		Name: "description", Show: table.Hidden,
		Doc: "Description as given by its creator.",
	},
		func(_ *Env, s *model.Snapshot) table.Cell { return text(s.Description) }),
}
