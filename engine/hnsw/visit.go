package hnsw

import (
	"kitescope/engine"
	"kitescope/engine/dist"
)

// Rows of more than longRow cache lines are long. The rows of the next hop are then prefetched during the distance
// computation of the current hop: each step prefetches one line of each of four rows (dist.Kernel.GatherAhead). For
// shorter rows, the first maxPrefetch lines are prefetched at once, before the computation. Measured on hnswlib
// graphs of 100,000 rows with ef 16 and 128, the first method takes 0.91 and 0.84 times as long as the second with
// 768 dimensions (48 lines), 0.94 and 0.90 with 300 dimensions, and 1.27 and 1.52 with 100 dimensions (7 lines).
// Nothing was measured between 8 and 19 lines.
const (
	longRow         = 16
	maxPrefetch     = 8
	maxPrefetchLong = 4 // of long rows that a visit prefetches; the kernel prefetches the rest
)

// links returns the slots of a node's list on a level.
func (s *Searcher) links(id uint32, level int) []uint32 { return s.index.Graph.links(id, level) }

// visit writes the neighbours of a node on level 0 that were not visited before to s.fresh, marks them as visited,
// and returns their number. Unless fetched is set, it prefetches their rows.
func (s *Searcher) visit(id uint32, fetched bool) int {
	lines := s.lines
	if fetched {
		lines = 0
	}
	s.stats.Hops++
	return dist.Visit(s.links(id, 0), s.seen, s.base, s.stride, lines, s.fresh)
}

// peek prefetches the rows that a visit of the node would read. If rows are long and there are n > 0 distances to
// compute in the meantime, it only records the rows for distancesAhead.
func (s *Searcher) peek(id uint32, n int) {
	lines := s.lines
	if s.long && n > 0 {
		lines = 0
	}
	s.next = dist.Peek(s.links(id, 0), s.seen, s.base, s.stride, lines, s.peeked)
}

// distancesAhead returns the distances of the first n of s.fresh. If rows are long, it also prefetches the first
// rows that peek recorded.
func (s *Searcher) distancesAhead(n int) []float32 {
	if n == 0 {
		return nil
	}
	ids := s.fresh[:n+dist.Lookahead]
	for i := range dist.Lookahead {
		ids[n+i] = ids[n-1] // default if peek recorded fewer: a row that is cached
	}
	if s.long {
		copy(ids[n:], s.peeked[:s.next])
	}
	s.kernel.GatherAhead(s.q, s.floats.base, s.floats.stride, ids, s.dists)
	s.count(ids[:n])
	return s.dists[:n]
}

// distances writes the distances of the nodes in ids to s.dists, in the form that the library compares.
func (s *Searcher) distances(ids []uint32) {
	s.kernel.Gather(s.q, s.floats.base, s.floats.stride, ids, s.dists)
	s.count(ids)
}

// count adds to the distance counter, and converts s.dists to the form that the library compares.
func (s *Searcher) count(ids []uint32) {
	s.stats.Distances += len(ids)
	if s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine {
		s.compare(ids, s.dists)
	}
}

// compare converts inner products to the values that the library compares.
func (s *Searcher) compare(ids []uint32, d []float32) {
	d = d[:len(ids)]
	for i, v := range d {
		d[i] = s.comparedValue(v, ids[i])
	}
}

// comparedValue converts the inner product with a row to the value that the library compares. It is 1-ip for hnswlib
// (space_ip.h) and -ip for knowhere and faiss. If norms are stored, it is divided by the row's norm (calcDistance
// of knowhere's hnswalg.h).
func (s *Searcher) comparedValue(ip float32, id uint32) float32 {
	switch {
	case s.library == engine.HNSWLib:
		return 1 - ip
	case s.index.Norms != nil:
		return -ip / s.index.Norms[id]
	}
	return -ip
}

// distance returns the distance of a node.
func (s *Searcher) distance(id uint32) float32 {
	s.fresh[0] = id
	s.distances(s.fresh[:1])
	return s.dists[0]
}
