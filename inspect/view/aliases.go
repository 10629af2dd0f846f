package view

import "kitescope/inspect/model"

var aliases = define(definition[*model.Alias]{
	Resource: Resource{
		Name: "aliases", Singular: "alias", Kind: "Alias",
		Doc:        "Other names of collections.",
		Needs:      model.PartObjects,
		Names:      []string{"name"},
		Handle:     "name",
		Shorthands: collectionShorthands("alias", "name"),
	},
	rows: func(e *Env) []*model.Alias { return e.Cluster.Aliases },
	columns: []column[*model.Alias]{
		{
			Column{Name: "name", Title: "NAME", Doc: "The alias."},
			func(_ *Env, a *model.Alias) Cell { return text(a.Name) },
		},
		{
			Column{Name: "collection", Title: "COLLECTION", collectionIDs: "collection_id", Doc: "Name of the collection that it stands for, none if it is gone."},
			func(e *Env, a *model.Alias) Cell { return text(e.Cluster.CollectionName(a.Collection)) },
		},
		{
			Column{Name: "collection_id", Title: "COLLECTION ID", Kind: ID, Priority: 2, Doc: "Id of the collection."},
			func(_ *Env, a *model.Alias) Cell { return id(a.Collection) },
		},
		{
			Column{Name: "database", Title: "DATABASE", Priority: 1, Doc: "Name of the alias's database."},
			func(e *Env, a *model.Alias) Cell { return text(e.Cluster.DatabaseName(a.Database)) },
		},
		{
			Column{Name: "state", Title: "STATE", Kind: State, Show: Wide, Priority: 3, Doc: "Created or Dropped; none before 2.2."},
			func(_ *Env, a *model.Alias) Cell { return text(string(a.State)) },
		},
		{
			Column{Name: "created_at", Title: "CREATED", Kind: Time, Show: Wide, Priority: 3, Doc: "When it was created or last altered."},
			func(_ *Env, a *model.Alias) Cell { return tso(a.CreatedAt) },
		},
	},
	ref:   func(_ *Env, a *model.Alias) Ref { return Ref{ID: a.Database.String() + "/" + a.Name, Name: a.Name} },
	owner: func(e *Env, a *model.Alias) (Ref, bool) { return collectionRef(e, a.Collection) },
	links: func(_ *Env, a *model.Alias) []Link {
		return []Link{link("collection", "collections", "id="+a.Collection.String())}
	},
})
