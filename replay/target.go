package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay/load"
)

// TargetOptions are the options of NewTarget.
type TargetOptions struct {
	// Options are the engine options of the release to reproduce (segment.Milvus). With RowsOnly all segments are
	// searched row by row.
	Options segment.Options
	// Replica is the index in Layout.Replicas of the copy to search.
	Replica int
	// State overrides Part.State: a part is searched row by row unless State returns Indexed. nil: no override.
	State func(*Part) State
	// Slowest is the number of slowest requests to keep; 0: 20, negative: none.
	Slowest int
	// Clock is a monotonic clock; nil: the system's.
	Clock func() time.Duration
}

const defaultSlowest = 20

// Target answers requests as the cluster would: it searches each segment and reduces the hits by node, by shard
// leader and as the proxy does. Sessions may be used concurrently. The Loaded must not change until all sessions
// are closed.
type Target struct {
	loaded  *Loaded
	options TargetOptions
	metric  engine.Metric
	parts   []*Part
	probes  []*segment.Probe // by part; sessions use clones
	indexed []bool           // by part: searched by an index
	shards  []shard
	groups  []*group

	meanLength float32 // mean length of documents, for BM25

	// Unserved is the number of loaded segments that the replica does not serve.
	Unserved int

	epoch atomic.Int64 // number of calls of ResetCosts
	mu    sync.Mutex
	total tally
	slow  slowest
	open  int // sessions
}

// shard is one vchannel. Its leader sends requests to the nodes that have segments of the vchannel.
type shard struct {
	channel string
	groups  []*group
}

// group holds the segments of a shard on a node.
type group struct {
	number int // index among all groups
	node   int64
	parts  []int
}

// NewTarget returns a target over loaded segments. It returns an error if a segment cannot be searched, or if the
// layout lacks the replica or serves no loaded segment.
func NewTarget(l *Loaded, o TargetOptions) (*Target, error) {
	if o.Replica < 0 || o.Replica > 0 && o.Replica >= len(l.Layout.Replicas) {
		return nil,
			fmt.Errorf("replay collection %s: no replica %d; it has %d", l.Layout.Collection.Name, o.Replica,
				len(l.Layout.Replicas))
	}
	if o.Clock == nil {
		start := time.Now()
		o.Clock = func() time.Duration { return time.Since(start) }
	}
	o.Slowest = cmp.Or(o.Slowest, defaultSlowest)
	t := &Target{loaded: l, options: o, metric: l.Layout.Collection.Metric}
	t.groups = t.spread()
	if len(t.parts) == 0 {
		return nil,
			fmt.Errorf("replay collection %s: replica %d serves no loaded segment", l.Layout.Collection.Name, o.Replica)
	}
	for _, p := range t.parts {
		if p.Data.Metric != t.parts[0].Data.Metric {
			return nil, fmt.Errorf("segments %d and %d have different metrics", t.parts[0].Data.ID, p.Data.ID)
		}
		s := l.Layout.Collection.sparseOptions(o.Options)
		s.RowsOnly = s.RowsOnly || t.state(p) != Indexed
		probe, err := segment.NewProbe(p.Data, s)
		if err != nil {
			return nil, err
		}
		t.probes = append(t.probes, probe)
		t.indexed = append(t.indexed, probe.Indexed())
	}
	t.metric = t.parts[0].Data.Metric
	t.meanLength = l.meanLength()
	t.total.reset(len(t.parts))
	t.slow.reset(max(o.Slowest, 0))
	return t, nil
}

// state returns how a part is searched.
func (t *Target) state(p *Part) State {
	if t.options.State == nil {
		return p.State
	}
	return t.options.State(p)
}

// spread assigns each part to its shard and node. If no segment of the layout is served, all parts are on one
// node.
func (t *Target) spread() []*group {
	served := false
	for i := range t.loaded.Layout.Segments {
		served = served || t.serves(&t.loaded.Layout.Segments[i]) != 0
	}
	type place struct {
		channel string
		node    int64
	}
	groups, shards := map[place]*group{}, map[string]int{}
	var list []*group
	for _, p := range t.loaded.Parts {
		at := place{p.Info.Channel, t.serves(p.Info)}
		if served && at.node == 0 {
			t.Unserved++
			continue
		}
		g := groups[at]
		if g == nil {
			g = &group{number: len(list), node: at.node}
			groups[at], list = g, append(list, g)
			s, known := shards[at.channel]
			if !known {
				s = len(t.shards)
				shards[at.channel] = s
				t.shards = append(t.shards, shard{channel: at.channel})
			}
			t.shards[s].groups = append(t.shards[s].groups, g)
		}
		g.parts = append(g.parts, len(t.parts))
		t.parts = append(t.parts, p)
	}
	return list
}

// serves returns the node that serves a segment in the replica; 0 if there is none.
func (t *Target) serves(s *Segment) int64 {
	if t.options.Replica < len(s.On) {
		return s.On[t.options.Replica]
	}
	return 0
}

// Name returns the target's name in reports.
func (t *Target) Name() string { return "engine" }

// Session opens a client. It has its own searchers and searches all segments one after the other.
func (t *Target) Session(ctx context.Context) (load.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, err := t.newWorker(t.groups)
	if err != nil {
		return nil, err
	}
	s := &session{target: t, merger: newMerger(t), worker: w}
	t.mu.Lock()
	t.open++
	t.mu.Unlock()
	return s, nil
}

// check returns an error if a request is invalid.
func (t *Target) check(r *load.Request) error {
	v := t.parts[0].Data.Vectors
	switch {
	case r.Vectors == nil || r.Vectors.Rows == 0:
		return errors.New("a request without vectors")
	case r.Vectors.Dim != v.Dim || r.Vectors.Element != v.Element:
		return fmt.Errorf("a query of %d dimensions of %s, the collection has %d of %s", r.Vectors.Dim,
			r.Vectors.Element, v.Dim, v.Element)
	case r.K <= 0:
		return fmt.Errorf("k is %d, must be positive", r.K)
	}
	return nil
}
