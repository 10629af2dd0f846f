package tui

import (
	"slices"
	"strings"

	"kitescope/internal/words"
)

// Can returns the reason why an action is not possible, or "" if it is possible.
func (l *List[T]) Can(m *Model, a Action) string {
	_, ok := l.Current()
	switch a {
	case ActOpen, ActCopyRow:
		if !ok {
			return "no row selected"
		}
	case ActFilter, ActSortNext, ActSortPrevious, ActSort, ActSave:
		if len(l.All) == 0 {
			return "no rows"
		}
	}
	return ""
}

// Act performs the actions that all lists share.
func (l *List[T]) Act(m *Model, a Action) Cmd {
	if l.Move(a, len(l.Shown)) {
		return nil
	}
	switch a {
	case ActBack:
		if l.Filter == "" {
			return m.Back()
		}
		l.Find("")
	case ActOpen:
		row, _ := l.Current()
		return l.Open(m, row)
	case ActSortNext:
		l.sortNeighbor(m, 1)
	case ActSortPrevious:
		l.sortNeighbor(m, -1)
	case ActSort:
		m.Menu = l.SortMenu(func(*Model) {})
	case ActFilter:
		m.Prompt = l.filterPrompt()
	case ActCopyRow:
		row, _ := l.Current()
		return m.Copy(strings.Join(CellsOf(l.Columns(WideTable), row), "\t")+"\n", "1 row")
	case ActSave:
		m.Menu = l.Save()
	}
	return nil
}

// sortNeighbor sorts by the next column to the right, or to the left.
func (l *List[T]) sortNeighbor(m *Model, step int) {
	var names []string
	for _, c := range l.Columns(m.Width) {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	if l.OriginalOrder != "" {
		names = append(names, "")
	}
	l.Sorted, l.Ascending = neighbour(names, l.Sorted, step), false
	if l.Sorted == "" {
		m.Notify(ToneInfo, l.OriginalOrder)
	}
	l.arrange()
}

// SortMenu offers the columns that the list can be sorted by. It calls done after a choice.
func (l *List[T]) SortMenu(done func(m *Model)) *Menu {
	n := &Menu{Title: "sort by"}
	for _, c := range l.Columns(WideTable) {
		if c.Name == "" {
			continue
		}
		note := ""
		if c.Name == l.Sorted {
			n.at, note = len(n.Items), "again: reverse"
		}
		n.Items = append(n.Items, MenuItem{Text: c.Label(), Note: note, Run: func(m *Model, _ *Menu) Cmd {
			l.sortBy(&c)
			done(m)
			return nil
		}})
	}
	if l.OriginalOrder != "" {
		n.Items = append(n.Items, MenuItem{Text: l.OriginalOrder, Run: func(m *Model, _ *Menu) Cmd {
			l.Sorted, l.Ascending = "", false
			l.reorder()
			done(m)
			return nil
		}})
	}
	return n
}

// neighbour returns the element step positions after from in a circular list. If from is not in the list, it counts
// from the first.
func neighbour[T comparable](list []T, from T, step int) T {
	at := max(0, slices.Index(list, from)) // most lists are in the order of their first column
	return list[(at+step+len(list))%len(list)]
}

// sortBy sorts by a column, or reverses the order if the list is already sorted by it.
func (l *List[T]) sortBy(c *Column[T]) {
	if c.Name != "" {
		l.Ascending = l.Sorted == c.Name && !l.Ascending
		l.Sorted = c.Name
		l.reorder()
	}
}

func (l *List[T]) reorder() {
	at, ok := l.Current()
	l.refresh(at, ok && !l.KeepLine)
}

func (l *List[T]) filterPrompt() *Prompt {
	return FilterPrompt(l.Filter, func(_ *Model, text string) Cmd { l.Find(text); return nil }, l.Status)
}

// FilterNote returns the part of a page's note about a filter, nil if there is none.
func FilterNote(filter string) []string {
	if filter == "" {
		return nil
	}
	return []string{"/" + filter}
}

// Status returns the number of rows that match the filter.
func (l *List[T]) Status(*Model) string { return words.Plural(len(l.Shown), l.Noun) }

// FilterPrompt returns a prompt that filters while the user types; esc restores the filter before.
func FilterPrompt(before string, set func(m *Model, text string) Cmd, status func(*Model) string) *Prompt {
	p := &Prompt{
		Sign:      "/",
		Changed:   set,
		Accepted:  func(*Model, string) Cmd { return nil },
		Cancelled: func(m *Model) Cmd { return set(m, before) },
		Status:    status,
	}
	p.set(before)
	return p
}
