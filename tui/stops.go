package tui

import (
	"slices"

	"kitescope/tui/draw"
)

// Stops is the cursor of a text in which only some lines can be selected. The cursor skips the other lines.
type Stops struct {
	At          []int // lines that can be selected
	Cursor      int   // index in At
	Top, Height int   // of the window
}

// Line returns the line under the cursor, or -1 if there is none.
func (s *Stops) Line() int {
	if s.Cursor >= len(s.At) {
		return -1
	}
	return s.At[s.Cursor]
}

// Scroll scrolls a text of n lines so that the cursor line and the lines that belong to it, those before
// end(line), are visible. On the first stop the lines above it are visible too.
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

// ScrollToEnd is like Scroll, but on the last stop the lines below it are visible too.
func (s *Stops) ScrollToEnd(n int, end func(line int) int) {
	s.Scroll(n, end)
	if line := s.Line(); line >= 0 && s.Cursor == len(s.At)-1 {
		s.Top = max(0, s.Top, min(line, n-s.Height))
	}
}

// SingleLine is the end function for a line without further lines that belong to it.
func SingleLine(line int) int { return line + 1 }

// GoTo moves the cursor to the i-th stop, or to the nearest one if i is out of range.
func (s *Stops) GoTo(i int) { s.Cursor = max(0, min(i, len(s.At)-1)) }

// Find moves the cursor to the first stop whose line wanted accepts, if there is one.
func (s *Stops) Find(wanted func(line int) bool) {
	if i := slices.IndexFunc(s.At, wanted); i >= 0 {
		s.Cursor = i
	}
}

// Move performs a cursor movement. It reports whether a is a movement.
func (s *Stops) Move(a Action) bool {
	to, ok := Moved(a, s.Cursor, len(s.At), s.Height)
	if ok {
		s.GoTo(to)
	}
	return ok
}

// Draw draws the visible lines of a text of n lines, in w cells: plain for the cursor line and styled for
// others.
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
