package whatif

import (
	"cmp"
	"slices"

	"kitescope/engine"
	"kitescope/engine/segment"
)

// kept are the nearest hits of each query over all that was searched, merged as a proxy does: by distance, then by key, each key once.
type kept struct {
	k          int
	similarity bool // the greatest is the nearest
	hits       [][]keptHit
}

type keptHit struct {
	key  engine.Key
	dist float32 // the least is the nearest
}

func newKept(a *asked, similarity bool) *kept {
	return &kept{k: a.params.K, similarity: similarity, hits: make([][]keptHit, len(a.requests))}
}

// add takes what one segment found. Not much more than k are held at a time, however many segments there are.
func (n *kept) add(q int, hits []segment.Hit) {
	for i := range hits {
		d := hits[i].Distance
		if n.similarity {
			d = -d
		}
		n.hits[q] = append(n.hits[q], keptHit{hits[i].Key(), d})
	}
	if len(n.hits[q]) > 4*n.k+64 {
		n.nearest(q)
	}
}

// nearest are the k nearest of a query.
func (n *kept) nearest(q int) []keptHit {
	all := n.hits[q]
	slices.SortFunc(all, func(a, b keptHit) int { return cmp.Or(cmp.Compare(a.dist, b.dist), a.key.Compare(b.key)) })
	seen := map[engine.Key]bool{}
	all = slices.DeleteFunc(all, func(h keptHit) bool {
		twice := seen[h.key]
		seen[h.key] = true
		return twice
	})
	n.hits[q] = slices.Clip(all[:min(n.k, len(all))])
	return n.hits[q]
}

// recall is the share of the true nearest keys that were found; -1 if there are none.
func recall(got, exact *kept) float64 {
	hit, of := 0, 0
	for q := range exact.hits {
		found := map[engine.Key]bool{}
		for _, h := range got.nearest(q) {
			found[h.key] = true
		}
		for _, h := range exact.nearest(q) {
			of++
			if found[h.key] {
				hit++
			}
		}
	}
	if of == 0 {
		return -1
	}
	return float64(hit) / float64(of)
}
