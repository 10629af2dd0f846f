package sparse

import "kitescope/engine/dist"

// maxScore walks all lists together: those with the greatest bounds name rows, and the others are looked up for as long as a row can
// still beat the worst that is kept.
func (s *Searcher) maxScore(to *queue, left []uint64, p *Params) {
	s.byBound()
	if s.overall(p) {
		s.taat(to, left, p, true)
		return
	}
	s.cursors, s.bounds = s.cursors[:0], s.bounds[:0]
	for _, t := range s.terms {
		s.cursors = append(s.cursors, s.open(t, left, p.MaxScoreRatio))
		s.bounds = append(s.bounds, 0)
	}
	cursors, bounds, end := s.cursors, s.bounds, uint32(s.index.Rows)
	sum := float32(0)
	next := end
	for i := len(cursors) - 1; i >= 0; i-- {
		sum += cursors[i].most
		bounds[i] = sum
		next = min(next, cursors[i].id)
	}
	threshold := to.threshold()
	telling := len(cursors) // of the lists that name rows
	shrink := func() bool {
		for telling > 0 && bounds[telling-1] <= threshold {
			telling--
		}
		return telling > 0
	}
	if !shrink() {
		return
	}
	for next < end {
		id, score := next, float32(0)
		next = end
		for i := range cursors[:telling] {
			c := &cursors[i]
			if c.id == id {
				score += float32(c.value * s.weight(p, c.first+uint64(c.at), id))
				s.scored++
				c.next()
			}
			next = min(next, c.id)
		}
		if s.rest(cursors[telling:], bounds[telling:], id, &score, threshold, p) && score > threshold {
			to.push(id, score)
			threshold = to.threshold()
			if !shrink() {
				return
			}
		}
	}
}

// byBound sorts the terms by what they can add, the most first.
func (s *Searcher) byBound() {
	s.order, s.unsorted = s.order[:0], append(s.unsorted[:0], s.terms...)
	for i, t := range s.terms {
		s.order = append(s.order, ordered[float64]{-float64(t.value * s.most[t.list]), uint32(i)})
	}
	sortAsCPP(s.order)
	for i, o := range s.order {
		s.terms[i] = s.unsorted[o.at]
	}
}

// overall reports whether all lists are added up in place of a walk, which is sooner. Each sum is in the same order; and the walk leaves
// out only what cannot pass the threshold, if bounds hold: with values that are not negative, and greatest scores that no row exceeds, by
// more than sums of floats may be off. Then the same rows are offered in the same order.
func (s *Searcher) overall(p *Params) bool {
	if len(s.terms) < 2 || !s.sound {
		return false
	}
	for _, t := range s.terms {
		if !(t.value >= 0) {
			return false
		}
	}
	least := 1 + 1e-6*float64(len(s.terms)+4)
	if s.index.Metric == dist.BM25 && p.AvgDL > s.bm25.AvgDL { // weights grow with the mean length, by less than itself
		least *= float64(p.AvgDL) / float64(s.bm25.AvgDL)
	}
	return float64(p.MaxScoreRatio) >= least
}

// rest adds what the other lists have of a row, until it cannot pass the threshold any more.
func (s *Searcher) rest(cursors []cursor, bounds []float32, id uint32, score *float32, threshold float32, p *Params) bool {
	for i := range cursors {
		if *score+bounds[i] <= threshold {
			return false
		}
		c := &cursors[i]
		c.seek(id)
		if c.id == id {
			*score += float32(c.value * s.weight(p, c.first+uint64(c.at), id))
			s.scored++
		}
	}
	return true
}
