package view

import (
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var partitions = define(definition[*model.Partition]{
	Resource: Resource{
		Schema: table.Schema{
			Name:       "partitions",
			Names:      []string{"name", "id"},
			Handle:     "id",
			Shorthands: collectionShorthands("partition", "name", "partition_id", "id", "part", "name"),
		},
		Aliases: []string{"part", "parts"},
		Doc: "Partitions of collections. Lists leave out dropped ones, and those of dropped collections, " +
			"unless `--all` or a selector asks for them.",
		Omits: "dropped", OmitOverrides: []string{"state", "collection", "collection_id"},
		Needs: model.PartObjects,
	},
	rows:    func(e *Env) []*model.Partition { return e.Cluster.Partitions },
	omitted: func(e *Env, p *model.Partition) bool { return p.State.Dropped() || !collectionExists(e, p.Collection) },
	columns: concat(
		[]column[*model.Partition]{
			col(table.Column{Name: "id", Kind: table.ID, Priority: 3, Doc: "Partition id."},
				func(_ *Env, p *model.Partition) table.Cell { return id(p.ID) }),
			col(table.Column{Name: "name", Doc: "Name of the partition."}, func(_ *Env, p *model.Partition) table.Cell {
				return text(p.Name)
			}),
		},
		collectionColumns(func(p *model.Partition) model.CollectionID { return p.Collection }),
		partitionContent,
	),
	ref:   func(_ *Env, p *model.Partition) Ref { return Ref{ID: p.ID.String(), Name: p.Name} },
	owner: func(e *Env, p *model.Partition) (Ref, bool) { return collectionRef(e, p.Collection) },
	links: func(_ *Env, p *model.Partition) []Link {
		return []Link{link("segments", "segments", "partition_id="+p.ID.String())}
	},
	sections: func(s *scope, p *model.Partition) []Section {
		return []Section{sectionOf(s, "segments by state", segmentStates, stateRows(s.Cluster.PartitionTotals(p.ID)))}
	},
})

var partitionContent = []column[*model.Partition]{
	col(table.Column{
		Name: "state", Kind: table.State, Show: table.Wide, Priority: 5,
		Doc: "Created, Creating, Dropping or Dropped; none before 2.2.",
	},
		func(_ *Env, p *model.Partition) table.Cell { return text(string(p.State)) }),
	col(table.Column{Name: "rows", Kind: table.Int, Doc: "Rows of its healthy segments as recorded, L0 excluded."},
		func(e *Env, p *model.Partition) table.Cell { return count(e.Cluster.PartitionTotals(p.ID).Rows) }).
		withNeeds(model.PartSegments),
	col(table.Column{
		Name: "segments", Kind: table.Int, Priority: 2, Doc: "Healthy segments: dropped ones not counted.",
	}, func(e *Env, p *model.Partition) table.Cell {
		return count(int64(e.Cluster.PartitionTotals(p.ID).Segments))
	}).withNeeds(model.PartSegments),
	col(table.Column{
		Name: "size_bytes", Kind: table.Bytes, Show: table.Wide, Priority: 4,
		Doc: "Bytes of its healthy segments' logs in storage.",
	},
		func(e *Env, p *model.Partition) table.Cell { return sizeOf(e.Cluster.PartitionTotals(p.ID)) }).
		withNeeds(model.PartSegments | model.PartLogs),
	col(table.Column{
		Name: "load_state", Title: "LOAD", Kind: table.State, Priority: 2,
		Doc: "Loaded, Loading or NotLoad, from QueryCoord's metadata.",
	},
		func(e *Env, p *model.Partition) table.Cell {
			return text(e.Cluster.LoadState(p.Collection).PartitionStatus(p.ID))
		}).withNeeds(model.PartServing),
	col(table.Column{
		Name: "created_at", Title: "CREATED", Kind: table.Time, Show: table.Wide, Priority: 6,
		Doc: "When it was created.",
	},
		func(_ *Env, p *model.Partition) table.Cell { return tso(p.CreatedAt) }),
}
