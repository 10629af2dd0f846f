package tui

import "kitescope/internal/words"

// Window is the visible part of a text.
type Window struct{ Top, Height, length int }

// Fit sets the number of lines of the text and the height of the window.
func (w *Window) Fit(length, height int) {
	w.length, w.Height = length, height
	w.Scroll(0)
}

// Scroll moves the window by a number of lines, within the text.
func (w *Window) Scroll(by int) { w.Top = max(0, min(w.Top+by, w.length-w.Height)) }

// Move performs a movement. It reports whether a is one.
func (w *Window) Move(a Action) bool {
	to, ok := Moved(a, w.Top, w.length, w.Height)
	if ok {
		w.Scroll(to - w.Top)
	}
	return ok
}

// Visible returns the visible lines [from, to).
func (w *Window) Visible() (from, to int) { return w.Top, min(w.Top+w.Height, w.length) }

// Position returns the visible lines as text, or "" if all lines are visible.
func (w *Window) Position() string {
	from, to := w.Visible()
	if w.Height <= 0 || w.length <= w.Height {
		return ""
	}
	return "lines " + words.Number(from+1) + "–" + words.Number(to) + " of " + words.Number(w.length)
}

// Moved returns the position of a cursor after an action, in a list of count lines with height visible lines.
// The position may be out of range. ok reports whether a is a movement.
func Moved(a Action, cursor, count, height int) (to int, ok bool) {
	page := max(1, height-1)
	switch a {
	case ActUp:
		return cursor - 1, true
	case ActDown:
		return cursor + 1, true
	case ActPageUp:
		return cursor - page, true
	case ActPageDown:
		return cursor + page, true
	case ActHalfUp:
		return cursor - max(1, page/2), true
	case ActHalfDown:
		return cursor + max(1, page/2), true
	case ActTop:
		return 0, true
	case ActBottom:
		return count - 1, true
	default:
		return cursor, false
	}
}
