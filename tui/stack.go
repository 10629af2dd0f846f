package tui

// stack is where the person is: the pages from the first to the one shown, and
// those that were left with back. Every page keeps its own state.
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

// pop goes back and reports whether there was anywhere to go.
func (s *stack) pop() bool {
	if len(s.pages) < 2 {
		return false
	}
	s.forward = append(s.forward, s.top())
	s.pages = s.pages[:len(s.pages)-1]
	return true
}

// again goes forward and reports whether there was anywhere to go.
func (s *stack) again() bool {
	if len(s.forward) == 0 {
		return false
	}
	s.pages = append(s.pages, s.forward[len(s.forward)-1])
	s.forward = s.forward[:len(s.forward)-1]
	return true
}

// home drops everything above the first page.
func (s *stack) home() { s.pages, s.forward = s.pages[:1], nil }
