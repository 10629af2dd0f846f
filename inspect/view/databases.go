package view

import (
	"slices"

	"kitescope/inspect/model"
)

var databases = define(definition[*model.Database]{
	Resource: Resource{
		Schema: Schema{
			Name: "databases", Singular: "database",
			Names:      []string{"name", "id"},
			Handle:     "name",
			Shorthands: map[string]string{"size": "size_bytes"},
		},
		Aliases: []string{"db", "dbs"}, Kind: "Database",
		Doc:   "Databases, the namespaces of collections (2.2.9 and later; before that all is in default).",
		Needs: model.PartObjects,
	},
	rows: databaseRows,
	columns: []column[*model.Database]{
		{
			Column: Column{Name: "id", Title: "ID", Kind: ID, Priority: 2, Doc: "Database id; 1 is default, 0 stands for the time before databases."},
			cell:   func(_ *Env, d *model.Database) Cell { return id(d.ID) },
		},
		{
			Column: Column{Name: "name", Title: "NAME", Doc: "Name of the database."},
			cell:   func(_ *Env, d *model.Database) Cell { return text(d.Name) },
		},
		{
			Column: Column{Name: "state", Title: "STATE", Kind: State, Priority: 3, Doc: "Created, Creating, Dropping or Dropped; none if not recorded."},
			cell:   func(_ *Env, d *model.Database) Cell { return text(string(d.State)) },
		},
		{
			Column: Column{Name: "collections", Title: "COLLECTIONS", Kind: Int, Doc: "Collections in it, dropped ones not counted."},
			cell:   func(e *Env, d *model.Database) Cell { return count(int64(len(liveCollections(e, d.ID)))) },
		},
		{
			Column: Column{Name: "rows", Title: "ROWS", Kind: Int, Doc: "Rows of all its healthy segments as recorded."},
			needs:  model.PartSegments, cell: func(e *Env, d *model.Database) Cell {
				return count(sumCollections(e, d.ID, func(t model.Totals) int64 { return t.Rows }))
			},
		},
		{
			Column: Column{Name: "segments", Title: "SEGMENTS", Kind: Int, Priority: 4, Doc: "Healthy segments: dropped ones not counted."},
			needs:  model.PartSegments, cell: func(e *Env, d *model.Database) Cell {
				return count(sumCollections(e, d.ID, func(t model.Totals) int64 { return int64(t.Segments) }))
			},
		},
		{
			Column: Column{
				Name: "size_bytes", Title: "SIZE", Kind: Bytes, Show: Wide, Priority: 4, Doc: "Bytes of its healthy segments' logs in storage.",
			},
			needs: model.PartSegments | model.PartLogs, cell: func(e *Env, d *model.Database) Cell {
				return count(sumCollections(e, d.ID, func(t model.Totals) int64 { return t.Bytes }))
			},
		},
		{
			Column: Column{Name: "created_at", Title: "CREATED", Kind: Time, Show: Wide, Priority: 5, Doc: "When it was created."},
			cell:   func(_ *Env, d *model.Database) Cell { return tso(d.CreatedAt) },
		},
		{
			Column: Column{Name: "properties", Title: "PROPERTIES", Kind: Pairs, Show: Hidden, Doc: "Properties as set by users."},
			cell:   func(_ *Env, d *model.Database) Cell { return pairs(d.Properties) },
		},
	},
	ref: func(_ *Env, d *model.Database) Ref { return Ref{ID: d.ID.String(), Name: d.Name} },
	links: func(_ *Env, d *model.Database) []Link {
		return []Link{link("collections", "collections", "database="+d.Name)}
	},
	sections: func(s *scope, d *model.Database) []Section {
		return []Section{section(s, "collections", "collections", liveCollections(s.Env, d.ID))}
	},
})

// databaseRows adds the default database where collections are in it but no record
// says so, as before 2.2.9.
func databaseRows(e *Env) []*model.Database {
	rows := e.Cluster.Databases
	for _, c := range e.Cluster.Collections {
		named := slices.ContainsFunc(rows, func(d *model.Database) bool { return sameDatabase(d.ID, c.Database) })
		if !named {
			rows = append(slices.Clip(rows), &model.Database{ID: c.Database, Name: e.Cluster.DatabaseName(c.Database)})
		}
	}
	return rows
}

// sameDatabase knows that collections of the time before databases (0) are in default (1).
func sameDatabase(a, b model.DatabaseID) bool { return a == b || a+b == 1 && a*b == 0 }

func liveCollections(e *Env, id model.DatabaseID) []*model.Collection {
	var list []*model.Collection
	for _, c := range e.Cluster.Collections {
		if sameDatabase(id, c.Database) && !c.Dropped() {
			list = append(list, c)
		}
	}
	return list
}

func sumCollections(e *Env, id model.DatabaseID, of func(model.Totals) int64) int64 {
	var sum int64
	for _, c := range liveCollections(e, id) {
		sum += of(e.Cluster.CollectionTotals(c.ID))
	}
	return sum
}
