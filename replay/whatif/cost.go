package whatif

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/engine/dist"
	"kitescope/engine/index"
	"kitescope/engine/segment"
	"kitescope/replay"
)

// costs are what segments cost one query on this machine. A segment whose vectors are here is searched; one that is not costs what the measured
// segment of the same kind of index that is nearest in size costs, times the work of the one over the work of the other.
type costs struct {
	artifacts *artifacts
	asked     *asked
	known     map[string]Measured // by key
	exact     *kept               // the true neighbours
	// points are measurements by kind of index, and by parameters of the search.
	points map[string][]costPoint
	tried  map[string]bool // kinds for which graphs of parts were built
	// compared are kinds of graphs that are not walked, as filters leave so few rows that knowhere compares these.
	compared map[string]bool
	errors   []float64 // of measured segments, computed from the nearest other one
}

// costPoint is a measured segment.
type costPoint struct{ rows, ns, distances float64 }

func newCosts(loaded *replay.Loaded, a *asked, limits Limits, step func(string)) *costs {
	a.filters = newFilters(loaded, a.requests)
	base := map[int64]*segment.Segment{}
	for _, p := range loaded.Parts {
		base[p.Info.ID] = p.Data
	}
	return &costs{
		artifacts: newArtifacts(loaded.Layout, base, replay.Like(loaded.Layout.Version), limits, step), asked: a,
		known: map[string]Measured{}, points: map[string][]costPoint{}, tried: map[string]bool{}, compared: map[string]bool{},
	}
}

// key names what is measured: ef does not matter where rows are compared one by one.
func (t *costs) key(p *piece, a *asked) string {
	if p.State != replay.Indexed {
		return p.signature
	}
	return fmt.Sprintf("ef %d nprobe %d %s", a.params.EF, a.params.NProbe, p.signature)
}

// kindOf names the measurements that say what a segment costs.
func kindOf(s replay.State, x replay.Index, a *asked) string {
	if s != replay.Indexed || rowByRow(x.Type) {
		return "rows"
	}
	return fmt.Sprintf("%s %d %d %d ef %d nprobe %d", x.Type, x.M, x.EFConstruction, x.NList, a.params.EF, a.params.NProbe)
}

// effort is what a search costs in relation to others of its kind: rows compared, or for a graph, whose walks grow with the logarithm of its
// rows, that.
func effort(s replay.State, x replay.Index, rows float64, a *asked) float64 {
	rows = max(rows, 1)
	switch {
	case s != replay.Indexed || rowByRow(x.Type):
		return rows
	case strings.HasPrefix(x.Type, "IVF"), x.Type == typeBinIVF:
		lists := float64(cmp.Or(x.NList, assumedNList))
		return min(rows+lists, lists+rows*min(1, float64(a.params.NProbe)/lists))
	}
	return min(rows, float64(a.params.EF)*math.Log2(max(2, rows)))
}

// priced is a variant with what each of its segments costs one vector on the engine.
type priced struct {
	*variant
	ask      *asked
	costs    []Measured // by Layout.Segments
	modelled []bool
	recall   float64
	why      map[string]int // why segments were not measured, counted
	guesses  map[string]bool
}

