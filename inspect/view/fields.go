package view

import (
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// fieldRow is a field with its collection.
type fieldRow struct {
	*model.Field
	collection *model.Collection
}

var fields = define(definition[fieldRow]{
	Resource: Resource{
		Schema: table.Schema{
			Name: "fields", Names: []string{"name"}, Handle: "path",
			Shorthands: collectionShorthands("pk", "primary_key"),
		},
		Aliases: []string{"columns"},
		Doc:     "Fields of all schemas, Milvus's own included.",
		Needs:   model.PartObjects,
	},
	rows: func(e *Env) []fieldRow {
		var rows []fieldRow
		for _, c := range e.Cluster.Collections {
			for _, f := range c.Fields {
				rows = append(rows, fieldRow{f, c})
			}
		}
		return rows
	},
	columns: concat(
		[]column[fieldRow]{
			col(table.Column{
				Name: "id", Kind: table.ID, Priority: 2,
				Doc: "Field id inside its collection: 0 RowID, 1 Timestamp, from 100 the user's.",
			},
				func(_ *Env, f fieldRow) table.Cell { return id(f.ID) }),
			col(table.Column{Name: "name", Doc: "Name of the field."}, func(_ *Env, f fieldRow) table.Cell {
				return text(f.Name)
			}),
			col(table.Column{Name: "path", Show: table.Hidden, Doc: "collection/name: the name of the field."},
				func(e *Env, f fieldRow) table.Cell { return text(qualifiedName(e, f.collection) + "/" + f.Name) }),
		},
		collectionColumns(func(f fieldRow) model.CollectionID { return f.collection.ID }),
		fieldType, fieldMore,
	),
	ref: func(_ *Env, f fieldRow) Ref {
		return Ref{ID: f.collection.ID.String() + "/" + f.ID.String(), Name: f.Name}
	},
	owner: func(e *Env, f fieldRow) (Ref, bool) { return collectionRef(e, f.collection.ID) },
	links: func(_ *Env, f fieldRow) []Link {
		return []Link{link("indexes", "indexes", "collection_id="+f.collection.ID.String(), "field_id="+f.ID.String())}
	},
	sections: func(s *scope, f fieldRow) []Section {
		return []Section{
			section(s, "indexes", "indexes", indexRows(fieldIndexes(s.Env, f)), "id", "name", "type", "metric",
				"params", "state", "indexed_percent"),
		}
	},
})

var fieldType = []column[fieldRow]{
	col(table.Column{Name: "type", Doc: "Data type: Int64, VarChar, FloatVector, ...", Vocabulary: true},
		func(_ *Env, f fieldRow) table.Cell { return text(f.Type) }),
	col(table.Column{
		Name: "element_type", Title: "ELEMENT", Show: table.Wide, Priority: 5,
		Doc: "Data type of the elements of an array.",
	},
		func(_ *Env, f fieldRow) table.Cell { return text(f.ElementType) }),
	col(table.Column{
		Name: "dim", Kind: table.Int, Priority: 1, Doc: "Dimension of a vector; sparse vectors have none.",
	},
		func(_ *Env, f fieldRow) table.Cell { return countOrNone(f.Dim) }),
	col(table.Column{
		Name: "flags", Kind: table.List, Priority: 2,
		Doc: "Special properties: primary_key, auto_id, partition_key, clustering_key, dynamic, nullable, " +
			"function_output.",
	},
		func(_ *Env, f fieldRow) table.Cell { return list(fieldFlags(f.Field)) }),
	col(table.Column{
		Name: "indexes", Kind: table.List, Priority: 3, Doc: "Names of the indexes on it, deleted ones not included.",
	},
		func(e *Env, f fieldRow) table.Cell {
			var names []string
			for _, x := range fieldIndexes(e, f) {
				if !x.Deleted {
					names = append(names, x.Name)
				}
			}
			return list(names)
		}).withNeeds(model.PartIndexes),
	col(table.Column{Name: "params", Kind: table.Pairs, Priority: 4, Doc: "Type parameters: dim, max_length, ..."},
		func(_ *Env, f fieldRow) table.Cell { return pairs(f.Params) }),
}

var fieldMore = []column[fieldRow]{
	col(table.Column{Name: "primary_key", Kind: table.Bool, Show: table.Hidden, Doc: "It is the primary key."},
		func(_ *Env, f fieldRow) table.Cell { return yesNo(f.PrimaryKey) }),
	col(table.Column{Name: "vector", Kind: table.Bool, Show: table.Hidden, Doc: "It holds vectors of any kind."},
		func(_ *Env, f fieldRow) table.Cell { return yesNo(f.Vector()) }),
	col(table.Column{
		Name: "system", Kind: table.Bool, Show: table.Hidden, Doc: "Milvus itself added it (RowID, Timestamp).",
	},
		func(_ *Env, f fieldRow) table.Cell { return yesNo(f.System()) }),
	col(table.Column{
		Name: "state", Kind: table.State, Show: table.Hidden, Doc: "State of the field, none if not recorded.",
	},
		func(_ *Env, f fieldRow) table.Cell { return text(f.State) }),
	col(table.Column{Name: "struct", Show: table.Hidden, Doc: "Name of the struct array that it belongs to (2.6)."},
		func(_ *Env, f fieldRow) table.Cell { return text(f.Struct) }),
	col(table.Column{
		Name: "external_field", Rare: true, Show: table.Hidden,
		Doc: "Column of the external source that it shows (3.0).",
	},
		func(_ *Env, f fieldRow) table.Cell { return text(f.External) }),
	col(table.Column{Name: "default", Show: table.Hidden, Doc: "Default value, as text."},
		func(_ *Env, f fieldRow) table.Cell { return text(f.Default) }),
	col(table.Column{
		Name: "index_params", Kind: table.Pairs, Show: table.Hidden, Doc: "Index parameters inside the schema (2.1).",
	},
		func(_ *Env, f fieldRow) table.Cell { return pairs(f.IndexParams) }),
	col(table.Column{Name: "description", Show: table.Hidden, Doc: "Description as given by its creator."},
		func(_ *Env, f fieldRow) table.Cell { return text(strings.TrimSpace(f.Description)) }),
}

func fieldFlags(f *model.Field) []string {
	flags := []struct {
		name string
		set  bool
	}{
		{"primary_key", f.PrimaryKey},
		{"auto_id", f.AutoID},
		{"partition_key", f.PartitionKey},
		{"clustering_key", f.Clustering},
		{"dynamic", f.Dynamic},
		{"nullable", f.Nullable},
		{"function_output", f.FuncOutput},
	}
	var names []string
	for _, flag := range flags {
		if flag.set {
			names = append(names, flag.name)
		}
	}
	return names
}

func fieldIndexes(e *Env, f fieldRow) []*model.Index {
	var list []*model.Index
	for _, x := range e.Cluster.IndexesOf(f.collection.ID) {
		if x.Field == f.ID {
			list = append(list, x)
		}
	}
	return list
}
