package view

import (
	"slices"
	"time"

	"kitescope/inspect/model"
)

// column is a Column and how its cells are computed from a row of type T.
type column[T any] struct {
	Column
	cell func(*Env, T) Cell
}

// definition is what a resource's file says about it; define makes the Resource.
type definition[T any] struct {
	Resource
	rows     func(*Env) []T
	columns  []column[T]
	ref      func(*Env, T) Ref
	owner    func(*Env, T) (Ref, bool)
	links    func(*Env, T) []Link
	sections func(*Env, T) []Section
	records  func(*Env, T) []string
}

// define turns a definition into a Resource.
func define[T any](d definition[T]) *Resource {
	r := d.Resource
	for i := range d.columns {
		r.Columns = append(r.Columns, d.columns[i].Column)
	}
	r.bind = func(r *Resource, env *Env) Table {
		return &table[T]{resource: r, def: &d, env: env, rows: d.rows(env)}
	}
	return &r
}

type table[T any] struct {
	resource *Resource
	def      *definition[T]
	env      *Env
	rows     []T
}

func (t *table[T]) Resource() *Resource { return t.resource }
func (t *table[T]) Env() *Env           { return t.env }
func (t *table[T]) Len() int            { return len(t.rows) }

func (t *table[T]) Cell(row, col int) Cell {
	c := &t.def.columns[col]
	if c.Needs != 0 && !t.env.Cluster.Loaded.Has(c.Needs) {
		return Cell{Absent: Unknown}
	}
	return c.cell(t.env, t.rows[row])
}

func (t *table[T]) Ref(row int) Ref {
	ref := t.def.ref(t.env, t.rows[row])
	ref.Resource = t.resource.Name
	return ref
}

func (t *table[T]) Owner(row int) (Ref, bool) {
	if t.def.owner == nil {
		return Ref{}, false
	}
	return t.def.owner(t.env, t.rows[row])
}

func (t *table[T]) Links(row int) []Link {
	if t.def.links == nil {
		return nil
	}
	return t.def.links(t.env, t.rows[row])
}

func (t *table[T]) Describe(row int) *Description {
	d := &Description{Ref: t.Ref(row), Resource: t.resource}
	for i := range t.resource.Columns {
		d.Fields = append(d.Fields, Field{Column: t.resource.Columns[i], Cell: t.Cell(row, i)})
	}
	if t.def.sections != nil {
		d.Sections = t.def.sections(t.env, t.rows[row])
	}
	if t.def.records != nil {
		d.Records = slices.Compact(slices.Sorted(slices.Values(t.def.records(t.env, t.rows[row]))))
	}
	return d
}

// Constructors of cells. An empty text, a zero time and a nil list are None.

func text(s string) Cell {
	if s == "" {
		return Cell{Absent: None}
	}
	return Cell{Text: s}
}

func id[T ~int64](v T) Cell    { return Cell{Int: int64(v)} }
func count(v int64) Cell       { return Cell{Int: v} }
func unknown() Cell            { return Cell{Absent: Unknown} }
func none() Cell               { return Cell{Absent: None} }
func list(items []string) Cell { return Cell{List: items} }

func yesNo(b bool) Cell {
	if b {
		return Cell{Int: 1}
	}
	return Cell{}
}

func at(t time.Time) Cell {
	if t.IsZero() {
		return none()
	}
	return Cell{Int: t.UnixNano()}
}

func tso(t model.TSO) Cell { return at(t.Time()) }

func pairs(list []model.Pair) Cell {
	flat := make([]string, 0, 2*len(list))
	for _, p := range list {
		flat = append(flat, p.Key, p.Value)
	}
	return Cell{List: flat}
}
