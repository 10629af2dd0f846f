package hnsw

import "slices"

// neighborSelector holds the buffers of the neighbour selection heuristic.
type neighborSelector struct {
	sorted   []uint64 // candidates, nearest first
	selected []uint64 // selected candidates as heap entries, nearest first
	// The ids of selected candidates: those that were compared with each other in an earlier run, and the rest.
	selectedChecked, selectedNew []uint32
	popped                       []uint64
	heap                         []uint64
}

// rankKey encodes a neighbour so that its numeric order is the order in which the heuristic processes candidates:
// nearest first, and for equal distances the greatest id first (hnswlib's queue_closest compares pairs of -distance
// and id). The last bit is set if the neighbour was selected in an earlier run for the same list.
func rankKey(key, id uint32, checked uint64) uint64 {
	return uint64(key)<<32 | uint64(End-1-id)<<1 | checked
}

// choose selects at most M of the candidates that a search found. It returns them in the order in which hnswlib
// writes them, farthest first; the search on the next level starts at the last one. checked is the number of
// selected candidates that have been compared with each other.
func (w *worker) choose(isSorted bool) (neighbours []uint64, checked int) {
	found := w.top
	if isSorted {
		found = w.pool
	}
	if len(found) < w.M {
		if !isSorted {
			return w.pop(found), 0
		}
		w.popped = w.popped[:0]
		for _, e := range slices.Backward(found) {
			w.popped = append(w.popped, e&^followed)
		}
		return w.popped, 0
	}
	sorted := w.sorted[:0]
	for _, e := range found {
		sorted = append(sorted, rankKey(uint32(e>>32), uint32(e)&^followed, 0))
	}
	if !isSorted {
		slices.Sort(sorted)
	}
	w.sorted = sorted
	w.selectNeighbors(w.M)
	return w.popOrder(), len(w.selected)
}

// pruneList adds id, at the distance of key, to a full list of a node, and prunes the list.
func (w *worker) pruneList(slots, keys []uint32, checked *uint16, id, key uint32) {
	n := int(*checked)
	sorted := w.sorted[:0]
	// Checked neighbours are stored farthest first, so they are nearly sorted when read backwards.
	for i := n - 1; i >= 0; i-- {
		sorted = insertRanked(sorted, rankKey(keys[i], slots[i], 1))
	}
	for i := n; i < len(slots); i++ {
		sorted = insertRanked(sorted, rankKey(keys[i], slots[i], 0))
	}
	w.sorted = insertRanked(sorted, rankKey(key, id, 0))
	w.selectNeighbors(len(slots))
	kept := w.popOrder()
	for i, e := range kept {
		slots[i], keys[i] = uint32(e), uint32(e>>32)
	}
	for i := len(kept); i < len(slots); i++ {
		slots[i] |= End
	}
	*checked = uint16(len(kept))
}

// insertRanked inserts v into a sorted slice.
func insertRanked(sorted []uint64, v uint64) []uint64 {
	sorted = append(sorted, v)
	i := len(sorted) - 1
	for i > 0 && sorted[i-1] > v {
		sorted[i] = sorted[i-1]
		i--
	}
	sorted[i] = v
	return sorted
}

// selectNeighbors selects at most m of w.sorted and writes them to w.kept. A candidate is selected unless a candidate
// that was selected before is nearer to it than the node is (getNeighborsByHeuristic2 of hnswalg.h). Two candidates
// that were both selected in an earlier run for the same node are not compared again.
func (w *worker) selectNeighbors(m int) {
	w.selected, w.selectedChecked, w.selectedNew = w.selected[:0], w.selectedChecked[:0], w.selectedNew[:0]
	for _, c := range w.sorted {
		if len(w.selected) >= m {
			return
		}
		key, id, checked := uint32(c>>32), End-1-uint32(c)>>1, c&1 != 0
		if w.anyNearer(id, key, w.selectedNew) || !checked && w.anyNearer(id, key, w.selectedChecked) {
			continue
		}
		w.selected = append(w.selected, entry(key, id))
		if checked {
			w.selectedChecked = append(w.selectedChecked, id)
		} else {
			w.selectedNew = append(w.selectedNew, id)
		}
	}
}

// gatherWidth is the number of distances that a kernel computes per round.
const gatherWidth = 4

// anyNearer reports whether any of others is nearer to id than the distance of key.
func (w *worker) anyNearer(id, key uint32, others []uint32) bool {
	for len(others) > 0 {
		n := min(gatherWidth, len(others))
		for _, k := range w.measure(id, others[:n]) {
			if k < key {
				return true
			}
		}
		others = others[n:]
	}
	return false
}

// popOrder returns w.kept in the order in which hnswlib's queue pops it: farthest first, and equal distances in the
// order of its heap.
func (w *worker) popOrder() []uint64 {
	ties := false
	for i := 1; i < len(w.selected); i++ {
		ties = ties || w.selected[i]>>32 == w.selected[i-1]>>32
	}
	if !ties {
		slices.Reverse(w.selected)
		return w.selected
	}
	w.heap = w.heap[:0]
	for _, e := range w.selected {
		w.heap = pushEntry(w.heap, e)
	}
	return w.pop(w.heap)
}

// pop empties a heap and returns its entries in the order in which they are popped.
func (w *worker) pop(heap []uint64) []uint64 {
	w.popped = w.popped[:0]
	for len(heap) > 0 {
		w.popped = append(w.popped, heap[0])
		heap = popEntry(heap)
	}
	return w.popped
}
