package view

import (
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var collections = define(definition[*model.Collection]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "collections", Singular: "collection", Slashes: true,
			Names:  []string{"name", "id", "aliases", "full_name"},
			Handle: "full_name",
			Shorthands: map[string]string{
				"coll": "name", "collection": "name", "collection_id": "id", "db": "database", "alias": "aliases",
			},
		},
		Aliases: []string{"coll", "colls", "c"},
		Doc: "Collections with their rows, shards and load state. Lists leave out those that are " +
			"dropped, or being dropped, unless `--all` or a selector asks for them.",
		Omits: "dropped", OmitOverrides: []string{"state"},
		Needs:     model.PartObjects,
		Describes: TreeNeeds, // a description also has partitions, indexes, ...
	},
	rows:     func(e *Env) []*model.Collection { return e.Cluster.Collections },
	omitted:  func(_ *Env, c *model.Collection) bool { return c.Dropped() },
	columns:  concat(collectionIdentity, collectionData, collectionServing, collectionSchema),
	ref:      func(_ *Env, c *model.Collection) Ref { return Ref{ID: c.ID.String(), Name: c.Name} },
	owner:    collectionOwner,
	links:    collectionLinks,
	sections: collectionSections,
	key:      func(_ *Env, c *model.Collection) string { return c.Key },
})

