package view

import (
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

var aliases = define(definition[*model.Alias]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "aliases", Singular: "alias", Names: []string{"name"},
			Shorthands: collectionShorthands("alias", "name"),
		},
		Doc:   "Other names of collections.",
		Needs: model.PartObjects,
	},
	rows: func(e *Env) []*model.Alias { return e.Cluster.Aliases },
	columns: []column[*model.Alias]{
		col(table.Column{Name: "name", Doc: "The alias."}, func(_ *Env, a *model.Alias) table.Cell {
			return text(a.Name)
		}),
		col(table.Column{
			Name: "collection", IDColumn: "collection_id",
			Doc: "Name of the collection that it refers to, none if it is gone.",
		},
			func(e *Env, a *model.Alias) table.Cell { return text(e.Cluster.CollectionName(a.Collection)) }),
		col(table.Column{Name: "collection_id", Kind: table.ID, Priority: 2, Doc: "Id of the collection."},
			func(_ *Env, a *model.Alias) table.Cell { return id(a.Collection) }),
		col(table.Column{Name: "database", Priority: 1, Doc: "Name of the alias's database."},
			func(e *Env, a *model.Alias) table.Cell { return text(e.Cluster.DatabaseName(a.Database)) }),
		col(table.Column{
			Name: "state", Kind: table.State, Show: table.Wide, Priority: 3,
			Doc: "Created or Dropped; none before 2.2.",
		},
			func(_ *Env, a *model.Alias) table.Cell { return text(string(a.State)) }),
		col(table.Column{
			Name: "created_at", Title: "CREATED", Kind: table.Time, Show: table.Wide, Priority: 3,
			Doc: "When it was created or last altered.",
		},
			func(_ *Env, a *model.Alias) table.Cell { return tso(a.CreatedAt) }),
	},
	ref:   func(_ *Env, a *model.Alias) Ref { return Ref{ID: a.Database.String() + "/" + a.Name, Name: a.Name} },
	owner: func(e *Env, a *model.Alias) (Ref, bool) { return collectionRef(e, a.Collection) },
	links: func(_ *Env, a *model.Alias) []Link {
		return []Link{link("collection", "collections", "id="+a.Collection.String())}
	},
})
