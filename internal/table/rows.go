package table

import (
	"slices"
	"time"
)

// ColumnOf is a column that computes its cells from rows of type T.
type ColumnOf[T any] struct {
	Column
	// Cell returns the value. It is nil in columns that have only displayed text.
	Cell func(T) Cell
	// Shown returns the displayed text. If it is nil, the value is formatted by its kind.
	Shown func(T) string
	// Role returns the style of a cell. If it is nil, the kind determines it.
	Role func(T) Role
}

// WithTitle returns the column with a title and a displayed text. Columns with the highest priority are dropped
// first.
func (c ColumnOf[T]) WithTitle(title string, priority int, shown func(T) string) ColumnOf[T] {
	c.Title, c.Priority, c.Show, c.Shown = title, priority, Always, shown
	return c
}

// SetTitle sets the title and the displayed text of the column with the given name, in place, and returns the
// column. It panics if no column has the name.
func SetTitle[T any](columns []ColumnOf[T], name, title string, priority int, shown func(T) string) *ColumnOf[T] {
	c := &columns[slices.IndexFunc(columns, func(c ColumnOf[T]) bool { return c.Name == name })]
	*c = c.WithTitle(title, priority, shown)
	return c
}

// WideOnly returns the column, shown in wide tables only.
func (c ColumnOf[T]) WideOnly() ColumnOf[T] {
	c.Show = Wide
	return c
}

// WithVocabulary returns the column as one with a fixed vocabulary, which selections match regardless of case.
func (c ColumnOf[T]) WithVocabulary() ColumnOf[T] {
	c.Vocabulary = true
	return c
}

// WithRole returns the column with a function that computes the role of its cells.
func (c ColumnOf[T]) WithRole(role func(T) Role) ColumnOf[T] {
	c.Role = role
	return c
}

// DisplayColumn returns a right-aligned column for people only, without values.
func DisplayColumn[T any](name, title string, priority int, shown func(T) string) ColumnOf[T] {
	return ColumnOf[T]{Column: Column{Name: name, AlignRight: true, For: People}}.WithTitle(title, priority, shown)
}

// Rows is a Table of a slice of rows.
type Rows[T any] struct {
	schema  Schema
	columns []ColumnOf[T]
	rows    []T
	now     time.Time
}

// New returns a table of rows. It sets the columns of the schema to the given ones.
func New[T any](s Schema, rows []T, columns []ColumnOf[T]) *Rows[T] {
	s.Columns = make([]Column, len(columns))
	for i := range columns {
		s.Columns[i] = columns[i].Column
	}
	return &Rows[T]{schema: s, columns: columns, rows: rows}
}

// SetNow sets the reference time for relative times in selections.
func (t *Rows[T]) SetNow(now time.Time) *Rows[T] {
	t.now = now
	return t
}

// Now returns the reference time for relative times, or zero if it is unknown.
func (t *Rows[T]) Now() time.Time { return t.now }

// Schema implements Table.
func (t *Rows[T]) Schema() *Schema { return &t.schema }

// Len implements Table.
func (t *Rows[T]) Len() int { return len(t.rows) }

// At returns the row at a position.
func (t *Rows[T]) At(row int) T { return t.rows[row] }

// Cell implements Table.
func (t *Rows[T]) Cell(row, col int) Cell {
	c := &t.columns[col]
	if c.Cell == nil {
		return Cell{Text: c.Shown(t.rows[row])}
	}
	return c.Cell(t.rows[row])
}

// Shown implements Styled.
func (t *Rows[T]) Shown(row, col int) (text string, ok bool) {
	c := &t.columns[col]
	if c.Shown == nil {
		return "", false
	}
	return c.Shown(t.rows[row]), true
}

// Role implements Styled.
func (t *Rows[T]) Role(row, col int) (role Role, ok bool) {
	c := &t.columns[col]
	if c.Role == nil {
		return Plain, c.Shown != nil
	}
	return c.Role(t.rows[row]), true
}

// Of returns a cell with a text. An empty text is a value too.
func Of(s string) Cell { return Cell{Text: s} }

// OfInt returns a cell with an integer.
func OfInt[N ~int | ~int32 | ~int64](n N) Cell { return Cell{Int: int64(n)} }

// OfFloat returns a cell with a number, or an unknown cell for NaN.
func OfFloat(f float64) Cell {
	if f != f {
		return Cell{Absent: Unknown}
	}
	return Cell{Float: f}
}

// OfBool returns a cell with a boolean.
func OfBool(b bool) Cell {
	if b {
		return Cell{Int: 1}
	}
	return Cell{}
}

// OfNone returns the cell of a value that does not exist.
func OfNone() Cell { return Cell{Absent: None} }

// OfUnknown returns the cell of a value that was not read.
func OfUnknown() Cell { return Cell{Absent: Unknown} }

// OfCount returns a cell with a number of events, or an unknown cell if n is negative.
func OfCount(n int64) Cell {
	if n < 0 {
		return OfUnknown()
	}
	return Cell{Int: n}
}

// OfTime returns a cell with a time, or an unknown cell for the zero time.
func OfTime(t time.Time) Cell {
	if t.IsZero() {
		return OfUnknown()
	}
	return Cell{Int: t.UnixNano()}
}

// OfList returns a cell with a list of texts.
func OfList(list []string) Cell { return Cell{List: list} }
