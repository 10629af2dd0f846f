package replay

import (
	"context"
	"time"

	"kitescope/engine/segment"
	"kitescope/replay/load"
)

// session is one client of the engine.
type session struct {
	target *Target
	merger *merger
	worker *worker
	answer load.Answer
	nodes  answers // hits of the groups, by group and vector
}

// Ask answers a request.
func (s *session) Ask(ctx context.Context, r *load.Request) (*load.Answer, error) {
	if err := s.target.check(r); err != nil {
		return nil, err
	}
	w := s.worker
	w.tally.syncEpoch(s.target)
	clock := s.target.options.Clock
	began := clock()
	now := began
	s.nodes.reset()
	reduced := began
	var reduce time.Duration
	for i, g := range s.target.groups {
		if i > 0 {
			reduced = clock()
			reduce += reduced - now
		}
		var err error
		if now, err = w.search(ctx, g, r, reduced, &s.nodes); err != nil {
			return nil, err
		}
	}
	s.merger.merge(&s.nodes, r, &s.answer)
	end := clock()
	w.tally.add(r.Vectors.Rows, reduce+end-now)
	s.answer.Distances = 0
	for i := range w.last {
		s.answer.Distances += w.last[i].distances
	}
	w.tally.slow.offer(s.target, r.Number, end-began, w.last)
	return &s.answer, nil
}

// Close adds the session's costs to the target's.
func (s *session) Close() error {
	t := s.target
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.worker != nil {
		t.collect(&s.worker.tally)
	}
	s.worker = nil
	t.open--
	return nil
}

// merger merges the hits of nodes, first by shard leader and then as the proxy does.
type merger struct {
	target  *Target
	reducer *segment.Reducer
	lists   [][]segment.Hit
	shards  answers
	hits    []segment.Hit
	out     []load.Hit
}

func newMerger(t *Target) *merger {
	return &merger{target: t, reducer: segment.NewReducer(t.metric)}
}

// merge writes the answer for the hits of the groups to a. nodes.at(g*rows+q) returns the hits of group g for
// vector q.
func (m *merger) merge(nodes *answers, r *load.Request, a *load.Answer) {
	rows := r.Vectors.Rows
	a.Hits, m.out = a.Hits[:0], m.out[:0]
	for q := range rows {
		m.shards.reset()
		for i := range m.target.shards {
			m.lists = m.lists[:0]
			for _, g := range m.target.shards[i].groups {
				m.lists = append(m.lists, nodes.at(g.number*rows+q))
			}
			m.reduce(r.K)
		}
		m.lists = m.lists[:0]
		for i := range m.target.shards {
			m.lists = append(m.lists, m.shards.at(i))
		}
		hits := m.lists[0]
		if len(m.lists) > 1 {
			m.hits = m.reducer.Reduce(m.lists, r.K, m.hits[:0])
			hits = m.hits
		}
		first := len(m.out)
		for i := range hits {
			m.out = append(m.out, load.Hit{Key: hits[i].Key(), Distance: hits[i].Distance})
		}
		a.Hits = append(a.Hits, m.out[first:len(m.out):len(m.out)])
	}
}

// reduce appends the hits of a shard leader. A single node's hits need no merge, because each key occurs once.
func (m *merger) reduce(k int) {
	if len(m.lists) == 1 {
		m.shards.hits = append(m.shards.hits, m.lists[0]...)
	} else {
		m.shards.hits = m.reducer.Reduce(m.lists, k, m.shards.hits)
	}
	m.shards.ends = append(m.shards.ends, len(m.shards.hits))
}
