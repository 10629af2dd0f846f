package tui

import (
	"strings"

	"kitescope/internal/words"
)

// Can says why an action is not possible, "" if it is.
func (l *List[T]) Can(m *Model, a Action) string {
	_, ok := l.Current()
	switch a {
	case ActOpen, ActCopyRow:
		if !ok {
			return "there is no row"
		}
	case ActFilter, ActSortNext, ActSortPrevious, ActSort, ActSave:
		if len(l.All) == 0 {
			return "there is no row"
		}
	}
	return ""
}

// Act does what all lists do.
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
		l.sortBeside(m, 1)
	case ActSortPrevious:
		l.sortBeside(m, -1)
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

// sortBeside sorts by the next column to the right, or to the left.
func (l *List[T]) sortBeside(m *Model, step int) {
	var names []string
	for _, c := range l.Columns(m.Width) {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	if l.AsItCame != "" {
		names = append(names, "")
	}
	l.Sorted, l.Ascending = neighbour(names, l.Sorted, step), false
	if l.Sorted == "" {
		m.Say(ToneInfo, l.AsItCame)
	}
	l.arrange()
}

// SortMenu offers the columns that a list may be sorted by; done is called after a choice.
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
		n.Items = append(n.Items, MenuItem{Text: strings.ToLower(c.Title), Note: note, Run: func(m *Model, _ *Menu) Cmd {
			l.sortBy(&c)
			done(m)
			return nil
		}})
	}
	if l.AsItCame != "" {
		n.Items = append(n.Items, MenuItem{Text: l.AsItCame, Run: func(m *Model, _ *Menu) Cmd {
			l.Sorted, l.Ascending = "", false
			l.reorder()
			done(m)
			return nil
		}})
	}
	return n
}

// neighbour is what stands a step beside something in a list, which is a ring.
func neighbour[T comparable](list []T, of T, step int) T {
	at := -1
	for i := range list {
		if list[i] == of {
			at = i
		}
	}
	return list[(at+step+len(list))%len(list)]
}

// sortBy sorts by a column; once more reverses.
func (l *List[T]) sortBy(c *Column[T]) {
	if c.Name != "" {
		l.Ascending = l.Sorted == c.Name && !l.Ascending
		l.Sorted = c.Name
		l.reorder()
	}
}

func (l *List[T]) reorder() {
	at, ok := l.Current()
	l.choose(at, ok && !l.Stays)
}

func (l *List[T]) filterPrompt() *Prompt {
	return FilterPrompt(l.Filter,
		func(_ *Model, text string) Cmd { l.Find(text); return nil },
		l.Status, func(_ *Model, a Action) { l.Move(a, len(l.Shown)) })
}

// FilterNote is what a page's note says of a filter; nothing, if there is none.
func FilterNote(filter string) []string {
	if filter == "" {
		return nil
	}
	return []string{"/" + filter}
}

// Status says how many rows the filter leaves.
func (l *List[T]) Status(*Model) string { return words.Plural(len(l.Shown), l.Noun) }

// FilterPrompt is a line that filters while it is typed, and moves the cursor by pages; esc takes back what was typed.
func FilterPrompt(before string, set func(m *Model, text string) Cmd, status func(*Model) string, move func(*Model, Action)) *Prompt {
	p := &Prompt{
		Sign:      "/",
		Changed:   set,
		Accepted:  func(*Model, string) Cmd { return nil },
		Cancelled: func(m *Model) Cmd { return set(m, before) },
		Status:    status,
		Move:      func(m *Model, a Action) Cmd { move(m, a); return nil },
	}
	p.set(before)
	return p
}

// ClickAt puts the cursor on the row at a place of the page's body, or sorts by a title there. Again reports that the
// cursor was there already.
func (l *List[T]) ClickAt(x, y int) (again bool) {
	if x >= l.w {
		return false
	}
	y -= l.Above
	if y == 0 {
		if j := l.columnAt(x); j >= 0 {
			l.sortBy(&l.Columns(l.w)[j])
		}
		return false
	}
	i := l.top + y - 1
	if y < 0 || y > l.height || i >= len(l.Shown) {
		return false
	}
	again = i == l.Cursor
	l.Cursor = i
	return again
}

// Wheel moves the cursor.
func (l *List[T]) Wheel(_ *Model, lines int) {
	l.Cursor += lines
	l.clamp(len(l.Shown))
}

// Clicked is a click on a page that is a list: on the row under the cursor it opens it.
func (l *List[T]) Clicked(m *Model, p Page, x, y int) Cmd {
	if l.ClickAt(x, y) && p.Can(m, ActOpen) == "" {
		return p.Act(m, ActOpen)
	}
	return nil
}
