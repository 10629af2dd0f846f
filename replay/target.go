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

// TargetOptions say how the engine answers.
type TargetOptions struct {
	// Options are those of the release whose answers are wanted: segment.Milvus. With RowsOnly all segments are searched row by row.
	Options segment.Options
	// Replica is the index into Layout.Replicas of the copy that is searched.
	Replica int
	// State is how a part is searched in place of Part.State: row by row unless it is Indexed. nil leaves it.
	State func(*Part) State
	// Slowest is how many of the slowest requests are kept; 0 is 20, less than 0 none.
	Slowest int
	// Clock is a time that never goes back; nil is the system's.
	Clock func() time.Duration
}

const slowestKept = 20

// Target answers as the cluster would: it searches each segment, reduces by node, by shard leader and as the proxy does. Sessions may
// be used side by side; the Loaded must stay as it is until all are closed.
type Target struct {
	loaded  *Loaded
	options TargetOptions
	metric  engine.Metric
	parts   []*Part
	probes  []*segment.Probe // those that sessions clone; of each part
	indexed []bool           // parts that are searched by an index
	shards  []shard
	groups  []*group

	meanLength float32 // of documents, under BM25

	// Left counts segments that were loaded and that the replica does not serve.
	Left int

	epoch atomic.Int64 // of costs: ResetCosts starts another one
	mu    sync.Mutex
	total tally
	slow  slowest
	open  int // sessions
}

// shard is one vchannel: its leader asks the nodes that have segments of it.
type shard struct {
	channel string
	groups  []*group
}

// group is the segments of one shard on one node.
type group struct {
	number int // among all groups
	node   int64
	parts  []int
}

// NewTarget returns a target over what was loaded. The error names a segment that cannot be searched, or what the layout lacks.
func NewTarget(l *Loaded, o TargetOptions) (*Target, error) {
	if o.Replica < 0 || o.Replica > 0 && o.Replica >= len(l.Layout.Replicas) {
		return nil, fmt.Errorf("replay collection %s: no replica %d; it has %d", l.Layout.Collection.Name, o.Replica, len(l.Layout.Replicas))
	}
	if o.Clock == nil {
		start := time.Now()
		o.Clock = func() time.Duration { return time.Since(start) }
	}
	o.Slowest = cmp.Or(o.Slowest, slowestKept)
	t := &Target{loaded: l, options: o, metric: l.Layout.Collection.Metric}
	t.groups = t.spread()
	if len(t.parts) == 0 {
		return nil, fmt.Errorf("replay collection %s: replica %d serves no loaded segment", l.Layout.Collection.Name, o.Replica)
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

// state is how a part is searched.
func (t *Target) state(p *Part) State {
	if t.options.State == nil {
		return p.State
	}
	return t.options.State(p)
}

// spread gives each part to its shard and node. A layout in which nobody serves anything is one node of all.
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
			t.Left++
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

// serves is the node that has a segment in the replica; 0 if none has.
func (t *Target) serves(s *Segment) int64 {
	if t.options.Replica < len(s.On) {
		return s.On[t.options.Replica]
	}
	return 0
}

// Name is what a report calls the target.
func (t *Target) Name() string { return "engine" }

// Session opens one more client: it has its own searchers of all segments, and searches one after the other.
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

// check is what is wrong with a request before anything is searched.
func (t *Target) check(r *load.Request) error {
	v := t.parts[0].Data.Vectors
	switch {
	case r.Vectors == nil || r.Vectors.Rows == 0:
		return errors.New("a request without vectors")
	case r.Vectors.Dim != v.Dim || r.Vectors.Element != v.Element:
		return fmt.Errorf("a query of %d dimensions of %s, the collection has %d of %s", r.Vectors.Dim, r.Vectors.Element, v.Dim, v.Element)
	case r.K <= 0:
		return fmt.Errorf("k is %d, must be positive", r.K)
	}
	return nil
}