// price measures what is here of a variant and computes the rest.
func (t *costs) price(ctx context.Context, v *variant, a *asked) (*priced, error) {
	pieces, err := t.artifacts.pieces(ctx, v)
	if err != nil {
		return nil, err
	}
	p := &priced{
		variant: v, ask: a, costs: make([]Measured, len(pieces)), modelled: make([]bool, len(pieces)), why: map[string]int{}, guesses: map[string]bool{},
	}
	if p.recall, err = t.measure(ctx, pieces, a); err != nil {
		return nil, err
	}
	for i, piece := range pieces {
		if known, ok := t.known[t.key(piece, a)]; ok && piece.covered >= 0.9 {
			p.costs[i] = known
			continue
		}
		p.modelled[i] = true
		p.why[cmp.Or(piece.why, "are only partly in storage")]++
		rows := float64(piece.Rows)
		if piece.Rows < 0 {
			rows = float64(p.typicalRows())
		}
		if p.costs[i], err = t.compute(ctx, p, piece.State, piece.Index, rows); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// mostCost of a segment is a quarter of an hour, so that sums of what only a damaged layout has stay numbers.
const mostCost = float64(1000 * time.Second)

// compute takes the cost of a segment from the nearest measured one of its kind.
func (t *costs) compute(ctx context.Context, p *priced, s replay.State, x replay.Index, rows float64) (Measured, error) {
	if s == replay.Indexed && !rowByRow(x.Type) && !lists(x.Type) && rows <= 2*float64(p.ask.params.EF) {
		s = replay.Unindexed // knowhere compares with all rows then: hnsw.BruteForceEF
	}
	if t.compared[kindOf(s, x, p.ask)] {
		s = replay.Unindexed
	}
	kind := kindOf(s, x, p.ask)
	if err := t.learn(ctx, kind, s, x, p.ask); err != nil {
		return Measured{}, err
	}
	spread := 0.3
	if s != replay.Indexed {
		spread = 0.05
	}
	if point, ok := nearest(t.points[kind], rows); ok {
		by := effort(s, x, rows, p.ask) / effort(s, x, point.rows, p.ask)
		return modelled(point.ns*by, point.distances*by, spread), nil
	}
	compared, jump := effort(s, x, rows, p.ask), 1.0
	switch {
	case x.Type == typeIVF, x.Type == typeBinIVF:
	case lists(x.Type):
		p.guesses["what "+x.Type+" cost not measured: assuming it reads its lists like "+typeIVF+" does"] = true
	default:
		if x.Type != typeHNSW {
			p.guesses["what "+cmp.Or(x.Type, "an index of unknown type")+" cost not measured: assuming HNSW"] = true
		}
		p.guesses["no graph could be measured: graph search costs are a rule of thumb"] = true
		// A walk takes ef steps, and half of a row's 2M links lead to rows that it did not see yet; they are anywhere in memory.
		compared, jump = min(rows, float64(p.ask.params.EF*cmp.Or(x.M, assumedM))), 2
	}
	if lists(x.Type) && x.NList == 0 {
		p.guesses[fmt.Sprintf("nlist unknown: assuming %d", assumedNList)] = true
	}
	rowKind := kindOf(replay.Unindexed, replay.Index{}, p.ask)
	if err := t.learn(ctx, rowKind, replay.Unindexed, replay.Index{}, p.ask); err != nil {
		return Measured{}, err
	}
	point, ok := nearest(t.points[rowKind], compared)
	if !ok {
		return Measured{}, fmt.Errorf("collection %s: no rows loaded, nothing to measure", t.artifacts.collection)
	}
	return modelled(jump*point.ns*compared/point.rows, compared, spread), nil
}

func modelled(ns, distances, spread float64) Measured {
	ns = min(ns, mostCost)
	return Measured{Mean: time.Duration(ns), SD: time.Duration(spread * ns), Distances: distances}
}

// lists reports whether an index of the type puts its rows into lists.
func lists(indexType string) bool {
	return strings.HasPrefix(indexType, "IVF") || indexType == typeBinIVF
}

// nearest is the point whose rows are nearest, by their ratio.
func nearest(points []costPoint, rows float64) (best costPoint, ok bool) {
	for _, p := range points {
		if !ok || math.Abs(math.Log(p.rows/max(1, rows))) < math.Abs(math.Log(best.rows/max(1, rows))) {
			best, ok = p, true
		}
	}
	return best, ok
}

// learn measures parts of the largest segment where too few whole segments of a kind were measured: its rows, or graphs that are built of
// them as far as the limit lets them.
func (t *costs) learn(ctx context.Context, kind string, s replay.State, x replay.Index, a *asked) error {
	graph := kind != "rows"
	if t.tried[kind] || graph && (x.Type != typeHNSW || len(t.points[kind]) > 0) {
		return nil
	}
	t.tried[kind] = true
	h := t.artifacts
	var list []*subject
	for _, whole := range h.largest(1) {
		for _, part := range []int{4, 2, 1} {
			rows := whole.Rows / part
			if rows < 64 && part > 1 {
				continue
			}
			c, err := firstOf(whole, rows)
			if err != nil {
				return err
			}
			if graph {
				p := &piece{Segment: &replay.Segment{Index: x}}
				if h.buildable(p, c) != "" {
					continue
				}
				h.step(fmt.Sprintf("build graph of a part, %d rows", c.Rows))
				h.rows += int64(c.Rows)
				if c, err = buildGraph(ctx, c, x, h.options); err != nil {
					return err
				}
			}
			list = append(list, wholeOf(c, !graph))
		}
	}
	if len(list) == 0 {
		return nil
	}
	h.step("measure parts of a segment")
	if err := bench(ctx, list, a, h.options, h.limits.Rounds, nil); err != nil {
		return err
	}
	for _, one := range list {
		t.add(s, x, a, kind, float64(one.real.Rows), one.measured())
	}
	return nil
}

// add keeps a measurement, and how far off it would have been computed from the nearest one before.
func (t *costs) add(s replay.State, x replay.Index, a *asked, kind string, rows float64, m Measured) {
	if rows <= 0 || m.Mean <= 0 {
		return
	}
	if p, ok := nearest(t.points[kind], rows); ok {
		computed := p.ns * effort(s, x, rows, a) / effort(s, x, p.rows, a)
		t.errors = append(t.errors, math.Abs(computed/float64(m.Mean)-1))
	}
	t.points[kind] = append(t.points[kind], costPoint{rows, float64(m.Mean), m.Distances})
}

// measure searches the pieces that are here, equal ones once, and returns the recall; -1 if not all rows are here.
func (t *costs) measure(ctx context.Context, pieces []*piece, a *asked) (float64, error) {
	var list []*subject
	var first []*piece
	seen := map[string]bool{}
	whole, news := true, false
	for _, p := range pieces {
		k := t.key(p, a)
		if p.real == nil {
			whole = false
		}
		if p.real == nil || seen[k] {
			continue
		}
		seen[k] = true
		_, known := t.known[k]
		news = news || !known
		list, first = append(list, t.artifacts.subject(p)), append(first, p)
	}
	if len(list) == 0 || !news && !whole {
		return -1, nil
	}
	rounds := t.artifacts.limits.Rounds
	if !news {
		rounds = 1 // for recall alone
	}
	t.artifacts.step(fmt.Sprintf("measure %d segments with %d queries", len(list), len(a.requests)))
	var keep *kept
	if whole {
		keep = newKept(a, list[0].real.Metric.Similarity())
	}
	if err := bench(ctx, list, a, t.artifacts.options, rounds, keep); err != nil {
		return -1, err
	}
	for i, s := range list {
		p, k := first[i], t.key(first[i], a)
		if _, known := t.known[k]; known {
			continue
		}
		m := s.measured()
		t.known[k] = m
		state := p.State
		if state == replay.Indexed && m.Walked < 0.5 && p.real.Index.Effort() == index.ByEF {
			t.compared[kindOf(state, p.Index, a)] = true
			continue
		}
		t.add(state, p.Index, a, kindOf(state, p.Index, a), float64(s.real.Rows), m)
	}
	if !whole {
		return -1, nil
	}
	exact, err := t.truth(ctx)
	if err != nil {
		return -1, err
	}
	return recall(keep, exact), nil
}

// truth compares the queries with all rows that are loaded, once.
func (t *costs) truth(ctx context.Context) (*kept, error) {
	if t.exact != nil {
		return t.exact, nil
	}
	t.artifacts.step("compare with all rows")
	var list []*subject
	for _, s := range t.artifacts.largest(len(t.artifacts.base)) {
		list = append(list, wholeOf(s, true))
	}
	exact := newKept(t.asked, list[0].real.Metric.Similarity())
	if err := bench(ctx, list, t.asked, t.artifacts.options, 1, exact); err != nil {
		return nil, err
	}
	t.exact = exact
	return exact, nil
}

// share is the share of rows whose cost was computed.
func (p *priced) share() float64 {
	all, computed, typical := 0.0, 0.0, float64(p.typicalRows())
	for i := range p.Segments {
		rows := float64(max(1, p.Segments[i].Rows))
		if p.Segments[i].Rows < 0 {
			rows = typical
		}
		all += rows
		if p.modelled[i] {
			computed += rows
		}
	}
	if all == 0 {
		return 0
	}
	return computed / all
}

// reasons say why segments were computed, in plain words.
func (p *priced) reasons() []string {
	if p.share() == 0 {
		return nil
	}
	text := []string{fmt.Sprintf("the cost of %.0f%% of the rows is computed from the model", 100*p.share())}
	for _, why := range slices.Sorted(maps.Keys(p.why)) {
		text = append(text, fmt.Sprintf("%d segments: %s", p.why[why], why))
	}
	return append([]string{strings.Join(text, "; ")}, slices.Sorted(maps.Keys(p.guesses))...)
}

// since23 reports whether the release is known, and 2.3 or later.
func since23(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor)
	return n == 2 && (major > 2 || major == 2 && minor >= 3)
}

// dims is an error if the log's vectors cannot be asked of the collection.
func dims(a *asked, like *segment.Segment, name string) error {
	v := a.requests[0].Vectors
	if v.Dim != like.Vectors.Dim || v.Element != like.Vectors.Element {
		return fmt.Errorf("log %s has vectors of %d dimensions of %s, the collection of %d of %s", name, v.Dim, v.Element, like.Vectors.Dim, like.Vectors.Element)
	}
	return nil
}

// floats reports whether graphs can be built of a segment.
func floats(s *segment.Segment) bool { return s.Vectors.Element == dist.Float32 }
