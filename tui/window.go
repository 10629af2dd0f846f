package tui

import "kitescope/internal/words"

// Window is the part of a text of some lines that is seen.
type Window struct{ Top, Height, length int }

// Fit makes the window as high as there is room, over so many lines.
func (w *Window) Fit(length, height int) {
	w.length, w.Height = length, height
	w.Scroll(0)
}

// Scroll moves the window by lines, as far as there are any.
func (w *Window) Scroll(by int) { w.Top = max(0, min(w.Top+by, w.length-w.Height)) }

// Move applies a movement and reports whether it was one.
func (w *Window) Move(a Action) bool {
	to, ok := Moved(a, w.Top, w.length, w.Height)
	if ok {
		w.Scroll(to - w.Top)
	}
	return ok
}

// Seen are the first line of the window, and the one behind its last.
func (w *Window) Seen() (from, to int) { return w.Top, min(w.Top+w.Height, w.length) }

// Place says which lines are seen, "" if that is all.
func (w *Window) Place() string {
	from, to := w.Seen()
	if w.Height <= 0 || w.length <= w.Height {
		return ""
	}
	return "lines " + words.Number(from+1) + "–" + words.Number(to) + " of " + words.Number(w.length)
}

// Moved is where a key takes a cursor in a list of count that shows height at a time; it may lie outside. Ok says that
// it was a key that moves.
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
