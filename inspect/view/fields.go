package view

import (
	"strings"

	"kitescope/inspect/model"
)

// fieldRow is a field with the collection that it is in.
type fieldRow struct {
	*model.Field
	collection *model.Collection
}

var fields = define(definition[fieldRow]{
	Resource: Resource{
		Schema: Schema{
			Name: "fields", Singular: "field",
			Names:      []string{"name"},
			Handle:     "path",
			Shorthands: collectionShorthands("pk", "primary_key"),
		},
		Aliases: []string{"columns"}, Kind: "Field",
		Doc:   "Fields of all schemas, Milvus's own included.",
		Needs: model.PartObjects,
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
			{
				Column: Column{Name: "id", Title: "ID", Kind: ID, Priority: 2, Doc: "Field id inside its collection: 0 RowID, 1 Timestamp, from 100 the user's."},
				cell:   func(_ *Env, f fieldRow) Cell { return id(f.ID) },
			},
			{
				Column: Column{Name: "name", Title: "NAME", Doc: "Name of the field."},
				cell:   func(_ *Env, f fieldRow) Cell { return text(f.Name) },
			},
			{
				Column: Column{Name: "path", Title: "PATH", Show: Hidden, Doc: "collection/name, which names the field in the cluster."},
				cell:   func(e *Env, f fieldRow) Cell { return text(qualifiedName(e, f.collection) + "/" + f.Name) },
			},
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
		return []Section{section(s, "indexes", "indexes", indexRows(fieldIndexes(s.Env, f)), "id", "name", "type", "metric", "params", "state", "indexed_percent")}
	},
})

var fieldType = []column[fieldRow]{
	{
		Column: Column{Name: "type", Title: "TYPE", Doc: "Data type: Int64, VarChar, FloatVector, ...", Vocabulary: true},
		cell:   func(_ *Env, f fieldRow) Cell { return text(f.Type) },
	},
	{
		Column: Column{Name: "element_type", Title: "ELEMENT", Show: Wide, Priority: 5, Doc: "Data type of the elements of an array."},
		cell:   func(_ *Env, f fieldRow) Cell { return text(f.ElementType) },
	},
	{
		Column: Column{Name: "dim", Title: "DIM", Kind: Int, Priority: 1, Doc: "Dimension of a vector; sparse vectors have none."},
		cell:   func(_ *Env, f fieldRow) Cell { return someCount(f.Dim) },
	},
	{
		Column: Column{Name: "flags", Title: "FLAGS", Kind: List, Priority: 2, Doc: "What is special: primary_key, auto_id, partition_key, clustering_key, dynamic, nullable, function_output."},
		cell:   func(_ *Env, f fieldRow) Cell { return list(fieldFlags(f.Field)) },
	},
	{
		Column: Column{Name: "indexes", Title: "INDEXES", Kind: List, Priority: 3, Doc: "Names of the indexes on it, deleted ones not included."},
		needs:  model.PartIndexes, cell: func(e *Env, f fieldRow) Cell {
			var names []string
			for _, x := range fieldIndexes(e, f) {
				if !x.Deleted {
					names = append(names, x.Name)
				}
			}
			return list(names)
		},
	},
	{
		Column: Column{Name: "params", Title: "PARAMS", Kind: Pairs, Priority: 4, Doc: "Type parameters: dim, max_length, ..."},
		cell:   func(_ *Env, f fieldRow) Cell { return pairs(f.Params) },
	},
}

var fieldMore = []column[fieldRow]{
	{
		Column: Column{Name: "primary_key", Title: "PRIMARY KEY", Kind: Bool, Show: Hidden, Doc: "It is the primary key."},
		cell:   func(_ *Env, f fieldRow) Cell { return yesNo(f.PrimaryKey) },
	},
	{
		Column: Column{Name: "vector", Title: "VECTOR", Kind: Bool, Show: Hidden, Doc: "It holds vectors of any kind."},
		cell:   func(_ *Env, f fieldRow) Cell { return yesNo(f.Vector()) },
	},
	{
		Column: Column{Name: "system", Title: "SYSTEM", Kind: Bool, Show: Hidden, Doc: "Milvus itself added it (RowID, Timestamp)."},
		cell:   func(_ *Env, f fieldRow) Cell { return yesNo(f.System()) },
	},
	{
		Column: Column{Name: "state", Title: "STATE", Kind: State, Show: Hidden, Doc: "State of the field, none if not recorded."},
		cell:   func(_ *Env, f fieldRow) Cell { return text(f.State) },
	},
	{
		Column: Column{Name: "struct", Title: "STRUCT", Show: Hidden, Doc: "Name of the struct array that it belongs to (2.6)."},
		cell:   func(_ *Env, f fieldRow) Cell { return text(f.Struct) },
	},
	{
		Column: Column{Name: "default", Title: "DEFAULT", Show: Hidden, Doc: "Default value, as text."},
		cell:   func(_ *Env, f fieldRow) Cell { return text(f.Default) },
	},
	{
		Column: Column{Name: "index_params", Title: "INDEX PARAMS", Kind: Pairs, Show: Hidden, Doc: "Index parameters inside the schema (2.1)."},
		cell:   func(_ *Env, f fieldRow) Cell { return pairs(f.IndexParams) },
	},
	{
		Column: Column{Name: "description", Title: "DESCRIPTION", Show: Hidden, Doc: "Description as given by its creator."},
		cell:   func(_ *Env, f fieldRow) Cell { return text(strings.TrimSpace(f.Description)) },
	},
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
