package expr

import (
	"fmt"
	"slices"

	"kitescope/engine"
	"kitescope/engine/binlog"
)

// Plan is a checked expression. It is immutable and safe for concurrent use.
type Plan struct {
	Text   string
	root   step // if nil, all rows pass
	fields []int64
}

// Fields returns the ids of the fields whose columns the plan reads.
func (p *Plan) Fields() []int64 { return slices.Clone(p.fields) }

// Columns holds the values of a segment by field id. All columns have Rows rows. A missing field was added
// after the segment was written: its rows have its default, or null.
type Columns struct {
	Rows   int
	Fields map[int64]*binlog.Column
}

// step is a part of a plan that selects rows.
type step interface {
	rows(e *evaluation) (selection, error)
}

// selection holds the rows that pass a step, and the rows whose result is known (all if valid is nil). A row whose
// result is unknown does not pass.
type selection struct{ pass, valid []uint64 }

// Excluded returns the rows that a search skips: those that do not pass. It returns an error that names the column
// if a column does not match the schema.
func (p *Plan) Excluded(c *Columns) (*engine.Bitset, error) {
	left := engine.NewBitset(c.Rows)
	if err := p.ExcludeInto(c, left); err != nil {
		return nil, err
	}
	return left, nil
}

// ExcludeInto is like Excluded, but writes to an existing bitset of c.Rows rows.
func (p *Plan) ExcludeInto(c *Columns, left *engine.Bitset) error {
	if p.root == nil {
		left.Reset()
		return nil
	}
	f, err := p.root.rows(&evaluation{columns: c})
	if err != nil {
		return fmt.Errorf("filter %s: %w", quoteShort(p.Text), err)
	}
	left.Assign(f.pass)
	left.Invert()
	return nil
}

// evaluation holds the state of a plan over the columns of a segment.
type evaluation struct {
	columns  *Columns
	defaults map[int64]*binlog.Column // columns of fields that the logs lack
}

func (e *evaluation) words() []uint64 { return make([]uint64, (e.columns.Rows+63)/64) }

// column returns the values of a field.
func (e *evaluation) column(f *Field) (*binlog.Column, error) {
	if c := e.columns.Fields[f.ID]; c != nil {
		if err := fits(c, f, e.columns.Rows); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		return c, nil
	}
	if c := e.defaults[f.ID]; c != nil {
		return c, nil
	}
	if f.Default == nil && !f.Nullable {
		return nil, fmt.Errorf("field %s is in no log of the segment, and has no default", f.Name)
	}
	if e.defaults == nil {
		e.defaults = map[int64]*binlog.Column{}
	}
	c := constant(f, e.columns.Rows)
	e.defaults[f.ID] = c
	return c, nil
}

// fits returns an error unless a column has rows values of the kind that the field needs.
func fits(c *binlog.Column, f *Field, rows int) error {
	have := len(c.Int64s)
	switch kindOf(f.Type) {
	case Float:
		have = len(c.Floats)
	case Text, List, NoValue:
		have = len(c.Strings)
	case Bool, Int:
	}
	if have != rows {
		return fmt.Errorf("%d values of type %v where %d of %v are expected", have, c.Type, rows, f.Type)
	}
	return nil
}

// kindOf returns the kind in which values of a type are stored: List for arrays, and NoValue for JSON, whose
// values are text to be parsed.
func kindOf(t binlog.Type) Kind {
	switch t {
	case binlog.Bool:
		return Bool
	case binlog.Float, binlog.Double:
		return Float
	case binlog.String, binlog.VarChar, binlog.Text:
		return Text
	case binlog.Array:
		return List
	case binlog.JSON, binlog.Geometry:
		return NoValue
	default:
		return Int
	}
}

// constant returns a column in which each row has the default of a field, or null.
func constant(f *Field, rows int) *binlog.Column {
	c := &binlog.Column{Descriptor: binlog.Descriptor{Field: f.ID, Type: f.Type}, Rows: rows}
	v := f.Default
	if v == nil {
		v, c.Valid = &Value{}, engine.NewBitset(rows)
	}
	switch kindOf(f.Type) {
	case Float:
		c.Floats = slices.Repeat([]float64{v.number()}, rows)
	case Text, List, NoValue:
		c.Strings = slices.Repeat([]string{v.Text}, rows)
	case Bool:
		n := int64(0)
		if v.Bool {
			n = 1
		}
		c.Int64s = slices.Repeat([]int64{n}, rows)
	default:
		c.Int64s = slices.Repeat([]int64{v.Int}, rows)
	}
	return c
}

// excludeNulls excludes the null rows of a column from f and marks them as unknown.
func excludeNulls(f selection, c *binlog.Column) selection {
	if c.Valid == nil {
		return f
	}
	f.valid = make([]uint64, len(f.pass))
	copy(f.valid, c.Valid.Words())
	for i, w := range f.valid {
		f.pass[i] &= w
	}
	return f
}

// andStep and orStep combine steps by "and" and "or"; notStep is "not".
type (
	andStep []step
	orStep  []step
	notStep struct{ step step }
)

func (s andStep) rows(e *evaluation) (selection, error) {
	return combine(e, s, func(to, from []uint64) {
		for i, w := range from {
			to[i] &= w
		}
	})
}

func (s orStep) rows(e *evaluation) (selection, error) {
	return combine(e, s, func(to, from []uint64) {
		for i, w := range from {
			to[i] |= w
		}
	})
}

// combine merges the rows of steps. The known rows are those of the first step, as in PhyConjunctFilterExpr.
func combine(e *evaluation, steps []step, put func(to, from []uint64)) (selection, error) {
	result, err := steps[0].rows(e)
	if err != nil {
		return selection{}, err
	}
	for _, s := range steps[1:] {
		f, err := s.rows(e)
		if err != nil {
			return selection{}, err
		}
		put(result.pass, f.pass)
	}
	return result, nil
}

func (s notStep) rows(e *evaluation) (selection, error) {
	f, err := s.step.rows(e)
	if err != nil {
		return f, err
	}
	for i, w := range f.pass {
		f.pass[i] = ^w
		if f.valid != nil {
			f.pass[i] &= f.valid[i]
		}
	}
	trim(f.pass, e.columns.Rows)
	return f, nil
}

// trim clears the bits after the last row.
func trim(words []uint64, rows int) {
	if rest := rows & 63; rest != 0 {
		words[len(words)-1] &= 1<<rest - 1
	}
}

// nullTest selects the null rows of a field or, if valid is set, the other rows.
type nullTest struct {
	field *Field
	valid bool
}

func (s *nullTest) rows(e *evaluation) (selection, error) {
	c, err := e.column(s.field)
	if err != nil {
		return selection{}, err
	}
	pass := e.words()
	if c.Valid != nil {
		copy(pass, c.Valid.Words())
	} else {
		for i := range pass {
			pass[i] = ^uint64(0)
		}
		trim(pass, e.columns.Rows)
	}
	f := selection{pass: pass}
	if !s.valid {
		return notStep{fixedRows{f}}.rows(e)
	}
	return f, nil
}

// fixedRows is a step with precomputed rows.
type fixedRows struct{ selection }

func (s fixedRows) rows(*evaluation) (selection, error) { return s.selection, nil }

// constantStep selects all rows, or none.
type constantStep bool

func (s constantStep) rows(e *evaluation) (selection, error) {
	f := selection{pass: e.words()}
	if s {
		return notStep{fixedRows{f}}.rows(e)
	}
	return f, nil
}
