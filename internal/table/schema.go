package table

import (
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// Schema is what a table has without its rows: enough to read what somebody asks of them.
type Schema struct {
	Name     string // plural, as in "get segments"
	Singular string // "segment"
	Columns  []Column
	// Names are the columns that a bare word in a selection is compared with.
	Names []string
	// Shorthands are other names of columns in selectors: "coll" for "collection".
	Shorthands map[string]string
	// DefaultSort is a column name, with "-" in front for descending; "" keeps the order of the rows.
	DefaultSort string
	// Handle is the column that -o name prints.
	Handle string
	// Order are the names of the columns for people, if they do not stand in the order of Columns; those that there are.
	Order []string
	// Slashes says that names may hold one, so that "a/b" does not mean b of a.
	Slashes bool
	// Sparse says that what does not exist is left out of JSON and YAML, texts and lists too.
	Sparse bool
}

// Column returns the position of a column by its name, a shorthand, or the header of a table, in lower case, if no other
// column has it: "deletes" or "deleted_rows", "served by" or "served_by". -1 if there is none.
func (s *Schema) Column(name string) int {
	name = strings.ReplaceAll(name, " ", "_")
	if long, ok := s.Shorthands[name]; ok {
		name = long
	}
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return i
		}
	}
	return s.titled(name)
}

// Numbered returns the column of the ids whose names the column at a position has, -1 if it has names of nothing else.
func (s *Schema) Numbered(column int) int {
	if s.Columns[column].Name != s.Handle {
		return -1
	}
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Kind == NamedID && slices.Contains(s.Names, c.Name) })
}

// ShownWith returns a column as people see it together with others: as plain ids if one of these has their names.
func (s *Schema) ShownWith(column int, others []int) *Column {
	c := &s.Columns[column]
	if c.Kind == NamedID && slices.ContainsFunc(others, func(i int) bool { return s.Numbered(i) == column }) {
		bare := *c
		bare.Kind = ID
		return &bare
	}
	return c
}

// titled is the one column of a title, with underscores for blanks; -1 if none has it, or several.
func (s *Schema) titled(name string) int {
	title, at := strings.ReplaceAll(name, "_", " "), -1
	for i := range s.Columns {
		switch {
		case !strings.EqualFold(s.Columns[i].Title, title):
		case at >= 0:
			return -1
		default:
			at = i
		}
	}
	return at
}

// ColumnNames are the names of all columns.
func (s *Schema) ColumnNames() []string {
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	return names
}

// Usual are the columns that appear in tables of one width: Always in the usual ones, Wide in wide ones, Hidden in JSON,
// YAML and CSV; and those that more reports, if it is not nil.
func (s *Schema) Usual(show Show, more func(column int) bool) []int {
	var columns []int
	take := func(i int) {
		c := &s.Columns[i]
		if (c.Show <= show || more != nil && more(i)) && (c.For == Everyone || show < Hidden) {
			columns = append(columns, i)
		}
	}
	if len(s.Order) > 0 && show < Hidden {
		for _, name := range s.Order {
			if i := s.Column(name); i >= 0 {
				take(i)
			}
		}
		return columns
	}
	for i := range s.Columns {
		take(i)
	}
	return columns
}

// ParseColumns reads lists such as "id,rows" or "+created_at": a first word that starts with "+" adds to the usual
// columns. An unknown one is a *hints.UnknownError.
func (s *Schema) ParseColumns(words []string, usual []int) ([]int, error) {
	var columns []int
	for _, word := range words {
		for name := range strings.SplitSeq(word, ",") {
			name = strings.TrimSpace(name)
			more, added := strings.CutPrefix(name, "+")
			if added && len(columns) == 0 {
				columns = usual
			}
			i := s.Column(strings.ToLower(more))
			if i < 0 {
				return nil, s.unknownColumn(more)
			}
			if !slices.Contains(columns, i) {
				columns = append(columns, i)
			}
		}
	}
	if len(columns) == 0 {
		return usual, nil
	}
	return columns, nil
}

// SortKey is a column to sort by.
type SortKey struct {
	Column     int
	Descending bool
}

// ParseSort reads lists such as "-rows,name"; none gives DefaultSort.
func (s *Schema) ParseSort(words []string) ([]SortKey, error) {
	if len(words) == 0 && s.DefaultSort != "" {
		words = []string{s.DefaultSort}
	}
	var keys []SortKey
	for _, word := range words {
		for name := range strings.SplitSeq(word, ",") {
			name = strings.TrimSpace(name)
			if name == "" {
				continue
			}
			name, descending := strings.CutPrefix(name, "-")
			i := s.Column(strings.ToLower(strings.TrimPrefix(name, "+")))
			if i < 0 {
				return nil, s.unknownColumn(name)
			}
			keys = append(keys, SortKey{i, descending})
		}
	}
	return keys, nil
}

func (s *Schema) unknownColumn(name string) error {
	known := s.ColumnNames()
	for short := range s.Shorthands {
		if s.Column(short) >= 0 {
			known = append(known, short)
		}
	}
	slices.Sort(known[len(s.Columns):])
	var labels []string
	for i := range s.Columns {
		if label := strings.ReplaceAll(s.Columns[i].Label(), " ", "_"); s.Column(label) == i && !slices.Contains(known, label) {
			labels = append(labels, label)
		}
	}
	return &hints.UnknownError{What: "column of " + s.Name, Word: name, Known: known, Also: labels}
}
