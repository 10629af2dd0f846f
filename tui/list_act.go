package tui

import (
	"strings"

	"kitescope/words"
)

// can says why an action is not possible, "" if it is.
func (l *list[T]) can(m *Model, a action) string {
	_, ok := l.current()
	switch a {
	case actOpen, actCopyRow:
		if !ok {
			return "there is no row"
		}
	case actFilter, actSortNext, actSortPrevious, actSortReverse, actSave:
		if len(l.all) == 0 {
			return "there is no row"
		}
	default:
	}
	return ""
}

// act does what all lists do.
func (l *list[T]) act(m *Model, a action) cmd {
	if l.move(a, len(l.shown)) {
		return nil
	}
	switch a {
	case actBack:
		if l.filter == "" {
			return m.back()
		}
		l.find("")
	case actOpen:
		row, _ := l.current()
		return l.open(m, row)
	case actSortNext:
		l.sortBeside(m, 1)
	case actSortPrevious:
		l.sortBeside(m, -1)
	case actSortReverse:
		l.ascending = !l.ascending
		l.reorder()
	case actFilter:
		m.prompt = l.filterPrompt()
	case actCopyRow:
		row, _ := l.current()
		return m.copyText(strings.Join(cellsOf(l.columns(wideTable), row), "\t")+"\n", "1 row")
	case actSave:
		m.menu = l.save()
	default:
	}
	return nil
}

// sortBeside sorts by the next column to the right, or to the left.
func (l *list[T]) sortBeside(m *Model, step int) {
	var names []string
	for _, c := range l.columns(m.w) {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	if l.asItCame != "" {
		names = append(names, "")
	}
	l.sorted, l.ascending = neighbour(names, l.sorted, step), false
	if l.sorted == "" {
		m.say(toneInfo, l.asItCame)
	}
	l.arrange()
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
func (l *list[T]) sortBy(c *column[T]) {
	if c.Name != "" {
		l.ascending = l.sorted == c.Name && !l.ascending
		l.sorted = c.Name
		l.reorder()
	}
}

func (l *list[T]) reorder() {
	at, ok := l.current()
	l.choose(at, ok && !l.stays)
}

func (l *list[T]) filterPrompt() *prompt {
	return filterPrompt(l.filter,
		func(_ *Model, text string) cmd { l.find(text); return nil },
		l.status, func(_ *Model, a action) { l.move(a, len(l.shown)) })
}

// status says how many rows the filter leaves.
func (l *list[T]) status(*Model) string { return words.Plural(len(l.shown), l.noun) }

// filterPrompt is a line that filters while it is typed, and moves the cursor; esc takes back what was typed.
func filterPrompt(before string, set func(m *Model, text string) cmd, status func(*Model) string, move func(*Model, action)) *prompt {
	p := &prompt{
		sign:      "/",
		changed:   set,
		accepted:  func(*Model, string) cmd { return nil },
		cancelled: func(m *Model) cmd { return set(m, before) },
		status:    status,
		move: func(m *Model, a action) cmd {
			move(m, map[action]action{actPrevious: actUp, actNext: actDown}[a])
			return nil
		},
	}
	p.set(before)
	return p
}

// clickAt puts the cursor on the row at a place of the page's body, or sorts by a title there. Again reports that the
// cursor was there already.
func (l *list[T]) clickAt(x, y int) (again bool) {
	if x >= l.w {
		return false
	}
	y -= l.above
	if y == 0 {
		if j := l.columnAt(x); j >= 0 {
			l.sortBy(&l.columns(l.w)[j])
		}
		return false
	}
	i := l.top + y - 1
	if y < 0 || y > l.height || i >= len(l.shown) {
		return false
	}
	again = i == l.cursor
	l.cursor = i
	return again
}

func (l *list[T]) wheel(_ *Model, lines int) {
	l.cursor += lines
	l.clamp(len(l.shown))
}

// clicked is a click on a page that is a list: on the row under the cursor it opens it.
func (l *list[T]) clicked(m *Model, p page, x, y int) cmd {
	if l.clickAt(x, y) && p.can(m, actOpen) == "" {
		return p.act(m, actOpen)
	}
	return nil
}
