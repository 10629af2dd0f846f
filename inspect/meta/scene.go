package meta

import (
	"context"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// scene is a store at one revision, and the Cluster that was made of it last: what changes is taken in key by key, and built into a
// Cluster that shares with the last one what did not change.
type scene struct {
	state   *state
	ranges  rangeList
	head    headline
	cluster *model.Cluster
	dirty   bool // something was taken in since
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

// take takes a change in, unless nobody wants that key; created says that the key did not exist before.
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

// build is the Cluster of now.
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
