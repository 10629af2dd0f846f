package view

import "kitescope/inspect/model"

var segments = define(definition[*model.Segment]{
	Resource: Resource{
		Name: "segments", Singular: "segment", Aliases: []string{"seg", "segs"}, Kind: "Segment",
		Doc:        "Segments as DataCoord's metadata has them, dropped ones included.",
		Needs:      model.PartCatalog | model.PartSegments,
		Names:      []string{"id"},
		Shorthands: map[string]string{"coll": "collection", "part": "partition", "ch": "vchannel", "size": "size_bytes", "deleted": "deleted_rows"},
	},
	rows: func(e *Env) []*model.Segment { return e.Cluster.Segments },
	columns: []column[*model.Segment]{
		{Column{Name: "id", Title: "ID", Kind: ID, Doc: "Segment id."},
			func(_ *Env, s *model.Segment) Cell { return id(s.ID) }},
		{Column{Name: "collection_id", Title: "COLLECTION ID", Kind: ID, Show: Wide, Doc: "Id of the collection; it may be gone."},
			func(_ *Env, s *model.Segment) Cell { return id(s.Collection) }},
		{Column{Name: "collection", Title: "COLLECTION", Priority: 1, Doc: "Name of the collection, none if it is gone."},
			func(e *Env, s *model.Segment) Cell { return text(e.Cluster.CollectionName(s.Collection)) }},
		{Column{Name: "state", Title: "STATE", Kind: State, Doc: "Growing, Sealed, Flushing, Flushed, Dropped or Importing."},
			func(_ *Env, s *model.Segment) Cell { return text(s.State.String()) }},
		{Column{Name: "rows", Title: "ROWS", Kind: Int, Doc: "Rows as recorded: 0 on a growing segment until its first sync."},
			func(_ *Env, s *model.Segment) Cell { return count(s.Rows) }},
		{Column{Name: "size_bytes", Title: "SIZE", Kind: Bytes, Priority: 3, Needs: model.PartLogs, Doc: "Bytes of all logs in storage, index files not included."},
			func(_ *Env, s *model.Segment) Cell { return count(s.Bytes) }},
	},
	ref: func(_ *Env, s *model.Segment) Ref { return Ref{ID: s.ID.String()} },
	owner: func(e *Env, s *model.Segment) (Ref, bool) {
		return Ref{Resource: "collections", ID: s.Collection.String(), Name: e.Cluster.CollectionName(s.Collection)}, true
	},
	links: func(_ *Env, s *model.Segment) []Link {
		return []Link{{Title: "index files", Resource: "segment-indexes", Where: []string{"segment_id=" + s.ID.String()}}}
	},
})

// Resources is everything that can be listed, in the order of help and palette.
var Resources = []*Resource{segments}
