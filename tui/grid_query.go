package tui

import (
	"errors"
	"slices"

	"kitescope/inspect/diff"
	"kitescope/inspect/view"
	"kitescope/table"
	"kitescope/words"
)

// gridRows are the rows that a grid page shows: immutable once built, but for the filter's result.
type gridRows struct {
	env   *view.Env
	table view.Table // nil until the first rows are built
	// order are positions in table, selected and sorted; nil means all, in the table's order.
	order []int32
	total int // rows before the filter
	left  int // rows that are left out as nobody asked for them
	// matched are the rows that the filter leaves, where filtered is set.
	matched  []int32
	filtered bool
	// changes says what the last refresh did to a row of table; nil if there was none before.
	changes func(row int, id string) Change
	cursor  int // where the wanted object is, -1 if it is not there
	err     error
}

func (r *gridRows) count() int {
	if r.filtered {
		return len(r.matched)
	}
	return r.total
}

// row is the position in table of the i-th row shown.
func (r *gridRows) row(i int) int {
	switch {
	case r.filtered:
		return int(r.matched[i])
	case r.order != nil:
		return int(r.order[i])
	}
	return i
}

// gridQuery is what it takes to build rows off the loop.
type gridQuery struct {
	page     *gridPage
	serial   int
	env      *view.Env
	previous *view.Env // of the refresh before, nil if there was none
	resource *view.Resource
	where    view.Selection
	all      bool
	order    []table.SortKey
	filter   filter
	columns  []int
	cursorID string
	cursorAt int
	toTop    bool     // a new order is looked at from its start
	keep     gridRows // what is shown now: a table of the same Env is used again
}

func (q *gridQuery) run() gridRows {
	r := gridRows{env: q.env, cursor: -1}
	if q.keep.env == q.env {
		r.table, r.changes = q.keep.table, q.keep.changes
	} else {
		r.table = q.resource.Table(q.env)
		r.changes = q.changed(r.table)
	}
	found, err := view.Select(r.table, view.Query{Where: q.where, Sort: sortWords(q.resource, q.order), Leave: !q.all})
	if err != nil {
		r.err = errNotRead
		return r
	}
	r.order, r.total, r.left = found.Rows, found.Len(), found.Skipped
	if !q.filter.empty() {
		r.filtered = true
		r.matched = q.match(&r)
	}
	r.cursor = find(&r, q.cursorID, q.cursorAt)
	return r
}

// sortWords are the words for an order, as a command line has them; none for the order of the model.
func sortWords(r *view.Resource, order []table.SortKey) []string {
	var names []string
	for _, k := range order {
		name := r.Columns[k.Column].Name
		if k.Descending {
			name = "-" + name
		}
		names = append(names, name)
	}
	return names
}

// errNotRead says that rows cannot be selected by what nobody looked at.
var errNotRead = errors.New("not known: this part of the metadata was not read")

func (q *gridQuery) match(r *gridRows) []int32 {
	x := newMatcher(&q.filter, r.table, q.columns)
	var found []int32
	for i := range r.total {
		row := i
		if r.order != nil {
			row = int(r.order[i])
		}
		if x.match(row) {
			found = append(found, int32(row))
		}
	}
	return found
}

// find returns where the object is among the rows, looking first where it was; -1 if nowhere.
func find(r *gridRows, id string, near int) int {
	if id == "" {
		return -1
	}
	n := r.count()
	if i := findNear(r, id, near, 64); i >= 0 {
		return i
	}
	for i := range n {
		if r.table.Ref(r.row(i)).ID == id {
			return i
		}
	}
	return -1
}

// findNear is find for the rows at most reach away from near: short enough for the loop.
func findNear(r *gridRows, id string, near, reach int) int {
	n := r.count()
	for d := range reach {
		for _, i := range [2]int{near - d, near + d} {
			if i >= 0 && i < n && r.table.Ref(r.row(i)).ID == id {
				return i
			}
		}
	}
	return -1
}

// compareLimit is the number of rows up to which every cell is compared with the
// refresh before. Above it, the changes that package diff finds have to do: it knows
// which objects two clusters share, but not what follows for other tables.
const compareLimit = 50_000

// changed compares the table with the one of the refresh before, cell by cell, both
// seen from the same moment, so that ages differ only where something happened.
func (q *gridQuery) changed(now view.Table) func(row int, id string) Change {
	if q.previous == nil || q.previous.Cluster == q.env.Cluster {
		return nil
	}
	before := q.resource.Table(q.previous)
	if pairs, ok := view.RowChanges(before, now); ok {
		return q.changedRows(now, before, pairs)
	}
	changes := q.changedCells
	if now.Len() > compareLimit {
		changes = q.changedObjects
	}
	of := changes(now, before)
	return func(_ int, id string) Change { return of[id] }
}

// changedCells compares all cells of two tables.
func (q *gridQuery) changedCells(now, before view.Table) map[string]Change {
	rows := make(map[string]int, before.Len())
	for i := range before.Len() {
		rows[before.Ref(i).ID] = i
	}
	changes := map[string]Change{}
	for i := range now.Len() {
		id := now.Ref(i).ID
		old, ok := rows[id]
		switch {
		case !ok:
			changes[id] = Added
		case !sameCells(now, i, before, old, q.columns):
			changes[id] = Changed
		}
	}
	return changes
}

// changedRows looks at those rows that may have changed, each when it is drawn: most never are.
func (q *gridQuery) changedRows(now, before view.Table, pairs []view.RowChange) func(row int, id string) Change {
	was := make(map[int]int, len(pairs))
	for _, x := range pairs {
		if x.After >= 0 {
			was[x.After] = x.Before
		}
	}
	return func(row int, _ string) Change {
		old, ok := was[row]
		switch {
		case !ok:
			return Unchanged
		case old < 0:
			return Added
		case sameCells(now, row, before, old, q.columns):
			return Unchanged
		}
		return Changed
	}
}

func (q *gridQuery) changedObjects(_, _ view.Table) map[string]Change {
	changes := map[string]Change{}
	found := diff.Compare(q.previous.Cluster, q.env.Cluster, diff.Options{})
	for i := range found.Changes {
		c := &found.Changes[i]
		if c.Object.Resource != q.resource.Name {
			continue
		}
		if c.Kind == diff.Added {
			changes[c.Object.ID] = Added
		} else {
			changes[c.Object.ID] = Changed
		}
	}
	return changes
}

func sameCells(a view.Table, i int, b view.Table, j int, columns []int) bool {
	for _, c := range columns {
		x, y := a.Cell(i, c), b.Cell(j, c)
		if x.Absent != y.Absent || x.Int != y.Int || x.Float != y.Float || x.Text != y.Text || !slices.Equal(x.List, y.List) {
			return false
		}
	}
	return true
}

// matchedMsg brings a piece of a filter's way through the rows.
type matchedMsg struct{ matching }

func (r matchedMsg) Apply(*Model) Cmd {
	g := r.page
	if r.serial != g.matchSerial.Load() {
		return nil
	}
	j := r.matching
	g.matching = &j
	g.rows.matched, g.rows.filtered = j.found, true
	if j.done() {
		g.matchBusy = ""
		return nil
	}
	g.matchBusy = "matching… " + words.Number(j.progress()) + "%"
	return match(j)
}
