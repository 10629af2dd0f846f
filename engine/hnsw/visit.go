package hnsw

import (
	"kitescope/engine"
	"kitescope/engine/dist"
)

// Rows of more than longRow cache lines are long: those of the next hop are then fetched while the
// distances of this one are computed, a line of four rows at each step (dist.Kernel.GatherAhead);
// of others, the first maxPrefetch lines are asked for at once, before. Measured on hnswlib's graphs
// of 100,000 rows, ef 16 and 128, the first takes 0.91 and 0.84 times the time of the second with 768
// dimensions (48 lines), 0.94 and 0.90 with 300, and 1.27 and 1.52 with 100 (7 lines); between 8 and 19
// lines nothing was measured.
const (
	longRow         = 16
	maxPrefetch     = 8
	maxPrefetchLong = 4 // of the rows that a visit asks for; the kernel fetches the rest
)

// links is the list of a node on a level, up to its last slot.
func (s *Searcher) links(id uint32, level int) []uint32 { return s.index.Graph.links(id, level) }

// visit puts into s.fresh those neighbours of a node on level 0 that were not visited before,
// marks them, prefetches their rows unless that was done ahead, and returns how many they are.
func (s *Searcher) visit(id uint32, fetched bool) int {
	lines := s.lines
	if fetched {
		lines = 0
	}
	s.stats.Hops++
	return dist.Visit(s.links(id, 0), s.seen, s.base, s.stride, lines, s.fresh)
}

// peek prefetches the rows that a visit of the node would, or, if they are long and there are n
// distances to compute meanwhile, notes which they are for distancesAhead.
func (s *Searcher) peek(id uint32, n int) {
	lines := s.lines
	if s.long && n > 0 {
		lines = 0
	}
	s.next = dist.Peek(s.links(id, 0), s.seen, s.base, s.stride, lines, s.peeked)
}

// distancesAhead is distances of the first n of s.fresh, and prefetches the first rows that peek
// noted, if they are long.
func (s *Searcher) distancesAhead(n int) []float32 {
	if n == 0 {
		return nil
	}
	ids := s.fresh[:n+dist.Behind]
	for i := range dist.Behind {
		ids[n+i] = ids[n-1] // where peek noted less: a row that is in a cache
	}
	if s.long {
		copy(ids[n:], s.peeked[:s.next])
	}
	s.kernel.GatherAhead(s.q, s.floats.base, s.floats.stride, ids, s.dists)
	s.count(ids[:n])
	return s.dists[:n]
}

// distances fills s.dists with the distances of the nodes in ids, as the library compares them.
func (s *Searcher) distances(ids []uint32) {
	s.kernel.Gather(s.q, s.floats.base, s.floats.stride, ids, s.dists)
	s.count(ids)
}

// count counts the distances in s.dists, and makes them what the library compares.
func (s *Searcher) count(ids []uint32) {
	s.stats.Distances += len(ids)
	if s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine {
		s.compare(ids, s.dists)
	}
}

// compare makes inner products into what the library compares.
func (s *Searcher) compare(ids []uint32, d []float32) {
	d = d[:len(ids)]
	for i, v := range d {
		d[i] = s.comparable(v, ids[i])
	}
}

// comparable is what the library compares, of the inner product with a row: 1-ip for hnswlib
// (space_ip.h), -ip for knowhere and faiss, divided by the row's norm where norms are stored
// (calcDistance of knowhere's hnswalg.h).
func (s *Searcher) comparable(ip float32, id uint32) float32 {
	switch {
	case s.library == engine.HNSWLib:
		return 1 - ip
	case s.index.Norms != nil:
		return -ip / s.index.Norms[id]
	}
	return -ip
}

// distance is that of one node.
func (s *Searcher) distance(id uint32) float32 {
	s.fresh[0] = id
	s.distances(s.fresh[:1])
	return s.dists[0]
}
