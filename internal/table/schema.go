package table

import (
	"slices"
	"strings"

	"kitescope/internal/hints"
)

// Schema describes a table without its rows. It is sufficient to parse queries.
type Schema struct {
	Name     string // plural, as in "get segments"
	Singular string // "segment"
	Columns  []Column
	// Names lists the columns that bare words in a selection are compared with.
	Names []string
	// Shorthands maps other names of columns in selectors to column names, e.g. "coll" to "collection".
	Shorthands map[string]string
	// DefaultSort is a column name, with a leading "-" for descending. If it is empty, rows keep their order.
	DefaultSort string
	// Handle is the name of the column that -o name prints.
	Handle string
	// Order lists the names of the columns for people if their order differs from Columns. Names without a column
	// are ignored.
	Order []string
	// Slashes indicates that names can contain a slash, so that "a/b" does not mean b of a.
	Slashes bool
	// Sparse indicates that JSON and YAML omit missing values, including texts and lists.
	Sparse bool
}

// Column returns the position of a column by its lower-case name, by a shorthand, or by a table header that
// only one column has, e.g. "deletes" or "deleted_rows", "served by" or "served_by". It returns -1 if no column
// matches.
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

// IDColumn returns the position of the id column for a column of names, or -1 if the column does not hold the
// names of ids.
func (s *Schema) IDColumn(column int) int {
	if s.Columns[column].Name != s.Handle {
		return -1
	}
	return slices.IndexFunc(s.Columns, func(c Column) bool {
		return c.Kind == NamedID && slices.Contains(s.Names, c.Name)
	})
}

// ShownWith returns a column as displayed together with others. Its kind is a plain ID if another column holds
// the names.
func (s *Schema) ShownWith(column int, others []int) *Column {
	c := &s.Columns[column]
	if c.Kind == NamedID && slices.ContainsFunc(others, func(i int) bool { return s.IDColumn(i) == column }) {
		bare := *c
		bare.Kind = ID
		return &bare
	}
	return c
}

// titled returns the only column with a title, where underscores match blanks. It returns -1 if no column or
// several columns have the title.
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

// ColumnNames returns the names of all columns.
func (s *Schema) ColumnNames() []string {
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	return names
}

// DefaultColumns returns the columns to show: up to Always in standard tables, up to Wide in wide ones, and up to
// Hidden in JSON, YAML and CSV. It adds the columns for which more returns true, unless more is nil.
func (s *Schema) DefaultColumns(show Show, more func(column int) bool) []int {
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

// ParseColumns parses lists such as "id,rows" or "+created_at". If the first word starts with "+", it adds to the
// usual columns. The error for an unknown column is a *hints.UnknownError.
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

// SortKey is a column and direction to sort by.
type SortKey struct {
	Column     int
	Descending bool
}

// ParseSort parses lists such as "-rows,name". If words is empty, it parses DefaultSort.
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
		if label := strings.ReplaceAll(s.Columns[i].Label(), " ", "_"); s.Column(label) == i &&
			!slices.Contains(known, label) {
			labels = append(labels, label)
		}
	}
	return &hints.UnknownError{What: "column of " + s.Name, Word: name, Known: known, Also: labels}
}
