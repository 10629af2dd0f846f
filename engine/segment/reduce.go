package segment

import (
	"kitescope/engine"
)

// Reducer merges lists of hits like segcore, shard leaders and the proxy, which all use the same method: a node
// merges the lists of its segments, a leader the lists of nodes, and the proxy the lists of leaders. Only one
// goroutine may use it.
type Reducer struct {
	sign  float32 // factor of distances that makes smaller ones nearer
	heads []head
	seen  keySet
}

// head is the rest of a list, with its first hit decoded.
type head struct {
	distance float32 // times sign; undefined for an empty list
	key      engine.Key
	known    bool // key is set
	list     []Hit
}

// NewReducer returns a reducer for answers of a metric.
func NewReducer(m engine.Metric) *Reducer {
	r := &Reducer{sign: 1}
	if m.Similarity() {
		r.sign = -1 // larger is nearer
	}
	return r
}

// Reduce appends the k nearest hits of lists to dst. Each list is sorted, nearest first. Reduce repeatedly takes
// the nearest head of all lists, ties by the smallest primary key. The order within a list is kept. Each key is
// returned once, because for a while a row is in both a growing and a sealed segment (Milvus 2.3:
// internal/core/src/segcore/reduce_c.cpp, internal/proxy/task_search.go reduceSearchResultData).
//
// If each list sorts ties by key, the answer does not depend on whether lists are merged at once or in steps.
// knowhere 1 and 2.2 do not sort ties. If such a list has a key that another list has at another distance, ties may
// change places.
func (r *Reducer) Reduce(lists [][]Hit, k int, dst []Hit) []Hit {
	r.heads = r.heads[:0]
	for _, list := range lists {
		if len(list) > 0 {
			r.heads = append(r.heads, head{distance: r.sign * list[0].Distance, list: list})
		}
	}
	r.seen.clear(k)
	for first := len(dst); len(dst)-first < k && len(r.heads) > 0; {
		best := r.nearest()
		h := &r.heads[best]
		if r.seen.add(h.first()) {
			dst = append(dst, h.list[0])
		}
		if h.list = h.list[1:]; len(h.list) == 0 {
			r.heads = append(r.heads[:best], r.heads[best+1:]...)
			continue
		}
		h.distance, h.known = r.sign*h.list[0].Distance, false
	}
	return dst
}

// nearest returns the index of the nearest head. NaN sorts as the nearest, as in cmp.Compare.
func (r *Reducer) nearest() int {
	best := 0
	for i := 1; i < len(r.heads); i++ {
		h, b := &r.heads[i], &r.heads[best]
		switch {
		case h.distance > b.distance || b.distance != b.distance && h.distance == h.distance:
		case h.distance < b.distance || h.distance != h.distance && b.distance == b.distance,
			h.first().Compare(b.first()) < 0:
			best = i
		}
	}
	return best
}

// first returns the key of the head.
func (h *head) first() engine.Key {
	if !h.known {
		h.key, h.known = h.list[0].Key(), true
	}
	return h.key
}

// fewKeys is the maximum number of returned keys that are compared one by one. They are in the cache, and no hash
// is needed.
const fewKeys = 64

// keySet is the set of keys that were returned.
type keySet struct {
	list  []engine.Key
	set   map[engine.Key]struct{} // nil while there are few
	spare map[engine.Key]struct{} // many, kept for reuse
}

// clear removes all keys. k is the expected number of keys.
func (s *keySet) clear(k int) {
	s.list, s.set = s.list[:0], nil
	if k > fewKeys {
		if s.spare == nil {
			s.spare = map[engine.Key]struct{}{}
		}
		clear(s.spare)
		s.set = s.spare
	}
}

// add adds a key, and reports whether it is new.
func (s *keySet) add(k engine.Key) bool {
	if s.set != nil {
		before := len(s.set)
		s.set[k] = struct{}{}
		return len(s.set) > before
	}
	for i := range s.list {
		if s.list[i].Number == k.Number && s.list[i] == k {
			return false
		}
	}
	s.list = append(s.list, k)
	return true
}
