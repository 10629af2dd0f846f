package sparse

import "kitescope/engine/dist"

// taat adds list after list to a score for each row, and offers all rows that have one, by their numbers.
func (s *Searcher) taat(to *queue, left []uint64, p *Params) {
	x := s.index
	if s.scores == nil {
		s.scores = make([]float32, x.Rows)
	}
	clear(s.scores)
	scores := s.scores
	now := s.bm25
	now.AvgDL = p.AvgDL
	for _, t := range s.terms {
		ids, values := x.list(t.list)
		s.scored += len(ids)
		values = values[:len(ids)]
		if x.Metric == dist.BM25 {
			for j, id := range ids {
				scores[id] += float32(t.value * now.weight(values[j], x.Lengths[id]))
			}
			continue
		}
		for j, id := range ids {
			scores[id] += float32(t.value * values[j])
		}
	}
	for id, score := range scores {
		if score != 0 && (left == nil || !marked(left, uint32(id))) {
			to.push(uint32(id), score)
		}
	}
}
