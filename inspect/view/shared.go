package view

import (
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// concat joins groups of columns.
func concat[T any](groups ...[]column[T]) []column[T] { return slices.Concat(groups...) }

// collectionShorthands returns the shorthands of resources with a collection column, and more as pairs of a
// shorthand and a column.
func collectionShorthands(more ...string) map[string]string {
	m := map[string]string{"coll": "collection", "db": "database", "part": "partition", "ch": "vchannel"}
	for i := 0; i+1 < len(more); i += 2 {
		m[more[i]] = more[i+1]
	}
	return m
}

// collectionColumns returns the columns of resources whose objects belong to a collection.
func collectionColumns[T any](of func(T) model.CollectionID) []column[T] {
	return []column[T]{
		col(table.Column{
			Name: "collection_id", Kind: table.ID, Show: table.Wide, Priority: 6,
			Doc: "Id of the collection; it may be gone.",
		},
			func(_ *Env, x T) table.Cell { return id(of(x)) }),
		col(table.Column{
			Name: "collection", Priority: 1, IDColumn: "collection_id",
			Doc: "Name of the collection, none if it is gone.",
		},
			func(e *Env, x T) table.Cell { return text(e.Cluster.CollectionName(of(x))) }),
		col(table.Column{
			Name: "database", Show: table.Wide, Priority: 7,
			Doc: "Name of the collection's database, none if the collection is gone.",
		},
			func(e *Env, x T) table.Cell { return databaseOf(e, of(x)) }),
	}
}

func databaseOf(e *Env, c model.CollectionID) table.Cell {
	if x := e.Cluster.Collection(c); x != nil {
		return text(e.Cluster.DatabaseName(x.Database))
	}
	return none()
}

// qualifiedName returns "database.collection", without the database if it is default.
func qualifiedName(e *Env, c *model.Collection) string {
	if db := e.Cluster.DatabaseName(c.Database); db != "default" {
		return db + "." + c.Name
	}
	return c.Name
}

func collectionRef(e *Env, c model.CollectionID) (Ref, bool) {
	return Ref{Resource: "collections", ID: c.String(), Name: e.Cluster.CollectionName(c)}, true
}

func link(title, resource string, where ...string) Link {
	return Link{Title: title, Resource: resource, Where: where}
}

// tristateCell returns the cell of a Tristate: yes, no or unknown.
func tristateCell(k model.Tristate) table.Cell {
	if k == model.Unknown {
		return unknown()
	}
	return yesNo(k == model.Yes)
}
