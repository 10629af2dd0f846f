package replay

import (
	"cmp"
	"slices"
	"time"
)

// tally holds the costs of a goroutine's requests.
type tally struct {
	epoch   int64
	queries int64
	reduce  time.Duration
	parts   []partTally
	slow    slowest
}

type partTally struct {
	time      time.Duration
	distances int64
	queries   int64
	brute     int64
	ef        int
}

func (t *tally) reset(parts int) {
	if t.parts == nil {
		t.parts = make([]partTally, parts)
	}
	clear(t.parts)
	t.queries, t.reduce = 0, 0
	t.slow.list = t.slow.list[:0]
}

// syncEpoch discards the costs from before the target's last reset.
func (t *tally) syncEpoch(target *Target) {
	if t.slow.limit == 0 {
		t.slow.reset(max(target.options.Slowest, 0))
	}
	if epoch := target.epoch.Load(); epoch != t.epoch {
		t.reset(len(t.parts))
		t.epoch = epoch
	}
}

func (t *tally) add(queries int, reduce time.Duration) {
	t.queries += int64(queries)
	t.reduce += reduce
}

// collect adds a tally to the target's. The caller must hold t.mu.
func (t *Target) collect(o *tally) {
	if o.epoch != t.epoch.Load() {
		return
	}
	t.total.queries += o.queries
	t.total.reduce += o.reduce
	for i := range o.parts {
		p, c := &t.total.parts[i], &o.parts[i]
		p.time += c.time
		p.distances += c.distances
		p.queries += c.queries
		p.brute += c.brute
		p.ef = max(p.ef, c.ef)
	}
	for i := range o.slow.list {
		t.slow.insert(o.slow.list[i])
	}
	o.reset(len(o.parts))
}

// maxSlowSegments is the maximum number of segments listed for a slow query.
const maxSlowSegments = 10

// slowest holds the slowest queries, the slowest first, at most limit.
type slowest struct {
	limit int
	list  []SlowQuery
	rank  []int
}

func (s *slowest) reset(limit int) { s.limit, s.list = limit, s.list[:0] }

// offer adds a query if it is one of the slowest.
func (s *slowest) offer(t *Target, request int, took time.Duration, parts []partCost) {
	if s.limit <= 0 || len(s.list) == s.limit && took <= s.list[s.limit-1].Took {
		return
	}
	s.rank = s.rank[:0]
	for i := range parts {
		s.rank = append(s.rank, i)
	}
	slices.SortFunc(s.rank, func(a, b int) int { return cmp.Compare(parts[b].took, parts[a].took) })
	var times []SegmentTime
	if len(s.list) == s.limit {
		times = s.list[s.limit-1].Segments[:0]
	}
	for _, i := range s.rank[:min(len(s.rank), maxSlowSegments)] {
		p := t.parts[i]
		times = append(times, SegmentTime{
			Segment: p.Info.ID, Node: t.serves(p.Info), State: t.state(p), Took: parts[i].took,
			Distances: parts[i].distances,
		})
	}
	s.insert(SlowQuery{Request: request, Took: took, Segments: times})
}

// insert inserts a query in order and drops the last one if there are too many.
func (s *slowest) insert(q SlowQuery) {
	at, _ := slices.BinarySearchFunc(s.list, q.Took, func(a SlowQuery, took time.Duration) int {
		if a.Took >= took {
			return -1
		}
		return 1
	})
	if len(s.list) == s.limit {
		if at == s.limit {
			return
		}
		s.list = s.list[:s.limit-1]
	}
	s.list = slices.Insert(s.list, at, q)
}
