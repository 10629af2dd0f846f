package view

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/model"
)

// Query is what a person asks of a resource.
type Query struct {
	Where Selection
	// Sort are column names, a leading "-" means descending, "-rows,name" is two of
	// them; none means the resource's DefaultSort.
	Sort []string
	// Columns are column names as ParseColumns reads them; none means those of Show.
	Columns []string
	Show    Show
	// Limit cuts the rows after sorting; 0 means no limit.
	Limit int
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
	for _, k := range order {
		needs |= r.Columns[k.Column].Needs
	}
	return needs, nil
}

// Asks reports whether the query names, in its selection, order or columns, what only the
// processes themselves can say.
func (q Query) Asks(r *Resource) bool {
	named := q
	named.Show = Always
	needs, err := named.Needs(r)
	return err == nil && needs.Has(model.PartRuntime)
}

// SortKey is a column to sort by.
type SortKey struct {
	Column     int
	Descending bool
}

// ParseSort reads lists such as "-rows,name"; none gives the resource's DefaultSort.
func (r *Resource) ParseSort(words []string) ([]SortKey, error) {
	if len(words) == 0 && r.DefaultSort != "" {
		words = []string{r.DefaultSort}
	}
	var keys []SortKey
	for _, word := range words {
		for name := range strings.SplitSeq(word, ",") {
			name = strings.TrimSpace(name)
			if name == "" {
				continue
			}
			name, descending := strings.CutPrefix(name, "-")
			i := r.Column(strings.ToLower(strings.TrimPrefix(name, "+")))
			if i < 0 {
				return nil, r.unknownColumn(name)
			}
			keys = append(keys, SortKey{i, descending})
		}
	}
	return keys, nil
}

// Select answers a query. It fails where the answer would be a guess: an unknown
// column, or a selection by something that was not read.
func Select(t Table, q Query) (*Grid, error) {
	r := t.Resource()
	columns, err := r.ParseColumns(q.Columns, q.Show, t.Env().Cluster.Loaded)
	if err != nil {
		return nil, err
	}
	order, err := r.ParseSort(q.Sort)
	if err != nil {
		return nil, err
	}
	if !t.Env().Cluster.Loaded.Has(q.Where.Needs()) {
		return nil, q.Where.blind(t)
	}
	g := &Grid{Table: t, Columns: columns, Rows: q.Where.Rows(t)}
	g.Matched = g.Len()
	if len(order) > 0 {
		g.Rows = Sort(t, g.Rows, order)
	}
	if q.Limit > 0 && g.Len() > q.Limit {
		if g.Rows == nil {
			g.Rows = allRows(q.Limit)
		}
		g.Rows = g.Rows[:q.Limit]
	}
	return g, nil
}

func (s Selection) blind(t Table) error {
	for _, i := range s.Columns() {
		if c := &s.resource.Columns[i]; !t.Env().Cluster.Loaded.Has(c.Needs) {
			return fmt.Errorf("select %s by %s: that part of the metadata was not read", s.resource.Name, c.Name)
		}
	}
	return fmt.Errorf("select %s: a part of the metadata was not read", s.resource.Name)
}

// Rows are the positions of the selected rows, in order; nil if that is all of them.
func (s Selection) Rows(t Table) []int32 {
	if s.Empty() {
		return nil
	}
	m := s.On(t)
	rows := make([]int32, 0, min(t.Len(), 1024))
	for i := range t.Len() {
		if m.Match(i) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// Unmatched are the bare words that name no row, wildcards aside: a person who asks
// for what does not exist should hear it.
func (s Selection) Unmatched(t Table) []string {
	if set := s.idSet(); set != nil {
		return set.missing(t, s.names)
	}
	var missing []string
	for i := range s.names {
		n := &s.names[i]
		if n.not || strings.Contains(n.text, "*") {
			continue
		}
		bound := s.bindName(t, n)
		found := false
		for row := 0; row < t.Len() && !found; row++ {
			found = bound.match(t, row)
		}
		if !found {
			missing = append(missing, n.word)
		}
	}
	return missing
}

// Strays say, in words for a person, which values of the selection fit nothing: a
// collection that does not exist, a state that no row has. The rows are what they are,
// but an empty list because of a misspelt word reads like good news.
func (s Selection) Strays(t Table) []string {
	var found []string
	for i := range s.terms {
		x := &s.terms[i]
		if x.key != "" || x.op != equal && x.op != unequal {
			continue
		}
		for j := range x.values {
			if stray := s.stray(t, x, &x.values[j]); stray != "" {
				found = append(found, stray)
			}
		}
	}
	return found
}

// maxStrayValues is how many values a message names that there are.
const maxStrayValues = 8

func (s Selection) stray(t Table, x *term, v *value) string {
	c := &s.resource.Columns[x.column]
	switch {
	case v.glob != nil || v.absent:
		return ""
	case c.collectionIDs != "":
		if len(collectionsMeant(t, v.text)) > 0 {
			return ""
		}
		return NotFound(collections.Table(t.Env()), v.text).Error()
	case c.Kind == Text && !c.vocabulary && slices.Contains(s.resource.Names, c.Name):
		return s.strayName(t, x.column, v)
	case c.Kind != State && !c.vocabulary:
		return ""
	}
	for row := range t.Len() {
		if cell := t.Cell(row, x.column); cell.Absent == Present && equalText(v, State, cell) {
			return ""
		}
	}
	there := columnValues(t, x.column, "", maxStrayValues+1)
	if len(there) == 0 {
		return ""
	}
	more := ""
	if len(there) > maxStrayValues {
		there, more = there[:maxStrayValues], ", ..."
	}
	return fmt.Sprintf("no %s has %s %q; there are: %s%s", s.resource.Singular, c.Name, v.text, strings.Join(there, ", "), more)
}

// strayName says of a name that no object has which ones are spelled alike: names are many, and most are no news.
func (s Selection) strayName(t Table, column int, v *value) string {
	names := columnValues(t, column, "", maxCompletions)
	if near := Suggest(v.text, names); len(near) > 0 && !slices.Contains(names, v.text) {
		return fmt.Sprintf("no %s has %s %q%s", s.resource.Singular, s.resource.Columns[column].Name, v.text, meant(near))
	}
	return ""
}

func allRows(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}
