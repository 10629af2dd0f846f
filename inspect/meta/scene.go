package meta

import (
	"context"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// scene is a store at one revision, and the last Cluster built from it. Changes are applied key by key. The next
// Cluster shares unchanged objects with the last one.
type scene struct {
	state   *state
	ranges  rangeList
	head    headline
	cluster *model.Cluster
	dirty   bool // changed since the last build
}

// openScene loads a snapshot and builds its Cluster.
func openScene(ctx context.Context, snap source.Snapshot, want Want) (*scene, error) {
	state, ranges, err := load(ctx, snap, want)
	if err != nil {
		return nil, err
	}
	s := &scene{state: state, ranges: ranges, head: headlineOf(snap)}
	s.cluster = state.build(nil, s.head)
	return s, nil
}

// take applies a change and reports whether its key is in the ranges. created means that the key did not exist
// before.
func (s *scene) take(e *source.Event, created bool) bool {
	if !s.ranges.contains(e.Key) {
		return false
	}
	s.dirty = true
	if e.Deleted {
		s.state.remove(e.Key)
	} else {
		s.state.put(e.KV, created)
	}
	return true
}

// build returns the current Cluster.
func (s *scene) build() *model.Cluster {
	switch o := &s.cluster.Origin; {
	case s.dirty || s.head.recent != s.cluster.Recent:
		s.dirty = false
		s.cluster = s.state.build(s.cluster, s.head)
	case s.head.revision != o.Revision || !s.head.taken.Equal(o.Taken):
		s.cluster = s.cluster.At(s.head.revision, s.head.taken)
	}
	return s.cluster
}
