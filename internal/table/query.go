package table

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// Query selects and orders rows of a table, and selects columns.
type Query struct {
	Where Selection
	// Sort lists column names in the form of ParseSort, e.g. "-rows,name": a leading "-" means descending. If it
	// is empty, the schema's DefaultSort applies.
	Sort []string
	// Columns lists column names in the form of ParseColumns. If it is empty, Show selects the columns.
	Columns []string
	Show    Show
	// Limit is the maximum number of rows after sorting; 0 means no limit.
	Limit int
	// Skip reports whether to leave out a selected row; nil keeps all rows.
	Skip func(row int) bool
}

// Select runs a query. It returns an error if a column is unknown, or if the selection depends on metadata that
// was not read.
func Select(t Table, q Query) (*Grid, error) {
	schema := t.Schema()
	columns, err := schema.ParseColumns(q.Columns, defaultColumns(t, q.Show))
	if err != nil {
		return nil, err
	}
	order, err := schema.ParseSort(q.Sort)
	if err != nil {
		return nil, err
	}
	if err := q.Where.checkRead(t); err != nil {
		return nil, err
	}
	g := &Grid{Table: t, Columns: columns, Rows: q.Where.Rows(t)}
	if q.Skip != nil {
		g.skip(q.Skip)
	}
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

// skip removes the rows for which the function is returns true. Nil Rows still mean all rows if nothing is
// removed.
func (g *Grid) skip(is func(row int) bool) {
	n := g.Len()
	first := 0
	for first < n && !is(g.Row(first)) {
		first++
	}
	if first == n {
		return
	}
	rows := make([]int32, 0, n)
	for i := range n {
		if row := g.Row(i); i < first || i > first && !is(row) {
			rows = append(rows, int32(row))
		}
	}
	g.Rows, g.Skipped = rows, n-len(rows)
}

// checkRead returns an error if the selection depends on metadata that was not read.
func (s Selection) checkRead(t Table) error {
	for _, i := range s.Columns() {
		if !Known(t, i) {
			return fmt.Errorf("select %s by %s: that part of the metadata was not read", s.schema.Name,
				s.schema.Columns[i].Name)
		}
	}
	return nil
}

// Rows returns the positions of the selected rows, in order, or nil if all rows are selected.
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

// Unmatched returns the bare words without wildcards that match no row, because a user should be warned about
// names that do not exist.
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

// UnmatchedValues returns messages about values of the selection that match nothing, e.g. a collection that does not
// exist or a state that no row has. They do not change the selected rows. Without a warning, an empty list due
// to a misspelled word would look like good news.
func (s Selection) UnmatchedValues(t Table) []string {
	var found []string
	for i := range s.terms {
		x := &s.terms[i]
		if x.key != "" || x.op != equal && x.op != unequal {
			continue
		}
		for j := range x.values {
			if stray := s.unmatchedValue(t, x, &x.values[j]); stray != "" {
				found = append(found, stray)
			}
		}
	}
	return found
}

// maxListedValues limits how many existing values a message lists.
const maxListedValues = 8

func (s Selection) unmatchedValue(t Table, x *term, v *value) string {
	c := &s.schema.Columns[x.column]
	switch {
	case v.glob != nil || v.absent:
		return ""
	case c.IDColumn != "":
		context, ok := t.(Context)
		if !ok || len(context.Resolve(x.column, v.text)) > 0 {
			return ""
		}
		return context.Unresolved(x.column, v.text)
	case c.Kind == Text && !c.Vocabulary && slices.Contains(s.schema.Names, c.Name):
		return s.unmatchedName(t, x.column, v)
	case c.Kind != State && c.Kind != NamedID && c.Kind != NamedIDs && !c.Vocabulary:
		return ""
	}
	b := bindTerm(t, x)
	for row := range t.Len() {
		if cell := t.Cell(row, x.column); cell.Absent == Present && b.equal(v, cell) {
			return ""
		}
	}
	there := Values(t, x.column, "", maxListedValues+1)
	if len(there) == 0 {
		return ""
	}
	more := ""
	if len(there) > maxListedValues {
		there, more = there[:maxListedValues], ", ..."
	}
	return fmt.Sprintf("no %s has %s %q; available: %s%s", s.schema.Singular, c.Name, v.text, strings.Join(there, ", "),
		more)
}

// unmatchedName returns a message if no object has the name and similar names exist. It returns "" otherwise, because
// there are many names, and most mismatches are not noteworthy.
func (s Selection) unmatchedName(t Table, column int, v *value) string {
	names := Values(t, column, "", MaxCompletions)
	if alike := hints.Similar(v.text, names); len(alike) > 0 && !slices.Contains(names, v.text) {
		return fmt.Sprintf("no %s has %s %q%s", s.schema.Singular, s.schema.Columns[column].Name, v.text,
			hints.Suggestion(alike))
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
