package tui

import (
	"slices"

	"kitescope/tui/draw"
)

// stops is a text of which the cursor goes to the lines that something can be done with, and passes over the others.
type stops struct {
	at          []int // lines that the cursor can be on
	cursor      int   // in at
	top, height int   // of the window
}

// line is the one under the cursor, -1 if there is none.
func (s *stops) line() int {
	if s.cursor >= len(s.at) {
		return -1
	}
	return s.at[s.cursor]
}

// scroll brings the cursor into the window of a text of n lines, with what belongs to its line: all up to end. On the first
// stop all that is above is shown too.
func (s *stops) scroll(n int, end func(line int) int) {
	s.goTo(s.cursor)
	if line := s.line(); line >= 0 {
		bottom := min(end(line), line+s.height)
		s.top = min(max(s.top, bottom-s.height), line)
		if s.cursor == 0 {
			s.top = max(0, bottom-s.height)
		}
	}
	s.top = max(0, min(s.top, n-s.height))
}

// scrollToEnd is scroll, which on the last stop shows all that is below as well.
func (s *stops) scrollToEnd(n int, end func(line int) int) {
	s.scroll(n, end)
	if line := s.line(); line >= 0 && s.cursor == len(s.at)-1 {
		s.top = max(0, s.top, min(line, n-s.height))
	}
}

// alone is the end of a line that nothing below belongs to.
func alone(line int) int { return line + 1 }

// goTo puts the cursor on the i-th stop, or the one nearest to it.
func (s *stops) goTo(i int) { s.cursor = max(0, min(i, len(s.at)-1)) }

// find puts the cursor on the first stop at a line that is wanted, if there is one.
func (s *stops) find(wanted func(line int) bool) {
	if i := slices.IndexFunc(s.at, wanted); i >= 0 {
		s.cursor = i
	}
}

// move applies a movement and reports whether it was one.
func (s *stops) move(a action) bool {
	to, ok := moved(a, s.cursor, len(s.at), s.height)
	if ok {
		s.goTo(to)
	}
	return ok
}

// clicked puts the cursor on a line; where it is already, it opens what is there.
func (s *stops) clicked(m *Model, p page, y int) cmd {
	switch i := slices.Index(s.at, s.top+y); {
	case i < 0:
	case i == s.cursor && p.can(m, actOpen) == "":
		return p.act(m, actOpen)
	default:
		s.cursor = i
	}
	return nil
}

func (s *stops) wheel(_ *Model, lines int) { s.goTo(s.cursor + lines) }

// draw shows what is in the window of n lines of w cells: plain where the cursor is.
func (s *stops) draw(st *draw.Styles, n, w int, plain, styled func(i int) string) []string {
	var out []string
	at := s.line()
	for i := s.top; i < min(s.top+s.height, n); i++ {
		if i == at {
			out = append(out, st.Cursor.On(draw.Fit(" "+plain(i), w)))
			continue
		}
		out = append(out, " "+styled(i))
	}
	return out
}
