package view

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// Query is what a person asks of a resource; see table.Query.
type Query struct {
	Where Selection
	// Sort are column names, a leading "-" means descending, "-rows,name" is two of
	// them; none means the resource's DefaultSort.
	Sort []string
	// Columns are column names as ParseColumns reads them; none means those of Show.
	Columns []string
	Show    table.Show
	// Limit cuts the rows after sorting; 0 means no limit.
	Limit int
	// Leave leaves out those rows that people do not look for unless they say so: see Resource.Leaves.
	Leave bool
}

// Needs are the parts of the metadata to read before Select can answer all of it.
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
		needs |= r.besides()
	}
	for _, k := range order {
		needs |= r.more[k.Column].needs
	}
	return needs, nil
}

// Leaves reports whether the query leaves out what nobody asked for: no word of it is about such rows, nor about single ones by name.
func (q Query) Leaves(r *Resource) bool {
	if !q.Leave || r.Leaves == "" {
		return false
	}
	return !slices.ContainsFunc(q.Where.Columns(), func(i int) bool {
		name := r.Columns[i].Name
		return name == "id" || slices.Contains(r.Names, name) || slices.Contains(r.Tells, name)
	})
}

// Asks reports whether the query names, in its selection, order or columns, what only the
// processes themselves can say.
func (q Query) Asks(r *Resource) bool {
	named := q
	named.Show = table.Always
	needs, err := named.Needs(r)
	return err == nil && needs.Has(model.PartRuntime)
}

// Select answers a query. It fails where the answer would be a guess: an unknown
// column, or a selection by something that was not read.
func Select(t Table, q Query) (*Grid, error) {
	asked := table.Query{Where: q.Where.Selection, Sort: q.Sort, Columns: q.Columns, Show: q.Show, Limit: q.Limit}
	if q.Leaves(t.Resource()) {
		asked.Skip = t.Left
	}
	g, err := table.Select(t, asked)
	if err != nil {
		return nil, err
	}
	return &Grid{*g, t}, nil
}

// Selection says which rows of a resource are wanted. The zero Selection wants all.
type Selection struct {
	table.Selection
	resource *Resource
}

// ParseSelection reads the words of a selection as table.ParseSelection does.
func ParseSelection(r *Resource, words []string) (Selection, error) {
	s, err := table.ParseSelection(&r.Schema, words)
	return Selection{s, r}, err
}

// Needs are the parts of the metadata that decide.
func (s Selection) Needs() model.Part {
	if s.resource == nil {
		return 0
	}
	return s.resource.NeedsFor(s.Columns())
}

// Collection is the name, "database.name", alias or id of the one collection that
// every selected row belongs to, "" if there may be more than one. A caller may then
// read that collection's segments only.
func (s Selection) Collection() string {
	if s.resource == nil {
		return ""
	}
	own := s.resource.Name == "collections"
	if only := s.Only(func(c *table.Column) bool { return c.By != "" || c.Name == "collection_id" || own && c.Name == "id" }); only != "" {
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
