package replay

import (
	"context"
	"slices"
	"sync/atomic"

	"kitescope/replay/load"
)

// Answers holds hits by request number and by the request's vectors, nearest first.
type Answers struct {
	// From is the source of the hits: "exact, by the engine", "the log's own", or a target's name.
	From string
	Hits map[int][][]load.Hit
	// KeysOnly reports that distances are unknown, as in the truth of a log.
	KeysOnly bool
}

// Recorder is a target that keeps the first answer to each request.
type Recorder struct {
	load.Target
	slots map[int]*slot // by request number
}

type slot struct {
	state atomic.Int32 // 0 empty, 1 being filled, 2 full
	hits  [][]load.Hit
}

// Record returns a recorder that wraps a target.
func Record(t load.Target, requests []*load.Request) *Recorder {
	r := &Recorder{Target: t, slots: make(map[int]*slot, len(requests))}
	for _, q := range requests {
		r.slots[q.Number] = &slot{}
	}
	return r
}

// Session opens a session that records its answers.
func (r *Recorder) Session(ctx context.Context) (load.Session, error) {
	s, err := r.Target.Session(ctx)
	if err != nil {
		return nil, err
	}
	return &recordedSession{s, r}, nil
}

type recordedSession struct {
	load.Session
	recorder *Recorder
}

func (s *recordedSession) Ask(ctx context.Context, q *load.Request) (*load.Answer, error) {
	a, err := s.Session.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	if at := s.recorder.slots[q.Number]; at != nil && at.state.Load() == 0 && at.state.CompareAndSwap(0, 1) {
		at.hits = copyHits(a.Hits)
		at.state.Store(2)
	}
	return a, nil
}

// copyHits returns a copy of the hits of several vectors in a single allocation.
func copyHits(from [][]load.Hit) [][]load.Hit {
	all := slices.Concat(from...)
	list := make([][]load.Hit, len(from))
	for i, h := range from {
		list[i], all = all[:len(h):len(h)], all[len(h):]
	}
	return list
}

// Answers returns the answers that were recorded so far.
func (r *Recorder) Answers() *Answers {
	a := &Answers{From: r.Name(), Hits: make(map[int][][]load.Hit, len(r.slots))}
	for number, s := range r.slots {
		if s.state.Load() == 2 {
			a.Hits[number] = s.hits
		}
	}
	return a
}
