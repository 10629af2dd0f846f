package table

import (
	"slices"
	"time"
)

// ColumnOf is a column and how its cells are computed from a row of type T.
type ColumnOf[T any] struct {
	Column
	// Cell is the value; nil in columns of which there is only what people see.
	Cell func(T) Cell
	// Shown is what people see instead of the value as its kind is written; nil: nothing else.
	Shown func(T) string
	// Role is how it looks; nil: as its kind does.
	Role func(T) Role
}

// Titled is the column with a title, under which people see a text instead of the value; the highest priority is dropped first.
func (c ColumnOf[T]) Titled(title string, priority int, shown func(T) string) ColumnOf[T] {
	c.Title, c.Priority, c.Show, c.Shown = title, priority, Always, shown
	return c
}

// Titled gives that of the columns a title that has the name, as the method does.
func Titled[T any](columns []ColumnOf[T], name, title string, priority int, shown func(T) string) *ColumnOf[T] {
	c := &columns[slices.IndexFunc(columns, func(c ColumnOf[T]) bool { return c.Name == name })]
	*c = c.Titled(title, priority, shown)
	return c
}

// Wider is the column in wide tables only.
func (c ColumnOf[T]) Wider() ColumnOf[T] {
	c.Show = Wide
	return c
}

// Word is the column as one of fixed words, which selections find in any case.
func (c ColumnOf[T]) Word() ColumnOf[T] {
	c.Vocabulary = true
	return c
}

// Looking is the column with the look of its cells.
func (c ColumnOf[T]) Looking(role func(T) Role) ColumnOf[T] {
	c.Role = role
	return c
}

// Picture is a column of what people see only, which stands on the right.
func Picture[T any](name, title string, priority int, shown func(T) string) ColumnOf[T] {
	return ColumnOf[T]{Column: Column{Name: name, Right: true, For: People}}.Titled(title, priority, shown)
}

// Rows is a slice of rows with columns.
type Rows[T any] struct {
	schema  Schema
	columns []ColumnOf[T]
	rows    []T
	now     time.Time
}

// New makes a table of rows. The columns of the schema are those given.
func New[T any](s Schema, rows []T, columns []ColumnOf[T]) *Rows[T] {
	s.Columns = make([]Column, len(columns))
	for i := range columns {
		s.Columns[i] = columns[i].Column
	}
	return &Rows[T]{schema: s, columns: columns, rows: rows}
}

// From sets what relative times in selections count from.
func (t *Rows[T]) From(now time.Time) *Rows[T] {
	t.now = now
	return t
}

// Now returns what relative times count from, zero if it is unknown.
func (t *Rows[T]) Now() time.Time { return t.now }

// Schema implements Table.
func (t *Rows[T]) Schema() *Schema { return &t.schema }

// Len implements Table.
func (t *Rows[T]) Len() int { return len(t.rows) }

// At is the row at a position.
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

// Of is the cell of a text; "" is a text, too.
func Of(s string) Cell { return Cell{Text: s} }

// OfInt is the cell of a whole number.
func OfInt[N ~int | ~int32 | ~int64](n N) Cell { return Cell{Int: int64(n)} }

// OfFloat is the cell of a number, unknown where it is none.
func OfFloat(f float64) Cell {
	if f != f {
		return Cell{Absent: Unknown}
	}
	return Cell{Float: f}
}

// OfBool is the cell of what is true or not.
func OfBool(b bool) Cell {
	if b {
		return Cell{Int: 1}
	}
	return Cell{}
}

// OfNone is the cell of a value that does not exist.
func OfNone() Cell { return Cell{Absent: None} }

// OfUnknown is the cell of what was not looked at.
func OfUnknown() Cell { return Cell{Absent: Unknown} }

// OfCount is the cell of a number of events, -1 where it is unknown.
func OfCount(n int64) Cell {
	if n < 0 {
		return OfUnknown()
	}
	return Cell{Int: n}
}

// OfTime is the cell of a moment, unknown where it is zero.
func OfTime(t time.Time) Cell {
	if t.IsZero() {
		return OfUnknown()
	}
	return Cell{Int: t.UnixNano()}
}

// OfList is the cell of a list of texts.
func OfList(list []string) Cell { return Cell{List: list} }
