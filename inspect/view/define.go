package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// column is a table.Column with the function that computes its cells from a row of type T.
type column[T any] struct {
	table.Column
	// needs lists the parts of the metadata without which the cells are unknown.
	needs model.Part
	// live marks a column with data from the processes. Tables include it once the processes were queried,
	// even if it is Wide or Hidden.
	live bool
	// from is the narrowest table that includes a live column.
	from table.Show
	cell func(*Env, T) table.Cell
}

// col returns a column. The default title is the name without its unit, e.g. "SIZE" for size_bytes.
func col[T any](c table.Column, cell func(*Env, T) table.Cell) column[T] {
	if c.Title == "" {
		name := c.Name
		for _, unit := range []string{"_seconds", "_bytes", "_percent"} {
			name = strings.TrimSuffix(name, unit)
		}
		c.Title = strings.ToUpper(strings.ReplaceAll(name, "_", " "))
	}
	return column[T]{Column: c, cell: cell}
}

func (c column[T]) withNeeds(parts model.Part) column[T] {
	c.needs = parts
	return c
}

func (c column[T]) asLive() column[T] {
	c.live = true
	return c
}

// definition describes a resource. define turns it into a Resource.
type definition[T any] struct {
	Resource
	rows     func(*Env) []T
	columns  []column[T]
	ref      func(*Env, T) Ref
	owner    func(*Env, T) (Ref, bool)
	omitted  func(*Env, T) bool // reports whether Resource.Omits applies to a row; nil if to none
	links    func(*Env, T) []Link
	sections func(*scope, T) []Section
	// find returns the position of a Ref's ID among all rows. It is nil if the only way is to search all
	// rows.
	find func(e *Env, id string) (int, bool)
	// key returns the key of the object's record, for clusters without a Keyspace. It is nil if the objects
	// do not have it.
	key func(*Env, T) string
}

// scope holds the data that sections are made from. A resource finds another by name because package
// variables must not refer to each other in a cycle.
type scope struct {
	*Env
	peers []*Resource
}

