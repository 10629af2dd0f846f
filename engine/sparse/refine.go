package sparse

import "kitescope/engine"

// refine compares the found rows once more, with the whole query.
func (s *Searcher) refine(query []byte, p *Params, dst []engine.Hit) []engine.Hit {
	// Walk the lists again with a filter that excludes all other rows. Since 2.5, there is no filter if no row
	// was found, so the search returns rows that the original filter excludes.
	var left []uint64
	if s.top.size == 0 && s.library == engine.Knowhere23 {
		return dst
	}
	if s.top.size > 0 {
		left = make([]uint64, (s.index.Rows+63)/64)
		for i := range left {
			left[i] = ^uint64(0)
		}
		for s.top.size > 0 {
			id := s.top.pop().id
			left[id>>6] &^= 1 << (id & 63)
		}
	}
	s.parse(query, -1)
	if len(s.terms) == 0 {
		return dst
	}
	s.second.reset(p.K)
	s.walk(&s.second, left, p)
	return s.second.hits(dst)
}
