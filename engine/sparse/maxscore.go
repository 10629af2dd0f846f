package sparse

// maxScore walks all lists together: those with the greatest bounds name rows, and the others are looked up for as long as a row can
// still beat the worst that is kept.
func (s *Searcher) maxScore(to *queue, left []uint64, p *Params) {
	sortAsCPP(s.terms, func(a, b term) bool { return a.value*s.most[a.list] > b.value*s.most[b.list] })
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
