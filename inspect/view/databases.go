package view

import (
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var databases = define(definition[*model.Database]{
	Resource: Resource{
		Schema:  table.Schema{Name: "databases", Names: []string{"name", "id"}},
		Aliases: []string{"db", "dbs"},
		Doc:     "Databases, the namespaces of collections (2.2.9 and later; before that, all are in default).",
		Needs:   model.PartObjects,
	},
	rows: databaseRows,
	columns: []column[*model.Database]{
		col(table.Column{
			Name: "id", Kind: table.ID, Priority: 2,
			Doc: "Database id; 1 is default, 0 was used before databases existed.",
		},
			func(_ *Env, d *model.Database) table.Cell { return id(d.ID) }),
		col(table.Column{Name: "name", Doc: "Name of the database."}, func(_ *Env, d *model.Database) table.Cell {
			return text(d.Name)
		}),
		col(table.Column{
			Name: "state", Kind: table.State, Priority: 3,
			Doc: "Created, Creating, Dropping or Dropped; none if not recorded.",
		},
			func(_ *Env, d *model.Database) table.Cell { return text(string(d.State)) }),
		col(table.Column{Name: "collections", Kind: table.Int, Doc: "Collections in it, dropped ones not counted."},
			func(e *Env, d *model.Database) table.Cell { return count(int64(len(liveCollections(e, d.ID)))) }),
		col(table.Column{Name: "rows", Kind: table.Int, Doc: "Rows of all its healthy segments as recorded."},
			func(e *Env, d *model.Database) table.Cell {
				return count(sumCollections(e, d.ID, func(t model.Totals) int64 { return t.Rows }))
			}).withNeeds(model.PartSegments),
		col(table.Column{
			Name: "segments", Kind: table.Int, Priority: 4, Doc: "Healthy segments: dropped ones not counted.",
		}, func(e *Env, d *model.Database) table.Cell {
			return count(sumCollections(e, d.ID, func(t model.Totals) int64 { return int64(t.Segments) }))
		}).withNeeds(model.PartSegments),
		col(table.Column{
			Name: "size_bytes", Kind: table.Bytes, Show: table.Wide, Priority: 4,
			Doc: "Bytes of its healthy segments' logs in storage.",
		},
			func(e *Env, d *model.Database) table.Cell {
				return sizeOf(model.Totals{
					Bytes:   sumCollections(e, d.ID, func(t model.Totals) int64 { return t.Bytes }),
					Unsized: int(sumCollections(e, d.ID, func(t model.Totals) int64 { return int64(t.Unsized) })),
				})
			}).withNeeds(model.PartSegments | model.PartLogs),
		col(table.Column{
			Name: "created_at", Title: "CREATED", Kind: table.Time, Show: table.Wide, Priority: 5,
			Doc: "When it was created.",
		},
			func(_ *Env, d *model.Database) table.Cell { return tso(d.CreatedAt) }),
		col(table.Column{
			Name: "tenant", Rare: true, Show: table.Hidden, Doc: "Tenant that it belongs to, where one is recorded.",
		}, func(_ *Env, d *model.Database) table.Cell { return text(d.Tenant) }),
		col(table.Column{Name: "properties", Kind: table.Pairs, Show: table.Hidden, Doc: "Properties as set by users."},
			func(_ *Env, d *model.Database) table.Cell { return pairs(d.Properties) }),
	},
	ref: func(_ *Env, d *model.Database) Ref { return Ref{ID: d.ID.String(), Name: d.Name} },
	links: func(_ *Env, d *model.Database) []Link {
		return []Link{link("collections", "collections", "database="+d.Name)}
	},
	sections: func(s *scope, d *model.Database) []Section {
		return []Section{section(s, "collections", "collections", liveCollections(s.Env, d.ID))}
	},
})

// databaseRows returns the recorded databases, and a row for each database that collections name but no
// record has, e.g. default before 2.2.9.
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

// sameDatabase reports whether two ids are of the same database. Collections from before databases have id 0,
// which means default (1).
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