// define turns a definition into a Resource and fills in defaults: "load-states" has the singular
// "load-state" and the kind "LoadState", and the handle, which -o name prints, is the first of its Names.
func define[T any](d definition[T]) *Resource {
	r := d.Resource
	r.Singular = cmp.Or(r.Singular, strings.TrimSuffix(r.Name, "s"))
	if r.Kind == "" {
		for word := range strings.SplitSeq(r.Singular, "-") {
			r.Kind += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	if r.Handle == "" {
		r.Handle = r.Names[0]
	}
	d.columns = append(slices.Clone(d.columns), findingColumns(r.Name, d.ref)...)
	r.Columns, r.more = make([]table.Column, len(d.columns)), make([]facts, len(d.columns))
	for i := range d.columns {
		r.Columns[i], r.more[i] = d.columns[i].Column, facts{d.columns[i].needs, d.columns[i].live, d.columns[i].from}
	}
	r.def = &d
	r.bind = func(r *Resource, env *Env) Table {
		return &boundTable[T]{resource: r, def: &d, env: env, rows: d.rows(env)}
	}
	return &r
}

type boundTable[T any] struct {
	resource *Resource
	def      *definition[T]
	env      *Env
	rows     []T
}

func (t *boundTable[T]) Resource() *Resource   { return t.resource }
func (t *boundTable[T]) Schema() *table.Schema { return &t.resource.Schema }
func (t *boundTable[T]) Env() *Env             { return t.env }
func (t *boundTable[T]) Len() int              { return len(t.rows) }

func (t *boundTable[T]) Cell(row, col int) table.Cell {
	c := &t.def.columns[col]
	if c.needs != 0 && !t.env.Loaded().Has(c.needs) {
		return table.Cell{Absent: table.Unknown}
	}
	return c.cell(t.env, t.rows[row])
}

func (t *boundTable[T]) Ref(row int) Ref {
	ref := t.def.ref(t.env, t.rows[row])
	ref.Resource = t.resource.Name
	return ref
}

// Omitted implements Table.
func (t *boundTable[T]) Omitted(row int) bool {
	return t.def.omitted != nil && t.def.omitted(t.env, t.rows[row])
}

func (t *boundTable[T]) Owner(row int) (Ref, bool) {
	if t.def.owner == nil {
		return Ref{}, false
	}
	return t.def.owner(t.env, t.rows[row])
}

func (t *boundTable[T]) Links(row int) []Link {
	if t.def.links == nil {
		return nil
	}
	return t.def.links(t.env, t.rows[row])
}

func (t *boundTable[T]) Describe(row int) *Description {
	d := &Description{Ref: t.Ref(row), Resource: t.resource}
	var columns []int
	for i := range t.resource.Columns {
		if t.resource.Columns[i].For == table.People || t.resource.more[i].needs.Has(PartFindings) {
			continue // a description has exact values, and findings are not part of it
		}
		columns = append(columns, i)
	}
	for _, i := range columns {
		d.Fields = append(d.Fields, Field{Column: t.resource.ShownWith(i, columns), Cell: t.Cell(row, i)})
	}
	if t.def.sections != nil {
		d.Sections = t.def.sections(&scope{t.env, t.resource.peers}, t.rows[row])
	}
	d.Records = t.records(row, d.Ref)
	return d
}

// records returns the keys of an object from the keyspace, which has all of them, otherwise the key of the
// object's own record.
func (t *boundTable[T]) records(row int, ref Ref) []string {
	if t.env.Cluster.Keyspace != nil {
		if keys := t.env.Cluster.Keyspace.ObjectKeys(ref.Resource, ref.ID); len(keys) > 0 {
			return keys
		}
	}
	if t.def.key == nil {
		return nil
	}
	if key := t.def.key(t.env, t.rows[row]); key != "" {
		return []string{key}
	}
	return nil
}

// linkPeers sets the peers of each resource to the whole list, and returns the list.
func linkPeers(list ...*Resource) []*Resource {
	for _, r := range list {
		r.peers = list
	}
	return list
}

// section returns a section with rows of another resource, found by name. columns are column names. The
// default is the columns of table.Always.
func section[T any](s *scope, title, resource string, rows []T, columns ...string) Section {
	i := slices.IndexFunc(s.peers, func(r *Resource) bool { return r.Name == resource })
	return sectionOf(s, title, s.peers[i], rows, columns...)
}

// sectionOf is like section but takes the resource, e.g. one that only sections use.
func sectionOf[T any](s *scope, title string, r *Resource, rows []T, columns ...string) Section {
	g := NewGrid(tableOf(s.Env, r, rows...), nil, nil)
	if len(columns) == 0 {
		g.Columns = r.ColumnsFor(table.Always, s.Cluster.Loaded)
	}
	for _, name := range columns {
		g.Columns = append(g.Columns, r.Column(name))
	}
	return Section{Title: title, Grid: g, Unknown: !s.Cluster.Loaded.Has(r.Needs)}
}

// The functions below construct cells. An empty text and a zero time give None. An empty list stays a list.

func text(s string) table.Cell {
	if s == "" {
		return table.Cell{Absent: table.None}
	}
	return table.Cell{Text: s}
}

func id[T ~int64](v T) table.Cell    { return table.Cell{Int: int64(v)} }
func count(v int64) table.Cell       { return table.Cell{Int: v} }
func unknown() table.Cell            { return table.Cell{Absent: table.Unknown} }
func none() table.Cell               { return table.Cell{Absent: table.None} }
func list(items []string) table.Cell { return table.Cell{List: items} }

// idOrNone returns the cell of an id. 0 is none.
func idOrNone[T ~int64](v T) table.Cell {
	if v == 0 {
		return none()
	}
	return table.Cell{Int: int64(v)}
}

// countOrNone returns the cell of a count. 0 is none because it means that nothing was recorded.
func countOrNone[T ~int32 | ~int64](v T) table.Cell {
	if v == 0 {
		return none()
	}
	return table.Cell{Int: int64(v)}
}

func percent(part, whole int64) table.Cell {
	if whole == 0 {
		return none()
	}
	return table.Cell{Float: 100 * float64(part) / float64(whole)}
}

// age returns the time from t to the Env's now. It is at least 0 because clocks differ, none if t is zero,
// and unknown without a now.
func age(e *Env, t time.Time) table.Cell {
	if t.IsZero() {
		return none()
	}
	if e.Now.IsZero() {
		return unknown()
	}
	return table.Cell{Int: int64(max(0, e.Now.Sub(t)))}
}

// ids returns the cell of a list of ids in the given order.
func ids[T ~int64](list []T) table.Cell {
	if len(list) == 0 {
		return table.Cell{}
	}
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = strconv.FormatInt(int64(v), 10)
	}
	return table.Cell{List: out}
}

func yesNo(b bool) table.Cell {
	if b {
		return table.Cell{Int: 1}
	}
	return table.Cell{}
}

func timeCell(t time.Time) table.Cell {
	if t.IsZero() {
		return none()
	}
	return table.Cell{Int: t.UnixNano()}
}

func tso(t model.TSO) table.Cell { return timeCell(t.Time()) }

func pairs(list []model.Pair) table.Cell {
	flat := make([]string, 0, 2*len(list))
	for _, p := range list {
		flat = append(flat, p.Key, p.Value)
	}
	return table.Cell{List: flat}
}
