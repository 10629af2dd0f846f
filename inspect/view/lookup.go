package view

import (
	"fmt"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/hints"
	"kitescope/internal/table"
)

// NotFoundError says that a resource has no object of a name or id.
type NotFoundError struct {
	Resource *Resource
	Word     string
	// Near are names that are spelled alike.
	Near []string
}

// NotFound is the error of a word that means none of a table's objects.
func NotFound(t Table, word string) *NotFoundError {
	return &NotFoundError{t.Resource(), word, Suggest(word, table.CompleteNames(t, ""))}
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no %s %q%s", e.Resource.Singular, e.Word, hints.Meant(e.Near))
}

// AmbiguousError says that a name means several objects.
type AmbiguousError struct {
	Resource *Resource
	Word     string
	Matches  []Ref
	// Words would each have meant one of them: "docs/_default", an id.
	Words []string
}

func (e *AmbiguousError) Error() string {
	shown := e.Words
	more := ""
	if len(shown) > 8 {
		more = fmt.Sprintf(" and %d more", len(shown)-8)
		shown = shown[:8]
	}
	return fmt.Sprintf("%q means %d %s: %s%s", e.Word, len(e.Matches), e.Resource.Name, strings.Join(shown, ", "), more)
}

// Lookup finds the one row that a name or id means, as describe needs it. A word that
// means none is a *NotFoundError, one that means several an *AmbiguousError.
func Lookup(t Table, word string) (row int, err error) {
	r := t.Resource()
	// An identity as it stands in a Ref decides before names do.
	s, err := ParseSelection(r, []string{word})
	if err != nil {
		return rowOf(t, word, err)
	}
	if _, _, ok := s.Name(); !ok {
		s = Selection{table.Named(&r.Schema, word), r}
	}
	rows := s.Rows(t)
	if len(rows) == 1 {
		return int(rows[0]), nil
	}
	if row, err := rowOf(t, word, nil); err == nil {
		return row, nil
	}
	if row, ok := exactID(t, rows, word); ok {
		return row, nil
	}
	if row, ok := onlyLive(t, rows); ok {
		return row, nil
	}
	if len(rows) == 0 {
		return 0, NotFound(t, word)
	}
	e := &AmbiguousError{Resource: r, Word: word}
	for _, row := range rows {
		ref := t.Ref(int(row))
		e.Matches = append(e.Matches, ref)
		e.Words = append(e.Words, label(t, int(row), ref))
	}
	return 0, e
}

// finder is a Table that finds some rows without looking at each.
type finder interface {
	find(id string) (int, bool)
}

func (t *bound[T]) find(id string) (int, bool) {
	if t.def.find == nil {
		return 0, false
	}
	row, ok := t.def.find(t.env, id)
	// A section's table holds other rows than the resource's own.
	return row, ok && row < len(t.rows) && t.Ref(row).ID == id
}

// rowOf finds the row of a Ref's ID; otherwise it is the error given, or not found.
func rowOf(t Table, id string, otherwise error) (int, error) {
	if f, ok := t.(finder); ok {
		if row, found := f.find(id); found {
			return row, nil
		}
	}
	for row := range t.Len() {
		if t.Ref(row).ID == id {
			return row, nil
		}
	}
	if otherwise == nil {
		otherwise = &NotFoundError{Resource: t.Resource(), Word: id}
	}
	return 0, otherwise
}

// exactID prefers the object of an id to objects that are named like a number.
func exactID(t Table, rows []int32, word string) (int, bool) {
	i := t.Resource().Column("id")
	if i < 0 {
		return 0, false
	}
	found, n := 0, 0
	for _, row := range rows {
		if strconv.FormatInt(t.Cell(int(row), i).Int, 10) == word {
			found, n = int(row), n+1
		}
	}
	return found, n == 1
}

// onlyLive prefers the one object that is not being dropped.
func onlyLive(t Table, rows []int32) (int, bool) {
	i := t.Resource().Column("state")
	if i < 0 {
		return 0, false
	}
	found, n := 0, 0
	for _, row := range rows {
		if state := t.Cell(int(row), i).Text; !model.ObjectState(state).Gone() {
			found, n = int(row), n+1
		}
	}
	return found, n == 1
}

// label is a word that means one row only: its handle, with the collection in front
// where that helps a reader.
func label(t Table, row int, ref Ref) string {
	r := t.Resource()
	handle := ref.ID
	if i := r.Column(r.Handle); i >= 0 {
		if c := t.Cell(row, i); c.Absent == table.Present && r.Columns[i].Kind.Texts() {
			handle = c.Text
		} else if c.Absent == table.Present {
			handle = strconv.FormatInt(c.Int, 10)
		}
	}
	owner, ok := t.Owner(row)
	if ok && owner.Name != "" && handle == ref.ID {
		return handle + " (of " + owner.Name + ")"
	}
	return handle
}

// RowOf finds the row of an object by its Ref's ID, -1 if it is gone.
func RowOf(t Table, id string) int {
	row, err := rowOf(t, id, nil)
	if err != nil {
		return -1
	}
	return row
}
