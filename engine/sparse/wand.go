package sparse

import "kitescope/engine"

// wand walks all lists together: a row is looked at where the lists up to the pivot can together beat the worst that is kept.
func (s *Searcher) wand(to *queue, left []uint64, p *Params) {
	ratio := p.MaxScoreRatio
	if s.library == engine.Knowhere23 {
		ratio = 1
	}
	s.cursors, s.order = s.cursors[:0], s.order[:0]
	for _, t := range s.terms {
		s.cursors = append(s.cursors, s.open(t, left, ratio))
	}
	for i := range s.cursors {
		s.order = append(s.order, &s.cursors[i])
	}
	order, end := s.order, uint32(s.index.Rows)
	byRow := func(a, b *cursor) bool { return a.id < b.id }
	sortAsCPP(order, byRow)
	for {
		pivot, ok := s.pivot(to, order, end)
		if !ok {
			return
		}
		id := order[pivot].id
		if id == order[0].id {
			score := float32(0)
			for _, c := range order {
				if c.id != id {
					break
				}
				score += float32(c.value * s.weight(p, c.first+uint64(c.at), id))
				s.scored++
				c.next()
			}
			to.push(id, score)
			sortAsCPP(order, byRow)
			continue
		}
		next := pivot
		for order[next].id == id {
			next--
		}
		order[next].seek(id)
		for i := next + 1; i < len(order) && order[i].id < order[i-1].id; i++ {
			order[i], order[i-1] = order[i-1], order[i]
		}
	}
}

// pivot is the first cursor at which the bounds of all up to it pass the threshold. Knowhere 2.3 takes every row while there is room.
func (s *Searcher) pivot(to *queue, order []*cursor, end uint32) (int, bool) {
	threshold, bound := to.threshold(), float32(0)
	open := s.library == engine.Knowhere23 && !to.full()
	for i, c := range order {
		if c.id >= end {
			break
		}
		if bound += c.most; bound > threshold || open {
			return i, true
		}
	}
	return 0, false
}
