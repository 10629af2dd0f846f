package tui

import "kitescope/words"

// window is the part of a text of some lines that is seen.
type window struct{ top, height, length int }

// fit makes the window as high as there is room, over so many lines.
func (w *window) fit(length, height int) {
	w.length, w.height = length, height
	w.scroll(0)
}

func (w *window) scroll(by int) { w.top = max(0, min(w.top+by, w.length-w.height)) }

// move applies a movement and reports whether it was one.
func (w *window) move(a action) bool {
	to, ok := moved(a, w.top, w.length, w.height)
	if ok {
		w.scroll(to - w.top)
	}
	return ok
}

func (w *window) wheel(_ *Model, lines int)  { w.scroll(lines) }
func (w *window) click(*Model, int, int) cmd { return nil }

// seen are the first line of the window, and the one behind its last.
func (w *window) seen() (from, to int) { return w.top, min(w.top+w.height, w.length) }

// place says which lines are seen, "" if that is all.
func (w *window) place() string {
	from, to := w.seen()
	if w.height <= 0 || w.length <= w.height {
		return ""
	}
	return "lines " + words.Number(from+1) + "–" + words.Number(to) + " of " + words.Number(w.length)
}
