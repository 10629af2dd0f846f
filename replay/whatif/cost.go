package whatif

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// Limits bounds the work of a prediction. The zero value selects the defaults.
type Limits struct {
	// BuildRows is the maximum number of rows, over all segments, for which graphs are built: 200,000 by default;
	// a negative value builds none. Costs of further graphs are computed.
	BuildRows int64
	// Queries is the number of evenly spaced queries of the log that measure costs and recall: 64 by default. Rounds
	// is the number of times that each query is searched: 3 by default.
	Queries, Rounds int
}

func (l Limits) withDefaults() Limits {
	l.BuildRows = cmp.Or(l.BuildRows, 200_000)
	l.Queries, l.Rounds = cmp.Or(max(0, l.Queries), 64), cmp.Or(max(0, l.Rounds), 3)
	return l
}

// Defaults used when neither the log nor a flag sets them.
const (
	defaultK  = 10
	defaultEF = 64
)

// sample is the part of the log that is searched to measure costs.
type sample struct {
	requests []*load.Request // with one vector each, and with their filters
	params   segment.Params
}

// sampleOf selects n evenly spaced vectors of a log. Parameters that p does not set have the values of most
// requests.
func sampleOf(l *log.Log, n int, p segment.Params) (*sample, error) {
	if l.Vectors == nil || l.Vectors.Rows == 0 {
		return nil, fmt.Errorf("log %s has no vectors: costs cannot be measured", l.Name)
	}
	a := &sample{params: p}
	var err error
	if a.requests, err = replay.Singles(l, n); err != nil {
		return nil, err
	}
	if len(a.requests) == 0 {
		return nil, fmt.Errorf("log %s has no requests: costs cannot be measured", l.Name)
	}
	usual := segment.Params{K: mode(l, func(r *log.Request) int { return r.K })}
	for f := range engine.EachSearchParam() {
		x := mode(l, func(r *log.Request) float64 {
			x, _ := f.Get(&r.SearchParams)
			return x
		})
		if x > 0 {
			f.Set(&usual.SearchParams, x)
		}
	}
	a.params.K = cmp.Or(p.K, usual.K, defaultK)
	a.params.SearchParams = p.Or(usual.SearchParams).Or(engine.SearchParams{
		EF: defaultEF, NProbe: segment.DefaultNProbe,
	})
	a.params.EF = max(a.params.EF, a.params.K) // Milvus rejects less: "ef should be larger than k" (hnsw_config.h)
	return a, nil
}

// mode returns the value that most requests have, and the smallest one in case of a tie.
func mode[T cmp.Ordered](l *log.Log, get func(*log.Request) T) (value T) {
	counts, most := map[T]int{}, 0
	for i := range l.Requests {
		counts[get(&l.Requests[i])]++
	}
	for v, n := range counts {
		if n > most || n == most && v < value {
			value, most = v, n
		}
	}
	return value
}

// withEF returns the same sample with another ef; 0 leaves it unchanged.
func (a *sample) withEF(ef int) *sample {
	c := *a
	if ef > 0 {
		c.params.EF = max(ef, c.params.K)
	}
	return &c
}

// MeasuredCost is the cost of a query on a segment, searched here by one thread: the mean and the standard deviation
// over queries. The cost of each query is the median of its rounds.
type MeasuredCost struct {
	Mean, SD time.Duration
}

// costPoint is the measured cost of a segment.
type costPoint struct{ rows, ns float64 }

// costs measures and computes the cost of a query on each segment, on this machine.
type costs struct {
	loaded  *replay.Loaded
	parts   map[int64]*replay.Part // by segment
	current map[int64]bool         // segments of the present cluster
	options segment.Options
	limits  Limits
	sample  *sample
	step    func(string)

	built         map[string]*segment.Segment // graphs, by segment and parameters
	builtRows     int64
	measured      map[string]MeasuredCost // by segment, index and search parameters
	points        map[string][]costPoint  // by index and search parameters
	partsMeasured map[string]bool         // kinds for which parts of a segment were measured
	bruteForced   map[string]bool         // kinds whose graphs are not searched, because filters leave too few rows
	// relative errors of measured segments, if computed from the nearest one before
	errors         []float64
	exact          *nearest // the true nearest neighbors
	filters        map[filterKey]filterResult
	rows, excluded float64 // rows that filters evaluated, and rows that they excluded
}

