package tui

import "slices"

// stack is the page history: the pages from the first to the current one, and the pages to go forward to. Every
// page keeps its own state.
type stack struct {
	pages   []Page
	forward []Page
}

func (s *stack) top() Page { return s.pages[len(s.pages)-1] }

// push shows a page on top of the current one.
func (s *stack) push(p Page) {
	s.pages = append(s.pages, p)
	s.forward = nil
}

// pop goes back. It reports whether there was a previous page.
func (s *stack) pop() bool {
	if len(s.pages) < 2 {
		return false
	}
	s.forward = append(s.forward, s.top())
	s.pages = s.pages[:len(s.pages)-1]
	return true
}

// goForward goes forward. It reports whether there was a next page.
func (s *stack) goForward() bool {
	if len(s.forward) == 0 {
		return false
	}
	s.pages = append(s.pages, s.forward[len(s.forward)-1])
	s.forward = s.forward[:len(s.forward)-1]
	return true
}

// backTo goes back to the last page that wanted accepts. It reports whether there is one.
func (s *stack) backTo(wanted func(Page) bool) bool {
	for i, p := range slices.Backward(s.pages) {
		if wanted(p) {
			for len(s.pages) > i+1 {
				s.pop()
			}
			return true
		}
	}
	return false
}

// home drops everything above the first page.
func (s *stack) home() { s.pages, s.forward = s.pages[:1], nil }
