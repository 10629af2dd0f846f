package view

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// Query is a query of a resource; see table.Query.
type Query struct {
	Where Selection
	// Sort holds column names. A leading "-" means descending. An item may hold several: "-rows,name". The
	// default is the resource's DefaultSort.
	Sort []string
	// Columns holds column names for ParseColumns. The default is the columns of Show.
	Columns []string
	Show    table.Show
	// Limit is the maximum number of rows after sorting; 0 means no limit.
	Limit int
	// Omit leaves out the rows that lists omit by default: see Resource.Omits.
	Omit bool
}

// Needs returns the parts of the metadata to read before Select can answer the whole query.
func (q Query) Needs(r *Resource) (model.Part, error) {
	columns, err := r.ParseColumns(q.Columns, q.Show, 0)
	if err != nil {
		return 0, err
	}
	order, err := r.ParseSort(q.Sort)
	if err != nil {
		return 0, err
	}
	needs := r.NeedsFor(columns) | q.Where.Needs()
	if len(q.Columns) == 0 {
		needs |= r.liveNeeds()
	}
	for _, k := range order {
		needs |= r.more[k.Column].needs
	}
	return needs, nil
}

// Omits reports whether the query leaves out rows by default: Leave is set, and the selection is neither
// about such rows nor about single rows by name or id.
func (q Query) Omits(r *Resource) bool {
	if !q.Omit || r.Omits == "" {
		return false
	}
	return !slices.ContainsFunc(q.Where.Columns(), func(i int) bool {
		name := r.Columns[i].Name
		return name == "id" || slices.Contains(r.Names, name) || slices.Contains(r.OmitOverrides, name)
	})
}

// NeedsRuntime reports whether the selection, order or columns need data that only the processes have.
func (q Query) NeedsRuntime(r *Resource) bool {
	named := q
	named.Show = table.Always
	needs, err := named.Needs(r)
	return err == nil && needs.Has(model.PartRuntime)
}

// Select returns the result of a query. It fails if the result would be a guess: for an unknown column, or
// for a selection by data that was not read.
func Select(t Table, q Query) (*Grid, error) {
	asked := table.Query{Where: q.Where.Selection, Sort: q.Sort, Columns: q.Columns, Show: q.Show, Limit: q.Limit}
	if q.Omits(t.Resource()) {
		asked.Skip = t.Omitted
	}
	g, err := table.Select(t, asked)
	if err != nil {
		return nil, err
	}
	return &Grid{*g, t}, nil
}

// Selection selects rows of a resource. The zero Selection selects all.
type Selection struct {
	table.Selection
	resource *Resource
}

// ParseSelection parses the words of a selection like table.ParseSelection.
func ParseSelection(r *Resource, words []string) (Selection, error) {
	s, err := table.ParseSelection(&r.Schema, words)
	return Selection{s, r}, err
}

// Needs returns the parts of the metadata that the selection depends on.
func (s Selection) Needs() model.Part {
	if s.resource == nil {
		return 0
	}
	return s.resource.NeedsFor(s.Columns())
}

// Collection returns the name, "database.name", alias or id of the one collection that every selected row
// belongs to. It returns "" if there may be several. A caller may then read only the segments of that
// collection.
func (s Selection) Collection() string {
	if s.resource == nil {
		return ""
	}
	own := s.resource.Name == "collections"
	if only := s.RequiredValue(func(c *table.Column) bool {
		return c.IDColumn != "" || c.Name == "collection_id" || own && c.Name == "id"
	}); only != "" {
		return only
	}
	word, text, _ := s.Name()
	if own {
		word = text
	}
	if strings.Contains(word, "*") {
		return ""
	}
	return word
}