var collectionIdentity = []column[*model.Collection]{
	col(table.Column{Name: "id", Kind: table.ID, Priority: 4, Doc: "Collection id."},
		func(_ *Env, c *model.Collection) table.Cell { return id(c.ID) }),
	col(table.Column{Name: "name", IDColumn: "id", Doc: "Name of the collection."},
		func(_ *Env, c *model.Collection) table.Cell { return text(c.Name) }),
	col(table.Column{
		Name: "full_name", Show: table.Hidden, IDColumn: "id",
		Doc: "database.name, without the database if that is default.",
	},
		func(e *Env, c *model.Collection) table.Cell { return text(qualifiedName(e, c)) }),
	col(table.Column{
		Name: "database_id", Kind: table.ID, Show: table.Hidden, Doc: "Id of the database, 0 before 2.2.9.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return id(c.Database) }),
	col(table.Column{Name: "database", Priority: 3, Doc: "Name of the database."},
		func(e *Env, c *model.Collection) table.Cell { return text(e.Cluster.DatabaseName(c.Database)) }),
	col(table.Column{
		Name: "state", Kind: table.State, Priority: 6, Doc: "Created, Creating, Dropping or Dropped; none before 2.2.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return text(string(c.State)) }),
}

var collectionData = []column[*model.Collection]{
	col(table.Column{
		Name: "rows", Kind: table.Int,
		Doc: "Rows of its healthy segments as recorded, L0 excluded, deletes not subtracted.",
	},
		totalsOf(func(t model.Totals) table.Cell { return count(t.Rows) })).withNeeds(model.PartSegments),
	col(table.Column{
		Name: "growing_rows", Title: "GROWING", Kind: table.Int, Show: table.Wide, Priority: 5,
		Doc: "Rows of growing segments as recorded.",
	},
		totalsOf(func(t model.Totals) table.Cell { return count(t.RowsByState[model.SegmentGrowing]) })).
		withNeeds(model.PartSegments),
	col(table.Column{
		Name: "deleted_rows", Title: "DELETES", Kind: table.Int, Show: table.Wide, Priority: 5, Doc: deletesDoc,
	},
		totalsOf(func(t model.Totals) table.Cell { return count(t.DeletedRows) })).
		withNeeds(model.PartSegments | model.PartLogs),
	col(table.Column{
		Name: "size_bytes", Kind: table.Bytes, Show: table.Wide, Priority: 4,
		Doc: "Bytes of its healthy segments' logs in storage, index files not included.",
	},
		totalsOf(sizeOf)).withNeeds(model.PartSegments | model.PartLogs),
	col(table.Column{
		Name: "stored_bytes", Title: "STORED", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Bytes of its binlogs in storage as DataCoord counts them for its disk quota: of segments that it " +
			"considers healthy.",
	},
		func(e *Env, c *model.Collection) table.Cell {
			if bytes, ok := e.Cluster.Runtime.Stored(c.ID); ok {
				return count(bytes)
			}
			return unknown()
		}).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "index_bytes", Title: "INDEX SIZE", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Bytes of finished index files, where Milvus records them.",
	},
		totalsOf(func(t model.Totals) table.Cell { return countOrNone(t.IndexBytes) })).
		withNeeds(model.PartIndexes | model.PartSegments | model.PartSegmentIndexes),
	col(table.Column{Name: "shards", Kind: table.Int, Priority: 2, Doc: "Shards, each with its own vchannel."},
		func(_ *Env, c *model.Collection) table.Cell { return count(int64(c.Shards)) }),
	col(table.Column{Name: "partitions", Kind: table.Int, Priority: 3, Doc: "Partitions, dropped ones not counted."},
		func(e *Env, c *model.Collection) table.Cell { return count(int64(len(livePartitions(e, c.ID)))) }),
	col(table.Column{
		Name: "segments", Kind: table.Int, Priority: 2, Doc: "Healthy segments: dropped ones not counted.",
	},
		totalsOf(func(t model.Totals) table.Cell { return count(int64(t.Segments)) })).withNeeds(model.PartSegments),
	col(table.Column{
		Name: "indexes", Kind: table.Int, Show: table.Wide, Priority: 5,
		Doc: "Index definitions, deleted ones not counted.",
	},
		func(e *Env, c *model.Collection) table.Cell { return count(int64(len(liveIndexes(e, c.ID)))) }).
		withNeeds(model.PartIndexes),
	col(table.Column{
		Name: "indexed_percent", Kind: table.Percent, Show: table.Wide, Priority: 4,
		Doc: "Share of the rows that need indexes and have all finished; none if no row needs one.",
	},
		totalsOf(func(t model.Totals) table.Cell { return percent(t.IndexedRows, t.NeedIndexRows) })).
		withNeeds(model.PartSegments | model.PartSegmentIndexes),
}

var collectionServing = []column[*model.Collection]{
	col(table.Column{
		Name: "load_state", Title: "LOAD", Kind: table.State, Priority: 1,
		Doc: "Loaded, Loading or NotLoad, from QueryCoord's metadata.",
	},
		func(e *Env, c *model.Collection) table.Cell { return text(loadState(e, c.ID)) }).withNeeds(model.PartServing),
	col(table.Column{
		Name: "load_percent", Title: "LOADED", Kind: table.Percent, Show: table.Hidden,
		Doc: "Loaded share, from QueryCoord if queried, otherwise as recorded: 2.2 and later do not record it.",
	},
		func(e *Env, c *model.Collection) table.Cell { return loadPercent(e, e.Cluster.LoadState(c.ID)) }),
	col(table.Column{Name: "replicas", Kind: table.Int, Show: table.Wide, Priority: 6, Doc: "Existing replicas."},
		func(e *Env, c *model.Collection) table.Cell { return count(int64(len(e.Cluster.ReplicasOf(c.ID)))) }).
		withNeeds(model.PartServing),
	col(table.Column{Name: "aliases", Kind: table.List, Priority: 5, Doc: "Other names of the collection."},
		func(e *Env, c *model.Collection) table.Cell { return list(aliasNames(e, c.ID)) }),
}

var collectionSchema = []column[*model.Collection]{
	col(table.Column{
		Name: "consistency_level", Title: "CONSISTENCY", Show: table.Hidden,
		Doc: "Default consistency level of searches.", Vocabulary: true,
	},
		func(_ *Env, c *model.Collection) table.Cell { return text(c.ConsistencyLevel) }),
	col(table.Column{
		Name: "fields", Kind: table.Int, Show: table.Hidden, Doc: "Fields of the schema, Milvus's own not counted.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return count(int64(len(userFields(c)))) }),
	col(table.Column{Name: "auto_id", Kind: table.Bool, Show: table.Hidden, Doc: "Milvus generates the primary keys."},
		func(_ *Env, c *model.Collection) table.Cell { return yesNo(c.AutoID) }),
	col(table.Column{
		Name: "dynamic_field", Title: "DYNAMIC", Kind: table.Bool, Show: table.Hidden,
		Doc: "Rows may have fields that are not in the schema.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return yesNo(c.DynamicField) }),
	col(table.Column{Name: "vchannels", Kind: table.List, Show: table.Hidden, Doc: "Virtual channels, one per shard."},
		func(_ *Env, c *model.Collection) table.Cell { return list(c.VChannels) }),
	col(table.Column{Name: "properties", Kind: table.Pairs, Show: table.Hidden, Doc: "Properties as set by users."},
		func(_ *Env, c *model.Collection) table.Cell { return pairs(c.Properties) }),
	col(table.Column{Name: "description", Show: table.Hidden, Doc: "Description as given by its creator."},
		func(_ *Env, c *model.Collection) table.Cell { return text(c.Description) }),
	col(table.Column{
		Name: "schema_version", Rare: true, Title: "SCHEMA", Kind: table.Int, Show: table.Hidden,
		Doc: "Number of changes to its schema; none if never, or not recorded.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return countOrNone(c.SchemaVersion) }),
	col(table.Column{
		Name: "namespaces", Rare: true, Kind: table.Bool, Show: table.Hidden,
		Doc: "Its rows belong to namespaces (3.0).",
	},
		func(_ *Env, c *model.Collection) table.Cell { return yesNo(c.Namespace) }),
	col(table.Column{
		Name: "external_source", Rare: true, Title: "SOURCE", Show: table.Hidden,
		Doc: "Where the rows of an external collection come from (3.0), secrets redacted.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return text(c.ExternalSource) }),
	col(table.Column{
		Name: "file_resources", Rare: true, Kind: table.List, Show: table.Hidden,
		Doc: "Ids of the files that its analyzers use (3.0).",
	},
		func(_ *Env, c *model.Collection) table.Cell { return ids(c.FileResources) }),
	col(table.Column{
		Name: "updated_at", Rare: true, Title: "UPDATED", Kind: table.Time, Show: table.Hidden,
		Doc: "When its record was last changed (2.6 and later), none if not recorded.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return tso(c.UpdatedAt) }),
	col(table.Column{
		Name: "layout", Show: table.Hidden, Doc: "Layout of the record: 2.1 (all inline), 2.2 (no database) or 2.2.9.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return text(c.Layout) }),
	col(table.Column{
		Name: "created_at", Title: "CREATED", Kind: table.Time, Show: table.Wide, Priority: 6,
		Doc: "When it was created.",
	},
		func(_ *Env, c *model.Collection) table.Cell { return tso(c.CreatedAt) }),
}

func totalsOf(cell func(model.Totals) table.Cell) func(*Env, *model.Collection) table.Cell {
	return func(e *Env, c *model.Collection) table.Cell { return cell(e.Cluster.CollectionTotals(c.ID)) }
}

func aliasNames(e *Env, id model.CollectionID) []string {
	aliases := e.Cluster.AliasesOf(id)
	names := make([]string, 0, len(aliases))
	for _, a := range aliases {
		names = append(names, a.Name)
	}
	return names
}

// collectionExists reports whether a collection is not dropped. One without metadata counts as live because its state
// is unknown.
func collectionExists(e *Env, id model.CollectionID) bool {
	c := e.Cluster.Collection(id)
	return c == nil || !c.Dropped()
}

func livePartitions(e *Env, id model.CollectionID) []*model.Partition {
	var live []*model.Partition
	for _, p := range e.Cluster.PartitionsOf(id) {
		if !p.State.Dropped() {
			live = append(live, p)
		}
	}
	return live
}

func liveIndexes(e *Env, id model.CollectionID) []*model.Index {
	var live []*model.Index
	for _, x := range e.Cluster.IndexesOf(id) {
		if !x.Deleted {
			live = append(live, x)
		}
	}
	return live
}

func userFields(c *model.Collection) []*model.Field {
	var list []*model.Field
	for _, f := range c.Fields {
		if !f.System() {
			list = append(list, f)
		}
	}
	return list
}

// loadState returns the load state of a collection: a value of commonpb.LoadState without its prefix.
func loadState(e *Env, id model.CollectionID) string {
	if l := e.Cluster.LoadState(id); l != nil {
		return l.Status
	}
	return "NotLoad"
}

// loadPercent returns the loaded share in percent: from QueryCoord, otherwise as recorded. If QueryCoord was
// not queried and none is recorded, it is none for a loaded collection and unknown for one that is loading.
// If QueryCoord was queried and does not report the collection, it is unknown.
func loadPercent(e *Env, l *model.LoadState) table.Cell {
	if l == nil {
		return none()
	}
	x := e.Cluster.Runtime.LoadedCollection(l.Collection)
	switch asked := e.Cluster.Runtime != nil && e.Cluster.Runtime.Loaded != nil; {
	case x != nil:
		return table.Cell{Float: float64(x.Percent)}
	case l.Percent != nil && !asked:
		return table.Cell{Float: float64(*l.Percent)}
	case l.Status == "Loaded" && !asked:
		return none()
	}
	return unknown()
}

func collectionOwner(e *Env, c *model.Collection) (Ref, bool) {
	return Ref{Resource: "databases", ID: c.Database.String(), Name: e.Cluster.DatabaseName(c.Database)}, true
}

func collectionLinks(_ *Env, c *model.Collection) []Link {
	where := "collection_id=" + c.ID.String()
	return []Link{
		link("segments", "segments", where), link("partitions", "partitions", where),
		link("vchannels", "vchannels", where),
		link("fields", "fields", where), link("indexes", "indexes", where), link("replicas", "replicas", where),
		link("aliases", "aliases", where), link("load state", "load-states", where), link("tasks", "tasks", where),
	}
}

func collectionSections(s *scope, c *model.Collection) []Section {
	rows := make([]fieldRow, 0, len(c.Fields))
	for _, f := range userFields(c) {
		rows = append(rows, fieldRow{f, c})
	}
	list := []Section{
		section(s, "fields", "fields", rows, "id", "name", "type", "dim", "flags", "indexes", "params"),
		section(s, "partitions", "partitions", s.Cluster.PartitionsOf(c.ID), "id", "name", "state", "rows", "segments",
			"load_state"),
		section(s, "vchannels", "vchannels", s.Cluster.VChannelsOf(c.ID), "name", "pchannel", "checkpoint_age_seconds",
			"watcher", "watch_state", "rows"),
		section(s, "indexes", "indexes", indexRows(s.Cluster.IndexesOf(c.ID)), "id", "name", "field", "type", "metric",
			"params", "state", "indexed_percent"),
		sectionOf(s, "segments by state", segmentStates, stateRows(s.Cluster.CollectionTotals(c.ID))),
		section(s, "replicas", "replicas", s.Cluster.ReplicasOf(c.ID), "id", "resource_group", "nodes", "ro_nodes"),
	}
	if len(c.Functions) > 0 {
		list = append(list, sectionOf(s, "functions", functions, c.Functions))
	}
	return list
}

// functions is shown only in the description of a collection.
var functions = define(definition[*model.Function]{
	Resource: Resource{
		Schema: table.Schema{Name: "functions", Handle: "name"},
		Doc:    "Functions that fill fields from others (2.5 and later).",
		Needs:  model.PartObjects,
	},
	columns: []column[*model.Function]{
		col(table.Column{Name: "name", Doc: "Name of the function."}, func(_ *Env, f *model.Function) table.Cell {
			return text(f.Name)
		}),
		col(table.Column{Name: "type", Doc: "BM25, TextEmbedding or Rerank.", Vocabulary: true},
			func(_ *Env, f *model.Function) table.Cell { return text(f.Type) }),
		col(table.Column{Name: "inputs", Kind: table.List, Doc: "Fields that it reads."},
			func(_ *Env, f *model.Function) table.Cell { return list(f.Inputs) }),
		col(table.Column{Name: "outputs", Kind: table.List, Doc: "Fields that it fills."},
			func(_ *Env, f *model.Function) table.Cell { return list(f.Outputs) }),
		col(table.Column{Name: "params", Kind: table.Pairs, Doc: "Parameters, secrets redacted."},
			func(_ *Env, f *model.Function) table.Cell { return pairs(f.Params) }),
		col(table.Column{Name: "description", Show: table.Hidden, Doc: "Description as given by its creator."},
			func(_ *Env, f *model.Function) table.Cell { return text(strings.TrimSpace(f.Description)) }),
	},
	ref: func(_ *Env, f *model.Function) Ref { return Ref{ID: f.Name, Name: f.Name} },
})
