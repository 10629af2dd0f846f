package scann

import "kitescope/engine/flat"

// scanUntilFull gives sums to the collector as knowhere does from 2.5.3 on, which goes on to further lists until it has seen n rows
// (ensure_topk_full, which is on unless a search says otherwise; search_implem_10, faiss/IndexIVFFastScan.cpp, v2.5.6). Lists are read nearest
// first. What counts as seen is what enters, where there is a filter or a reservoir what was better than the worst hit before its block of 32
// rows (SingleResultHandler, HeapHandler and ReservoirHandler, faiss/impl/simd_result_handlers.h): so that of a list that is far from the hits
// little counts.
func (s *Searcher) scanUntilFull(p Params, n int) {
	left := p.Filter.Words()
	nprobe := p.NProbe
	if nprobe == 0 {
		nprobe = s.index.NProbe
	}
	rows := s.index.Len()
	if left != nil {
		rows -= p.Filter.Count()
	}
	most := int(float64(nprobe) / float64(len(s.index.Lists)) * float64(rows))
	seen := 0
	for i, list := range s.probes {
		// No bound is one that no search reaches.
		if (most > 0 && seen >= most || i >= nprobe) && seen >= n {
			return
		}
		s.scanBlocks(&s.index.Lists[list.ID], left, &seen)
	}
}

// scanBlocks gives the sums of a list, and adds to seen.
func (s *Searcher) scanBlocks(l *List, left []uint64, seen *int) {
	var sums [blockRows]uint16
	size := s.index.Parts.BlockBytes()
	counted := left != nil || s.best.k > maxHeap
	for first := 0; first < len(l.IDs); first += blockRows {
		s.rounded.sums(l.Blocks[first/blockRows*size:][:size], &sums)
		before := s.best.threshold()
		for j, id := range l.IDs[first:min(first+blockRows, len(l.IDs))] {
			if left != nil && flat.Marked(left, id) {
				continue
			}
			s.computed++
			if s.best.better(sums[j], before) {
				if s.best.add(sums[j], id) || counted {
					*seen++
				}
			}
		}
	}
}