func newCosts(loaded *replay.Loaded, a *sample, limits Limits, step func(string)) *costs {
	t := &costs{
		loaded: loaded, parts: map[int64]*replay.Part{}, current: map[int64]bool{},
		options: replay.OptionsFor(loaded.Layout.Version), limits: limits,
		sample: a, step: step, built: map[string]*segment.Segment{}, measured: map[string]MeasuredCost{},
		points: map[string][]costPoint{}, partsMeasured: map[string]bool{}, bruteForced: map[string]bool{},
		filters: map[filterKey]filterResult{},
	}
	for _, p := range loaded.Parts {
		t.parts[p.Info.ID] = p
	}
	for i := range loaded.Layout.Segments {
		t.current[loaded.Layout.Segments[i].ID] = true
	}
	return t
}

// kindOf returns the key of the measurements from which the cost of a segment can be computed.
func kindOf(s replay.State, x replay.Index, a *sample) string {
	if s != replay.Indexed || rowByRow(x.Type) {
		return "rows"
	}
	return fmt.Sprintf("%s %d %d %d ef %d nprobe %d", x.Type, x.M, x.EFConstruction, x.NList, a.params.EF,
		a.params.NProbe)
}

// effort returns the work of a search relative to other searches of the same kind: the number of rows compared or,
// for a graph, ef times the binary logarithm of its rows, because walks grow with that logarithm.
func effort(s replay.State, x replay.Index, rows float64, a *sample) float64 {
	rows = max(rows, 1)
	switch {
	case s != replay.Indexed || rowByRow(x.Type):
		return rows
	case isIVF(x.Type):
		n := float64(cmp.Or(x.NList, assumedNList))
		return min(rows+n, n+rows*min(1, float64(a.params.NProbe)/n))
	}
	return min(rows, float64(a.params.EF)*math.Log2(max(2, rows)))
}

// pricedVariant is a variant with the cost of each of its segments for one vector on the engine.
type pricedVariant struct {
	*variant
	sample     *sample
	costs      []MeasuredCost // parallel to Layout.Segments
	modelled   []bool
	recall     float64
	unmeasured map[string]int  // counts of reasons why segments were not measured
	guesses    map[string]bool // assumptions of computed costs
}

