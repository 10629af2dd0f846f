package view

import (
	"sync"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var indexes = define(definition[*indexRow]{
	Resource: Resource{
		Schema: table.Schema{
			Name:       "indexes",
			Singular:   "index",
			Names:      []string{"name", "id"},
			Handle:     "id",
			Shorthands: collectionShorthands("index", "name", "index_id", "id"),
		},
		Aliases: []string{"idx", "indices"},
		Doc: "Index definitions on fields. Lists leave out deleted ones, and those of dropped " +
			"collections, unless `--all` or a selector asks for them.",
		Omits: "deleted", OmitOverrides: []string{"state", "collection", "collection_id"},
		Needs: model.PartObjects | model.PartIndexes,
	},
	rows:    func(e *Env) []*indexRow { return indexRows(e.Cluster.Indexes) },
	omitted: func(e *Env, x *indexRow) bool { return x.Deleted || !collectionExists(e, x.Collection) },
	columns: concat(
		[]column[*indexRow]{
			col(table.Column{Name: "id", Kind: table.ID, Priority: 4, Doc: "Index id."},
				func(_ *Env, x *indexRow) table.Cell { return id(x.ID) }),
			col(table.Column{Name: "name", Doc: "Name of the index."}, func(_ *Env, x *indexRow) table.Cell {
				return text(x.Name)
			}),
		},
		collectionColumns(func(x *indexRow) model.CollectionID { return x.Collection }),
		indexDefinition, indexProgress, indexMore,
	),
	ref:   func(_ *Env, x *indexRow) Ref { return Ref{ID: x.ID.String(), Name: x.Name} },
	owner: func(e *Env, x *indexRow) (Ref, bool) { return collectionRef(e, x.Collection) },
	links: func(_ *Env, x *indexRow) []Link {
		return []Link{
			link("segments", "segment-indexes", "index_id="+x.ID.String()),
			link("field", "fields", "collection_id="+x.Collection.String(), "id="+x.Field.String()),
		}
	},
	sections: func(s *scope, x *indexRow) []Section {
		return []Section{sectionOf(s, "segments by index state", indexStateTable, indexStateRows(s.Env, x))}
	},
	key: func(_ *Env, x *indexRow) string { return x.Key },
})

var indexDefinition = []column[*indexRow]{
	col(table.Column{Name: "field_id", Kind: table.ID, Show: table.Hidden, Doc: "Id of the field."},
		func(_ *Env, x *indexRow) table.Cell { return id(x.Field) }),
	col(table.Column{Name: "field", Priority: 1, Doc: "Name of the field, none if it is gone."},
		func(e *Env, x *indexRow) table.Cell { return text(fieldName(e, x.Collection, x.Field)) }),
	col(table.Column{
		Name: "type", Doc: "HNSW, IVF_FLAT, AUTOINDEX, INVERTED, ...; none if not recorded.", Vocabulary: true,
	},
		func(_ *Env, x *indexRow) table.Cell { return text(x.Type) }),
	col(table.Column{Name: "metric", Priority: 2, Doc: "L2, IP, COSINE, ...; none on scalar fields.", Vocabulary: true},
		func(_ *Env, x *indexRow) table.Cell { return text(x.Metric) }),
	col(table.Column{
		Name: "params", Kind: table.Pairs, Priority: 4,
		Doc: "Parameters without type and metric: M, efConstruction, nlist, ...",
	},
		func(_ *Env, x *indexRow) table.Cell { return pairs(x.Params) }),
	col(table.Column{
		Name: "state", Kind: table.State, Priority: 1,
		Doc: "Finished, InProgress, ...: the worst state over its segments; Deleted if the definition is; none if no " +
			"segment needs it.",
	},
		func(e *Env, x *indexRow) table.Cell { return text(indexProgressOf(e, x).state(x)) }).
		withNeeds(model.PartSegments | model.PartSegmentIndexes),
}

var indexProgress = []column[*indexRow]{
	col(table.Column{
		Name: "indexed_percent", Kind: table.Percent, Priority: 2,
		Doc: "Share of the rows needing the index that have it; none if no row needs it.",
	},
		func(e *Env, x *indexRow) table.Cell {
			p := indexProgressOf(e, x)
			return percent(p.rows[model.IndexFinished], p.wanted)
		}).withNeeds(model.PartSegments | model.PartSegmentIndexes),
	col(table.Column{
		Name: "indexed_rows", Kind: table.Int, Show: table.Wide, Priority: 5,
		Doc: "Rows of the segments on which the index is finished.",
	},
		func(e *Env, x *indexRow) table.Cell {
			return count(indexProgressOf(e, x).rows[model.IndexFinished])
		}).withNeeds(model.PartSegments | model.PartSegmentIndexes),
	col(table.Column{
		Name: "pending_rows", Kind: table.Int, Show: table.Wide, Priority: 5,
		Doc: "Rows of the segments that need the index and whose build is not finished.",
	},
		func(e *Env, x *indexRow) table.Cell {
			p := indexProgressOf(e, x)
			return count(p.wanted - p.rows[model.IndexFinished])
		}).withNeeds(model.PartSegments | model.PartSegmentIndexes),
	col(table.Column{
		Name: "size_bytes", Kind: table.Bytes, Show: table.Wide, Priority: 5,
		Doc: "Bytes of its files on healthy segments, where Milvus records them.",
	},
		func(e *Env, x *indexRow) table.Cell { return countOrNone(indexProgressOf(e, x).bytes) }).
		withNeeds(model.PartSegments | model.PartSegmentIndexes),
}

var indexMore = []column[*indexRow]{
	col(table.Column{
		Name: "deleted", Kind: table.Bool, Show: table.Hidden,
		Doc: "The definition is marked deleted, kept until garbage collection.",
	},
		func(_ *Env, x *indexRow) table.Cell { return yesNo(x.Deleted) }),
	col(table.Column{
		Name: "auto", Kind: table.Bool, Show: table.Hidden, Doc: "Milvus chose type and parameters (AUTOINDEX).",
	},
		func(_ *Env, x *indexRow) table.Cell { return yesNo(x.Auto) }),
	col(table.Column{
		Name: "type_params", Kind: table.Pairs, Show: table.Hidden,
		Doc: "Type parameters of the field when the index was created.",
	},
		func(_ *Env, x *indexRow) table.Cell { return pairs(x.TypeParams) }),
	col(table.Column{Name: "user_params", Kind: table.Pairs, Show: table.Hidden, Doc: "Parameters given by the user."},
		func(_ *Env, x *indexRow) table.Cell { return pairs(x.UserParams) }),
	col(table.Column{
		Name: "min_version", Kind: table.Int, Show: table.Hidden,
		Doc: "Lowest index engine version allowed, where recorded.",
	},
		func(_ *Env, x *indexRow) table.Cell { return countOrNone(x.MinVersion) }),
	col(table.Column{
		Name: "max_version", Kind: table.Int, Show: table.Hidden,
		Doc: "Highest index engine version allowed, where recorded.",
	},
		func(_ *Env, x *indexRow) table.Cell { return countOrNone(x.MaxVersion) }),
	col(table.Column{
		Name: "min_schema_version", Rare: true, Kind: table.Int, Show: table.Hidden,
		Doc: "First schema version with the field (3.0): older segments are indexed after they are rewritten.",
	},
		func(_ *Env, x *indexRow) table.Cell { return countOrNone(x.MinSchemaVersion) }),
	col(table.Column{Name: "layout", Show: table.Hidden, Doc: "Layout of the record: 2.1 or 2.2."},
		func(_ *Env, x *indexRow) table.Cell { return text(x.Layout) }),
	col(table.Column{
		Name: "created_at", Title: "CREATED", Kind: table.Time, Show: table.Wide, Priority: 6,
		Doc: "When it was created, where recorded.",
	},
		func(_ *Env, x *indexRow) table.Cell { return timeCell(x.CreatedAt) }),
}

// indexRow is an index definition with its progress. The progress is computed once, on first use, because a
// table reads it for several columns.
type indexRow struct {
	*model.Index
	once     sync.Once
	progress progress
}

func indexRows(list []*model.Index) []*indexRow {
	rows := make([]*indexRow, len(list))
	for i, x := range list {
		rows[i] = &indexRow{Index: x}
	}
	return rows
}

// progress is the progress of one index over the segments of its collection.
type progress struct {
	segments [indexStateCount]int64
	rows     [indexStateCount]int64
	wanted   int64 // rows of segments that want the index
	bytes    int64
}

// indexStateCount is the number of index states that are counted separately.
const indexStateCount = int(model.IndexUnknown) + 1

// indexProgressOf returns the progress of an index. It computes it on the first call.
func indexProgressOf(e *Env, x *indexRow) *progress {
	x.once.Do(func() {
		for _, s := range e.Cluster.SegmentsOf(x.Collection) {
			x.progress.add(e, x.Index, s)
		}
	})
	return &x.progress
}

func (p *progress) add(e *Env, x *model.Index, s *model.Segment) {
	if !s.State.Healthy() {
		return
	}
	state := model.IndexMissing
	for i := range s.Indexes {
		if s.Indexes[i].Index == x.ID && !s.Indexes[i].Deleted {
			state = s.Indexes[i].State
			p.bytes += s.Indexes[i].Bytes
		}
	}
	if !e.Cluster.WantsIndex(s) {
		return
	}
	if int(state) >= indexStateCount { // a state of a newer Milvus
		state = model.IndexUnknown
	}
	p.segments[state]++
	p.rows[state] += s.Rows
	p.wanted += s.Rows
}

// indexStateOrder lists the states from worst to best.
var indexStateOrder = []model.IndexState{
	model.IndexFailed, model.IndexUnknown, model.IndexMissing, model.IndexRetry, model.IndexStateNone,
	model.IndexUnissued, model.IndexInProgress, model.IndexFinished,
}

func (p *progress) state(x *indexRow) string {
	if x.Deleted {
		return "Deleted"
	}
	for _, s := range indexStateOrder {
		if p.segments[s] > 0 {
			return s.String()
		}
	}
	return ""
}

// indexStateTable is shown only in the description of an index.
var indexStateTable = define(definition[stateRow]{
	Resource: Resource{
		Schema: table.Schema{Name: "index-states", Handle: "state"},
		Doc:    "Segments that need an index, counted by its state.",
		Needs:  model.PartSegments | model.PartSegmentIndexes,
	},
	columns: []column[stateRow]{
		col(table.Column{Name: "state", Kind: table.State, Doc: "State of the index on the segments."},
			func(_ *Env, r stateRow) table.Cell { return text(r.state) }),
		col(table.Column{
			Name: "segments", Kind: table.Int,
			Doc: "Number of segments.",
		},
			func(_ *Env, r stateRow) table.Cell { return count(r.segments) }),
		col(table.Column{Name: "rows", Kind: table.Int, Doc: "Their rows as recorded."},
			func(_ *Env, r stateRow) table.Cell { return count(r.rows) }),
	},
	ref: func(_ *Env, r stateRow) Ref { return Ref{ID: r.state} },
})

func indexStateRows(e *Env, x *indexRow) []stateRow {
	p := indexProgressOf(e, x)
	var rows []stateRow
	for _, s := range indexStateOrder {
		if n := p.segments[s]; n > 0 {
			rows = append(rows, stateRow{s.String(), n, p.rows[s]})
		}
	}
	return rows
}
