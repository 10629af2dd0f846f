package sparse

import "kitescope/engine"

// wand walks all lists together: a row is looked at where the lists up to the pivot can together beat the worst that is kept.
func (s *Searcher) wand(to *queue, left []uint64, p *Params) {
	ratio := p.MaxScoreRatio
	if s.library == engine.Knowhere23 {
		ratio = 1
	}
	s.cursors, s.walked, s.bounds = s.cursors[:0], s.walked[:0], s.bounds[:0]
	for _, t := range s.terms {
		s.cursors = append(s.cursors, s.open(t, left, ratio))
	}
	for i := range s.cursors {
		s.walked = append(s.walked, ordered[uint32]{s.cursors[i].id, uint32(i)})
		s.bounds = append(s.bounds, s.cursors[i].most)
	}
	order, end := s.walked, uint32(s.index.Rows)
	sortAsCPP(order)
	for {
		pivot, ok := s.pivot(to, order, end)
		if !ok {
			return
		}
		row := order[pivot].key
		if row == order[0].key {
			id, score := row, float32(0)
			for i := range order {
				o := &order[i]
				if o.key != row {
					break
				}
				c := &s.cursors[o.at]
				score += float32(c.value * s.weight(p, c.first+uint64(c.at), id))
				s.scored++
				c.next()
				o.key = c.id
			}
			to.push(id, score)
			sortAsCPP(order)
			continue
		}
		next := pivot
		for order[next].key == row {
			next--
		}
		c := &s.cursors[order[next].at]
		c.seek(row)
		order[next].key = c.id
		for i := next + 1; i < len(order) && order[i].key < order[i-1].key; i++ {
			order[i], order[i-1] = order[i-1], order[i]
		}
	}
}

// pivot is the first cursor at which the bounds of all up to it pass the threshold. Knowhere 2.3 takes every row while there is room.
func (s *Searcher) pivot(to *queue, order []ordered[uint32], end uint32) (int, bool) {
	threshold, bound := to.threshold(), float32(0)
	open := s.library == engine.Knowhere23 && !to.full()
	for i := range order {
		if order[i].key >= end {
			break
		}
		if bound += s.bounds[order[i].at]; bound > threshold || open {
			return i, true
		}
	}
	return 0, false
}