// price measures the loaded segments of a variant and computes the cost of all other segments.
func (t *costs) price(ctx context.Context, v *variant, a *sample) (*pricedVariant, error) {
	p := &pricedVariant{
		variant: v, sample: a, costs: make([]MeasuredCost, len(v.Segments)), modelled: make([]bool, len(v.Segments)),
		recall: -1, unmeasured: map[string]int{}, guesses: map[string]bool{},
	}
	subjects := make([]*subject, len(v.Segments))
	for i := range v.Segments {
		s, why, err := t.subject(ctx, &v.Segments[i], a)
		if err != nil {
			return nil, err
		}
		if s == nil {
			p.modelled[i] = true
			p.unmeasured[why]++
		}
		subjects[i] = s
	}
	whole := !slices.Contains(p.modelled, true)
	var err error
	if p.recall, err = t.measure(ctx,
		slices.DeleteFunc(slices.Clone(subjects), func(s *subject) bool { return s == nil }), whole, a); err != nil {
		return nil, err
	}
	typical := v.typicalRows()
	for i, s := range subjects {
		if s != nil {
			p.costs[i] = t.measured[s.key]
			continue
		}
		g := &v.Segments[i]
		if p.costs[i], err = t.compute(ctx, p, g.State, g.Index, float64(rowsOf(g, typical))); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// subject is a segment to measure.
type subject struct {
	key, kind string
	state     replay.State
	index     replay.Index
	data      *segment.Segment
	part      *replay.Part // the owner of the rows, for filters
	rowsOnly  bool

	probe         *segment.Probe
	hits          []engine.Hit
	found         []segment.Hit
	times         [][]time.Duration // by query, one of each round
	graphSearches int               // queries that walked a graph
}

// subject returns a segment with its vectors and its index, or nil and the reason if it cannot be measured here.
// Graphs are built with one thread each, so that builds are reproducible.
func (t *costs) subject(ctx context.Context, s *replay.Segment, a *sample) (found *subject, why string, err error) {
	p := t.parts[s.ID]
	if p == nil {
		if t.current[s.ID] {
			return nil, "are not loaded", nil
		}
		return nil, "are copies, or re-cut", nil
	}
	if s.Rows > 0 && float64(p.Data.Rows) < 0.9*float64(s.Rows) {
		return nil, "are only partly in storage", nil
	}
	x := &subject{
		kind: kindOf(s.State, s.Index, a), state: s.State, index: s.Index, data: p.Data, part: p,
		rowsOnly: s.State != replay.Indexed,
	}
	x.key = fmt.Sprintf("%d %s", s.ID, x.kind)
	switch {
	case x.rowsOnly:
		return x, "", nil
	case p.Info.State == replay.Indexed && p.Info.Index == s.Index: // its own index
		if p.Data.Index == nil {
			return nil, "have an index that could not be read or searched here", nil
		}
		return x, "", nil
	}
	x.data, why, err = t.graphOf(ctx, p.Data, s.Index)
	if x.data == nil || err != nil {
		return nil, why, err
	}
	return x, "", nil
}

// graphOf returns a segment with a graph of its rows, or nil and the reason if no graph is built.
func (t *costs) graphOf(
	ctx context.Context, s *segment.Segment, x replay.Index,
) (with *segment.Segment, why string, err error) {
	key := fmt.Sprintf("%d %d %d %d", s.ID, s.Rows, x.M, x.EFConstruction)
	if with := t.built[key]; with != nil {
		return with, "", nil
	}
	switch {
	case x.Type != typeHNSW:
		return nil, "need an index that is not built here: " + x.Type, nil
	case s.Vectors.Element != dist.Float32:
		return nil, "need graphs, which only float32 vectors get", nil
	case t.limits.BuildRows < 0:
		return nil, "need graphs, and building is turned off", nil
	case t.builtRows+int64(s.Rows) > t.limits.BuildRows:
		return nil, fmt.Sprintf("need graphs of more than %d rows in all", t.limits.BuildRows), nil
	}
	t.builtRows += int64(s.Rows)
	t.step(fmt.Sprintf("build graph of segment %d, %d rows", s.ID, s.Rows))
	with, err = buildGraph(ctx, s, x, t.options)
	t.built[key] = with
	return with, "", err
}

// buildGraph returns the segment with a graph of its rows, in the memory layout of knowhere.
func buildGraph(ctx context.Context, s *segment.Segment, x replay.Index, o segment.Options) (*segment.Segment, error) {
	g, err := hnsw.Build(ctx, s.Vectors, hnsw.BuildOptions{
		M: x.M, EFConstruction: x.EFConstruction, Metric: s.Metric, Threads: 1, Library: o.Library,
	})
	if err != nil {
		return nil, fmt.Errorf("build a graph of segment %d: %w", s.ID, err)
	}
	c := *s
	c.Index = &index.File{
		Name: "built", Metric: s.Metric, MetricKnown: true, Dim: s.Vectors.Dim, Rows: s.Rows,
		Searchable: index.FromGraph(g),
	}
	return &c, nil
}

// measure searches the segments that were not measured yet. If whole is true, list is the whole collection: it
// searches all segments and returns the recall. Otherwise the recall is -1.
func (t *costs) measure(ctx context.Context, list []*subject, whole bool, a *sample) (float64, error) {
	rounds := t.limits.Rounds
	fresh := slices.DeleteFunc(slices.Clone(list),
		func(s *subject) bool { _, known := t.measured[s.key]; return known })
	var keep *nearest
	switch {
	case whole && len(list) > 0:
		keep = newNearest(a, list[0].data.Metric.Similarity())
		if len(fresh) == 0 {
			rounds = 1
		}
	case len(fresh) == 0:
		return -1, nil
	default:
		list = fresh
	}
	t.step(fmt.Sprintf("measure %d segments with %d queries", len(list), len(a.requests)))
	if err := t.bench(ctx, list, a, rounds, keep); err != nil {
		return -1, err
	}
	for _, s := range fresh {
		m := s.measured()
		t.measured[s.key] = m
		if s.state == replay.Indexed && 2*s.graphSearches < len(a.requests) && s.data.Index.Effort() == index.ByEF {
			t.bruteForced[s.kind] = true
			continue
		}
		t.add(s, a, m)
	}
	if keep == nil {
		return -1, nil
	}
	if t.exact == nil {
		t.step("compare with all rows")
		var all []*subject
		for _, p := range t.loaded.Parts {
			all = append(all, &subject{data: p.Data, part: p, rowsOnly: true})
		}
		t.exact = newNearest(a, all[0].data.Metric.Similarity())
		if err := t.bench(ctx, all, t.sample, 1, t.exact); err != nil {
			return -1, err
		}
	}
	return keep.recall(t.exact), nil
}

// bench searches all segments in turn for each query, as a node does, so that each search finds the caches as the
// other searches left them. The hits of the first round are added to keep.
func (t *costs) bench(ctx context.Context, list []*subject, a *sample, rounds int, keep *nearest) error {
	for _, s := range list {
		opts := t.options
		opts.RowsOnly = s.rowsOnly
		var err error
		if s.probe, err = segment.NewProbe(s.data, opts); err != nil {
			return err
		}
		s.times, s.graphSearches = make([][]time.Duration, len(a.requests)), 0
	}
	for round := -1; round < rounds; round++ { // round -1 warms up with about an eighth of the queries
		for q := range a.requests {
			if round < 0 && q > len(a.requests)/8 {
				break
			}
			for _, s := range list {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := t.search(s, q, a, round, keep); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (t *costs) search(s *subject, q int, a *sample, round int, keep *nearest) error {
	f, err := t.filter(s, a.requests[q])
	if err != nil {
		return err
	}
	began := time.Now()
	hits, cost, err := s.probe.Search(a.requests[q].Vectors.Row(0), a.params, f.excluded, s.hits[:0])
	took := time.Since(began)
	if s.hits = hits; err != nil || round < 0 {
		return err
	}
	s.times[q] = append(s.times[q], took+f.took)
	if round > 0 {
		return nil
	}
	if cost.Hops > 0 {
		s.graphSearches++
	}
	if keep != nil {
		s.found = s.probe.Hits(hits, s.found[:0])
		keep.add(q, s.found)
	}
	return nil
}

func (s *subject) measured() MeasuredCost {
	var medians []float64
	for _, times := range s.times {
		slices.Sort(times)
		medians = append(medians, float64(times[len(times)/2]))
	}
	mean, sd := meanAndSD(medians)
	return MeasuredCost{Mean: time.Duration(mean), SD: time.Duration(sd)}
}

// filterKey identifies a filter of a segment by its expression, or by the query if the filter is a list of keys.
type filterKey struct {
	segment int64
	expr    string
	query   int
}

// filterResult holds the rows that a filter excludes (nil without a filter) and the time that its evaluation takes.
type filterResult struct {
	excluded *engine.Bitset
	took     time.Duration
}

// filter evaluates the filter of a request once for each segment. Its time is the fastest of three evaluations.
func (t *costs) filter(s *subject, r *load.Request) (f filterResult, err error) {
	if !replay.Filtered(r) {
		return f, nil
	}
	key := filterKey{segment: s.data.ID, expr: r.Expr, query: r.Number}
	if r.Expr != "" {
		key.query = 0
	}
	f, known := t.filters[key]
	if !known {
		f = filterResult{engine.NewBitset(s.part.Data.Rows), math.MaxInt64}
		for range 3 {
			began := time.Now()
			if err := t.loaded.Filter(s.part, r, f.excluded); err != nil {
				return f, err
			}
			f.took = min(f.took, time.Since(began))
		}
		t.filters[key] = f
		t.rows, t.excluded = t.rows+float64(s.part.Data.Rows), t.excluded+float64(f.excluded.Count())
	}
	if s.data.Rows == f.excluded.Len() {
		return f, nil
	}
	part := filterResult{
		engine.NewBitset(s.data.Rows), f.took * time.Duration(s.data.Rows) / time.Duration(f.excluded.Len()),
	}
	for row := range s.data.Rows { // a segment that has the first rows only
		if f.excluded.Has(row) {
			part.excluded.Set(row)
		}
	}
	return part, nil
}

// maxCost limits the cost of a segment, in nanoseconds, so that sums over damaged layouts are bounded.
const maxCost = float64(1000 * time.Second)

// compute derives the cost of a segment from the nearest measured one of its kind, times the ratio of their
// efforts.
func (t *costs) compute(
	ctx context.Context, p *pricedVariant, s replay.State, x replay.Index, rows float64,
) (MeasuredCost, error) {
	graph := s == replay.Indexed && !rowByRow(x.Type) && !isIVF(x.Type)
	if graph && rows <= 2*float64(p.sample.params.EF) || t.bruteForced[kindOf(s, x, p.sample)] {
		s, graph = replay.Unindexed, false // knowhere compares with all rows if k is large: hnsw.BruteForceK
	}
	spread := 0.3
	if s != replay.Indexed {
		spread = 0.05
	}
	kind := kindOf(s, x, p.sample)
	if err := t.measureParts(ctx, kind, s, x, p.sample); err != nil {
		return MeasuredCost{}, err
	}
	if point, ok := nearestPoint(t.points[kind], rows); ok {
		ns := min(maxCost, point.ns*effort(s, x, rows, p.sample)/effort(s, x, point.rows, p.sample))
		return MeasuredCost{time.Duration(ns), time.Duration(spread * ns)}, nil
	}
	// No segment of this kind was measured: assume that it compares the rows it visits one by one.
	compared := effort(s, x, rows, p.sample)
	if graph {
		// A walk takes ef steps, and half of the 2M links of a row lead to rows not yet visited, anywhere in
		// memory.
		compared = min(rows, 2*float64(p.sample.params.EF*cmp.Or(x.M, assumedM)))
	}
	p.guesses["the cost of "+cmp.Or(x.Type, "an index of unknown type")+
		" could not be measured: a rule of thumb"] = true
	const rowKind = "rows"
	if err := t.measureParts(ctx, rowKind, replay.Unindexed, replay.Index{}, p.sample); err != nil {
		return MeasuredCost{}, err
	}
	point, ok := nearestPoint(t.points[rowKind], compared)
	if !ok {
		return MeasuredCost{}, errors.New("no rows loaded, nothing to measure")
	}
	ns := min(maxCost, point.ns*compared/point.rows)
	return MeasuredCost{time.Duration(ns), time.Duration(spread * ns)}, nil
}

// nearestPoint returns the point with the nearest number of rows, by their ratio.
func nearestPoint(points []costPoint, rows float64) (best costPoint, ok bool) {
	for _, p := range points {
		if !ok || math.Abs(math.Log(p.rows/max(1, rows))) < math.Abs(math.Log(best.rows/max(1, rows))) {
			best, ok = p, true
		}
	}
	return best, ok
}

// measureParts measures parts of the largest segment, row by row or by graphs built over them, if no segment of a kind
// was measured.
func (t *costs) measureParts(ctx context.Context, kind string, s replay.State, x replay.Index, a *sample) error {
	graph := s == replay.Indexed && !rowByRow(x.Type)
	if t.partsMeasured[kind] || len(t.points[kind]) > 0 || graph && x.Type != typeHNSW {
		return nil
	}
	t.partsMeasured[kind] = true
	largest := slices.MaxFunc(t.loaded.Parts, func(a, b *replay.Part) int {
		return cmp.Compare(a.Data.Rows, b.Data.Rows)
	})
	var list []*subject
	for _, part := range []int{4, 2, 1} {
		rows := largest.Data.Rows / part
		if rows == 0 || rows < 64 && part > 1 {
			continue
		}
		c, err := firstRows(largest.Data, rows)
		if err != nil {
			return err
		}
		if graph {
			if c, _, err = t.graphOf(ctx, c, x); err != nil {
				return err
			}
		}
		if c != nil {
			list = append(list, &subject{kind: kind, state: s, index: x, data: c, part: largest, rowsOnly: !graph})
		}
	}
	if len(list) == 0 {
		return nil
	}
	t.step("measure parts of a segment")
	if err := t.bench(ctx, list, a, t.limits.Rounds, nil); err != nil {
		return err
	}
	for _, one := range list {
		t.add(one, a, one.measured())
	}
	return nil
}

// firstRows returns the first rows of a segment, without an index. It does not copy the vectors.
func firstRows(s *segment.Segment, rows int) (*segment.Segment, error) {
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

// add stores a measurement. It also stores the relative error of the cost computed from the nearest earlier
// measurement.
func (t *costs) add(s *subject, a *sample, m MeasuredCost) {
	rows := float64(s.data.Rows)
	if rows <= 0 || m.Mean <= 0 {
		return
	}
	if p, ok := nearestPoint(t.points[s.kind], rows); ok {
		computed := p.ns * effort(s.state, s.index, rows, a) / effort(s.state, s.index, p.rows, a)
		t.errors = append(t.errors, math.Abs(computed/float64(m.Mean)-1))
	}
	t.points[s.kind] = append(t.points[s.kind], costPoint{rows, float64(m.Mean)})
}

// computedShare returns the share of rows whose cost was computed.
func (p *pricedVariant) computedShare() float64 {
	all, computed, typical := 0.0, 0.0, p.typicalRows()
	for i := range p.Segments {
		rows := float64(max(1, rowsOf(&p.Segments[i], typical)))
		all += rows
		if p.modelled[i] {
			computed += rows
		}
	}
	return computed / max(1, all)
}

// reasons returns notes about computed costs.
func (p *pricedVariant) reasons() []string {
	if len(p.unmeasured) == 0 {
		return nil
	}
	text := []string{fmt.Sprintf("the cost of %.0f%% of the rows is computed from the model", 100*p.computedShare())}
	for _, why := range slices.Sorted(maps.Keys(p.unmeasured)) {
		text = append(text, fmt.Sprintf("%d segments %s", p.unmeasured[why], why))
	}
	return append([]string{strings.Join(text, "; ")}, slices.Sorted(maps.Keys(p.guesses))...)
}

// cost sums the costs of a query on the engine, as a mean over replicas.
func (p *pricedVariant) cost() Cost {
	var c Cost
	replicas := time.Duration(max(1, len(p.Replicas)))
	states := map[replay.State]time.Duration{}
	on, largest := map[int64]time.Duration{}, map[int64]time.Duration{}
	for i := range p.Segments {
		s, mean := &p.Segments[i], p.costs[i].Mean
		for _, node := range s.On {
			if node != 0 {
				states[s.State] += mean
				on[node] += mean
				largest[node] = max(largest[node], mean)
			}
		}
	}
	c.Growing, c.Unindexed, c.Indexed = states[replay.Growing]/replicas, states[replay.Unindexed]/replicas,
		states[replay.Indexed]/replicas
	c.CPU = c.Growing + c.Unindexed + c.Indexed
	for i := range p.Nodes {
		n := &p.Nodes[i]
		lone := max(largest[n.ID], time.Duration(float64(on[n.ID])/max(1, coresOf(n))))
		if lone > c.Critical {
			c.Critical, c.Node = lone, n.Name
		}
	}
	return c
}

// nearest holds the nearest hits of each query over all segments. They are merged as a proxy does: sorted by
// distance and key, each key once.
type nearest struct {
	k          int
	similarity bool // the greatest distance is the nearest
	hits       [][]nearHit
}

type nearHit struct {
	key  engine.Key
	dist float32 // the smallest is the nearest
}

func newNearest(a *sample, similarity bool) *nearest {
	return &nearest{k: a.params.K, similarity: similarity, hits: make([][]nearHit, len(a.requests))}
}

// add merges the hits of a segment into the hits of query q.
func (n *nearest) add(q int, hits []segment.Hit) {
	for i := range hits {
		d := hits[i].Distance
		if n.similarity {
			d = -d
		}
		n.hits[q] = append(n.hits[q], nearHit{hits[i].Key(), d})
	}
	n.top(q)
}

// top keeps and returns the k nearest hits of a query.
func (n *nearest) top(q int) []nearHit {
	slices.SortFunc(n.hits[q], func(a, b nearHit) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), a.key.Compare(b.key))
	})
	seen := map[engine.Key]bool{}
	all := slices.DeleteFunc(n.hits[q], func(h nearHit) bool {
		twice := seen[h.key]
		seen[h.key] = true
		return twice
	})
	n.hits[q] = all[:min(n.k, len(all))]
	return n.hits[q]
}

// recall returns the share of the true nearest keys that were found, or -1 if there are no true keys.
func (n *nearest) recall(exact *nearest) float64 {
	hit, of := 0, 0
	for q := range exact.hits {
		found := map[engine.Key]bool{}
		for _, h := range n.hits[q] {
			found[h.key] = true
		}
		for _, h := range exact.hits[q] {
			of++
			if found[h.key] {
				hit++
			}
		}
	}
	if of == 0 {
		return -1
	}
	return float64(hit) / float64(of)
}
