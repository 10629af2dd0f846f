package segment

import (
	"kitescope/engine"
)

// Reducer merges lists of hits as segcore, shard leaders and the proxy do, all in the same way: a node does it with the lists of
// its segments, a leader with those of nodes, the proxy with those of leaders. It is for one goroutine.
type Reducer struct {
	sign  float32 // times a distance: smaller is nearer
	heads []head
	seen  seen
}

// head is what is left of a list, the first hit apart.
type head struct {
	distance float32 // signed; of an empty list nobody looks at it
	key      engine.Key
	known    bool // key was looked up
	list     []Hit
}

// NewReducer returns a reducer of answers under a metric.
func NewReducer(m engine.Metric) *Reducer {
	r := &Reducer{sign: 1}
	if m.Similarity() {
		r.sign = -1 // greater is nearer
	}
	return r
}

// Reduce appends to dst the k nearest of lists, each nearest first: it takes the nearest head of all lists, again and again, of
// equally near ones that with the smallest primary key; the order within a list stays as it is. A key is answered once: a row is in a
// growing and in a sealed segment for a while (Milvus 2.3: internal/core/src/segcore/reduce_c.cpp, internal/proxy/task_search.go
// reduceSearchResultData). So the answer is the same whether lists are merged at once or in steps, where each list has
// equally near hits by key; where one has not (knowhere 1 and 2.2 do not sort them) and holds a key that another list has at
// another distance, equally near hits can change places.
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

// nearest is the head that comes next: NaN sorts as the nearest, as cmp.Compare has it.
func (r *Reducer) nearest() int {
	best := 0
	for i := 1; i < len(r.heads); i++ {
		h, b := &r.heads[i], &r.heads[best]
		switch {
		case h.distance > b.distance || b.distance != b.distance && h.distance == h.distance:
		case h.distance < b.distance || h.distance != h.distance && b.distance == b.distance, h.first().Compare(b.first()) < 0:
			best = i
		}
	}
	return best
}

// first is the key of the head.
func (h *head) first() engine.Key {
	if !h.known {
		h.key, h.known = h.list[0].Key(), true
	}
	return h.key
}

// fewKeys is up to how many answered keys are compared one by one: they are in the cache, and no hash is needed.
const fewKeys = 64

// seen is the keys that were answered.
type seen struct {
	few  []engine.Key
	many map[engine.Key]struct{} // nil while there are few
	all  map[engine.Key]struct{} // many, kept for the next time
}

// clear forgets all keys; k is how many there will be.
func (s *seen) clear(k int) {
	s.few, s.many = s.few[:0], nil
	if k > fewKeys {
		if s.all == nil {
			s.all = map[engine.Key]struct{}{}
		}
		clear(s.all)
		s.many = s.all
	}
}

// add reports whether a key is new.
func (s *seen) add(k engine.Key) bool {
	if s.many != nil {
		before := len(s.many)
		s.many[k] = struct{}{}
		return len(s.many) > before
	}
	for i := range s.few {
		if s.few[i].Number == k.Number && s.few[i] == k {
			return false
		}
	}
	s.few = append(s.few, k)
	return true
}
