package view

import (
	"fmt"
	"strconv"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/hints"
	"kitescope/internal/table"
)

// NotFoundError is the error for a name or id that a resource does not have.
type NotFoundError struct {
	Resource *Resource
	Word     string
	// Suggestions holds names with a similar spelling.
	Suggestions []string
}

// NotFound returns the error for a word that matches no object of a table.
func NotFound(t Table, word string) *NotFoundError {
	return &NotFoundError{t.Resource(), word, Suggest(word, table.CompleteNames(t, ""))}
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no %s %q%s", e.Resource.Singular, e.Word, hints.Suggestion(e.Suggestions))
}

// AmbiguousError is the error for a name that matches several objects.
type AmbiguousError struct {
	Resource *Resource
	Word     string
	Matches  []Ref
	// Words holds unambiguous names of the matches: "docs/_default", an id.
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

// Lookup returns the one row that a name or id matches, for describe. It returns a *NotFoundError if there is
// none, and an *AmbiguousError if there are several.
func Lookup(t Table, word string) (row int, err error) {
	r := t.Resource()
	// The id of a Ref takes precedence over names.
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
	if row, ok := soleLive(t, rows); ok {
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

// finder is a Table that can find some rows without a search.
type finder interface {
	find(id string) (int, bool)
}

func (t *boundTable[T]) find(id string) (int, bool) {
	if t.def.find == nil {
		return 0, false
	}
	row, ok := t.def.find(t.env, id)
	// The table of a section holds other rows than the whole resource.
	return row, ok && row < len(t.rows) && t.Ref(row).ID == id
}

// rowOf returns the row of a Ref's ID. If there is none, it returns the given error, or a *NotFoundError if
// that is nil.
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

// exactID returns the row whose id is word. It decides between an object with this id and objects with this
// name.
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

// soleLive returns the one row that is not dropped or being dropped.
func soleLive(t Table, rows []int32) (int, bool) {
	i := t.Resource().Column("state")
	if i < 0 {
		return 0, false
	}
	found, n := 0, 0
	for _, row := range rows {
		if state := t.Cell(int(row), i).Text; !model.ObjectState(state).Dropped() {
			found, n = int(row), n+1
		}
	}
	return found, n == 1
}

// label returns a word that matches only this row: its handle, with the owner's name added if the handle is
// just the id.
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

// RowOf returns the row of a Ref's ID, or -1.
func RowOf(t Table, id string) int {
	row, err := rowOf(t, id, nil)
	if err != nil {
		return -1
	}
	return row
}
