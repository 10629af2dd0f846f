package tui

import (
	"slices"

	"kitescope/tui/draw"
)

// Stops is a text of which the cursor goes to the lines that something can be done with, and passes over the others.
type Stops struct {
	At          []int // lines that the cursor can be on
	Cursor      int   // in at
	Top, Height int   // of the window
}

// Line is the one under the cursor, -1 if there is none.
func (s *Stops) Line() int {
	if s.Cursor >= len(s.At) {
		return -1
	}
	return s.At[s.Cursor]
}

// Scroll brings the cursor into the window of a text of n lines, with what belongs to its line: all up to end. On the first
// stop all that is above is shown too.
func (s *Stops) Scroll(n int, end func(line int) int) {
	s.GoTo(s.Cursor)
	if line := s.Line(); line >= 0 {
		bottom := min(end(line), line+s.Height)
		s.Top = min(max(s.Top, bottom-s.Height), line)
		if s.Cursor == 0 {
			s.Top = max(0, bottom-s.Height)
		}
	}
	s.Top = max(0, min(s.Top, n-s.Height))
}

// ScrollToEnd is scroll, which on the last stop shows all that is below as well.
func (s *Stops) ScrollToEnd(n int, end func(line int) int) {
	s.Scroll(n, end)
	if line := s.Line(); line >= 0 && s.Cursor == len(s.At)-1 {
		s.Top = max(0, s.Top, min(line, n-s.Height))
	}
}

// Alone is the end of a line that nothing below belongs to.
func Alone(line int) int { return line + 1 }

// GoTo puts the cursor on the i-th stop, or the one nearest to it.
func (s *Stops) GoTo(i int) { s.Cursor = max(0, min(i, len(s.At)-1)) }

// Find puts the cursor on the first stop at a line that is wanted, if there is one.
func (s *Stops) Find(wanted func(line int) bool) {
	if i := slices.IndexFunc(s.At, wanted); i >= 0 {
		s.Cursor = i
	}
}

// Move applies a movement and reports whether it was one.
func (s *Stops) Move(a Action) bool {
	to, ok := Moved(a, s.Cursor, len(s.At), s.Height)
	if ok {
		s.GoTo(to)
	}
	return ok
}

// Draw shows what is in the window of n lines of w cells: plain where the cursor is.
func (s *Stops) Draw(st *draw.Styles, n, w int, plain, styled func(i int) string) []string {
	var out []string
	at := s.Line()
	for i := s.Top; i < min(s.Top+s.Height, n); i++ {
		if i == at {
			out = append(out, st.Cursor.On(draw.Fit(" "+plain(i), w)))
			continue
		}
		out = append(out, " "+styled(i))
	}
	return out
}
