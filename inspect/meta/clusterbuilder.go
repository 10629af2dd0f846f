package meta

import (
	"context"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// clusterBuilder is a store at one revision, and the last Cluster built from it. Changes are applied key by key. The
// next Cluster shares unchanged objects with the last one.
type clusterBuilder struct {
	state   *state
	ranges  rangeList
	info    snapshotInfo
	cluster *model.Cluster
	dirty   bool // changed since the last build
}

// newClusterBuilder loads a snapshot and builds its Cluster.
func newClusterBuilder(ctx context.Context, snap source.Snapshot, want Want) (*clusterBuilder, error) {
	state, ranges, err := load(ctx, snap, want)
	if err != nil {
		return nil, err
	}
	s := &clusterBuilder{state: state, ranges: ranges, info: newSnapshotInfo(snap)}
	s.cluster = state.build(nil, s.info)
	return s, nil
}

// applyEvent applies a change and reports whether its key is in the ranges. created means that the key did not exist
// before.
func (s *clusterBuilder) applyEvent(e *source.Event, created bool) bool {
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
func (s *clusterBuilder) build() *model.Cluster {
	switch o := &s.cluster.Origin; {
	case s.dirty || s.info.recent != s.cluster.Recent:
		s.dirty = false
		s.cluster = s.state.build(s.cluster, s.info)
	case s.info.revision != o.Revision || !s.info.taken.Equal(o.Taken):
		s.cluster = s.cluster.At(s.info.revision, s.info.taken)
	}
	return s.cluster
}
