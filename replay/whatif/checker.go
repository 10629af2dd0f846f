package whatif

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
	"kitescope/replay/schedule"
	"kitescope/replay/simulate"
)

// checker asks the engine here.
type checker struct {
	x        *prediction
	requests []*load.Request
	took     time.Duration
	// target has the segments that were measured, bare as many with next to no rows; segments are what those of target cost.
	target, bare   *replay.Target
	segments       []simulate.Segment
	search, little time.Duration // in segments of target and of bare, one vector
	cores          float64
}

// newChecker is nil, with a note, if no segment was measured as it is.
func (x *prediction) newChecker(ctx context.Context, base *priced, cores float64) (*checker, error) {
	requests, err := single(x.Log, x.ask)
	if err != nil {
		return nil, fmt.Errorf("check against the engine: %w", err)
	}
	k := &checker{x: x, requests: requests, took: cmp.Or(x.Check, time.Second), cores: cores}
	var full, bare []*replay.Part
	var list []*subject
	at := map[int64]int{}
	l := clone(x.layout)
	l.Nodes = []replay.Node{{ID: 1, Name: "this machine", Cores: cores, Read: machineKnobs(l.Version, cores)}}
	l.Replicas = []replay.Replica{{ID: 1, Nodes: []int64{1}, Leaders: map[string]int64{"all": 1}}}
	for i := range l.Segments {
		l.Segments[i].On, l.Segments[i].Channel = []int64{1}, "all"
		at[l.Segments[i].ID] = i
	}
	for _, p := range x.Loaded.Parts {
		// What was not measured, or is searched otherwise here than it was, is not what costs are of.
		i, there := at[p.Info.ID]
		if !there || base.modelled[i] || p.State != p.Info.State || p.Data.Rows == 0 {
			continue
		}
		few, err := first(p.Data, x.ask.params.K) // as much to merge as of all rows
		if err != nil {
			return nil, fmt.Errorf("check against the engine: %w", err)
		}
		full = append(full, p.As(&l.Segments[i]))
		bare = append(bare, &replay.Part{Info: &l.Segments[i], State: replay.Unindexed, Data: few})
		list = append(list, firstRows(few, true))
		c := base.costs[i]
		k.search += c.Mean
		k.segments = append(k.segments, simulate.Segment{Mean: c.Mean, SD: c.SD})
	}
	if len(full) == 0 {
		x.note("simulation not compared with the engine: no segment was measured unchanged")
		return nil, nil
	}
	if err := bench(ctx, list, x.ask.unfiltered(), x.model.table.artifacts.options, x.Limits.Rounds, nil); err != nil {
		return nil, err
	}
	for _, s := range list {
		k.little += s.least()
	}
	o := replay.TargetOptions{Options: x.model.table.artifacts.options, Scheduler: true, Slowest: -1}
	if k.target, err = replay.NewTarget(x.Loaded.With(l, full), o); err == nil {
		k.bare, err = replay.NewTarget(x.Loaded.With(l, bare), o)
	}
	if err != nil {
		return nil, fmt.Errorf("check against the engine: %w", err)
	}
	return k, nil
}

// first is the first rows of a segment, without copying them and without an index.
func first(s *segment.Segment, rows int) (*segment.Segment, error) {
	rows = min(rows, s.Rows)
	v, err := s.Vectors.Slice(0, rows)
	if err != nil {
		return nil, err
	}
	c := &segment.Segment{ID: s.ID, Rows: rows, Vectors: v, Deleted: engine.NewBitset(rows), Metric: s.Metric}
	if s.Strings != nil {
		c.Strings = s.Strings[:rows]
	} else {
		c.Int64s = s.Int64s[:rows]
	}
	return c, nil
}

func (k *checker) run(ctx context.Context, t *replay.Target, requests []*load.Request, sessions int, took time.Duration) (*load.Point, error) {
	plan := load.Plan{Sessions: sessions, Warmup: took / 4, Round: took, Rounds: 1, Deadline: time.Minute, CPU: k.x.CPU}
	point, err := load.Run(ctx, t, requests, plan)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("check against the engine: %w", err)
	}
	return point, nil
}

// overhead is what a request of so many sessions takes of a core apart from searching segments: the queue, goroutines, merging, and the
// load's own work. Cores that wait for goroutines to wake are not free for others here: it counts.
func (k *checker) overhead(ctx context.Context, sessions int) (time.Duration, error) {
	point, err := k.run(ctx, k.bare, unfiltered(k.requests), sessions, k.took/4)
	if err != nil || point.QPS == 0 {
		return 0, err
	}
	whole := min(float64(sessions), k.cores) / point.QPS * float64(time.Second)
	return max(0, time.Duration(whole)-k.little), nil
}

// machine is the cluster of that one node: a task searches its segments one after the other.
func (k *checker) machine(over time.Duration) *simulate.Cluster {
	node := simulate.Node{ID: 1, Name: "this machine", Read: machineKnobs(k.x.layout.Version, k.cores), Overhead: over, Parallel: 1}
	return &simulate.Cluster{
		Nodes: []simulate.Node{node},
		Collections: []simulate.Collection{{
			Name: "all", Weight: 1, Replicas: [][]simulate.Shard{{{Segments: k.segments}}}, Correlation: correlation,
		}},
	}
}

// machineKnobs do not group: the engine's groups are searched one vector after the other, and costs are of one.
func machineKnobs(version string, cores float64) schedule.Knobs {
	k := schedule.Defaults(version, cores)
	k.Grouping, k.MaxNQ, k.CPURatio = false, 1, 0
	return k
}

// unfiltered are requests without their filters.
func unfiltered(requests []*load.Request) []*load.Request {
	list := make([]*load.Request, len(requests))
	for i, r := range requests {
		c := *r
		c.Keys, c.Exclude, c.Expr = nil, false, ""
		list[i] = &c
	}
	return list
}

// single are requests of one vector each with the parameters that were measured.
func single(l *log.Log, a *asked) ([]*load.Request, error) {
	list, err := replay.Singles(l, 10_000)
	for _, r := range list {
		r.K, r.SearchParams = a.params.K, a.params.SearchParams
	}
	return list, err
}
