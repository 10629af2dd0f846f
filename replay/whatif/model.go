package whatif

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine/dist"
	"kitescope/engine/index"
	"kitescope/engine/segment"
	"kitescope/replay"
)

// model computes what a segment costs that is not here: fitted to measured ones, and to parts of them where they are too few.
type model struct {
	table      *table
	size       float64 // bytes of one vector
	rows       rowFit
	memory     curve
	rowPoints  []rowPoint
	walks      map[replay.Index]*walkFit
	walkPoints map[replay.Index][]walkPoint
	compared   map[replay.Index]bool // filters leave so few rows that they are compared in place of a walk
	guesses    map[string]bool       // what costs since fill began were not measured of, in plain words
	errors     []float64
}

// newModel measures parts of the largest segments row by row, and what memory costs.
func newModel(ctx context.Context, t *table) (*model, error) {
	m := &model{table: t, walks: map[replay.Index]*walkFit{}, walkPoints: map[replay.Index][]walkPoint{}, compared: map[replay.Index]bool{}, guesses: map[string]bool{}}
	largest := t.artifacts.largest(3)
	if len(largest) == 0 {
		return nil, fmt.Errorf("collection %s: no rows loaded, nothing to measure", t.artifacts.collection)
	}
	m.size = float64(largest[0].Vectors.Stride)
	var err error
	if m.memory, err = measureMemory(ctx, t, largest[0]); err != nil {
		return nil, err
	}
	t.artifacts.step("measure parts of segments, row by row")
	var list []*subject
	together := 0.0
	for _, s := range largest {
		together += float64(s.Rows) * m.size
		for _, part := range []int{8, 4, 2, 1} {
			if c := slice(s, s.Rows/part); c != nil {
				list = append(list, firstRows(c, true))
			}
		}
	}
	few := *t.sample
	few.requests = few.requests[:min(16, len(few.requests))]
	if err := bench(ctx, list, &few, t.artifacts.options, t.artifacts.limits.Rounds, nil); err != nil {
		return nil, err
	}
	for _, s := range list {
		m.rowPoints = append(m.rowPoints, rowPoint{float64(s.real.Rows) * m.size, float64(s.measured().Mean) / m.memory.at(replay.Unindexed, together)})
	}
	m.rows, _ = fitRows(m.rowPoints)
	m.errors = leaveOneOut(m.rowPoints, fitRows, func(f rowFit, p rowPoint) float64 { return f.at(p.bytes) }, func(p rowPoint) float64 { return p.ns })
	return m, ctx.Err()
}

// slice is the first rows of a segment, without copying them; nil if there are too few to measure.
func slice(s *segment.Segment, rows int) *segment.Segment {
	if rows < 64 && rows < s.Rows {
		return nil
	}
	c, err := first(s, rows)
	if err != nil {
		return nil
	}
	return c
}

// nanoseconds is what a segment of so many rows costs near.
func (m *model) nanoseconds(s replay.State, x replay.Index, rows float64, a *asked) (ns, distances float64) {
	switch {
	case s != replay.Indexed || rowByRow(x.Type):
		return m.rows.at(rows * m.size), rows
	case strings.HasPrefix(x.Type, "IVF"), x.Type == typeBinIVF:
		if !wholeLists(x.Type) {
			m.guesses["what "+x.Type+" cost not measured: assuming it reads its lists like "+typeIVF+" does"] = true
		}
		if x.NList == 0 {
			x.NList = assumedNList
			m.guesses[fmt.Sprintf("nlist unknown: assuming %d", assumedNList)] = true
		}
		lists := float64(max(1, x.NList))
		distances = min(rows+lists, lists+rows*min(1, float64(a.params.NProbe)/lists))
		return m.rows.at(distances * m.size), distances
	}
	if rows <= 2*float64(a.params.EF) || m.compared[x] { // knowhere compares with all rows then: hnsw.BruteForceEF
		return m.rows.at(rows * m.size), rows
	}
	if x.Type != typeHNSW {
		m.guesses["what "+cmp.Or(x.Type, "an index of unknown type")+" cost not measured: assuming HNSW"] = true
	}
	f := m.walk(x)
	return f.at(rows, float64(a.params.EF)), f.distances(rows, float64(a.params.EF))
}

// walk is the fit for an index; of those that none was measured of, that for another index, or a rule of thumb: a walk takes ef hops,
// and half of a row's 2M links lead to one that was not visited yet. A distance costs what one to a row that is anywhere costs.
func (m *model) walk(x replay.Index) walkFit {
	if f := m.walks[x]; f != nil {
		return *f
	}
	for _, other := range m.indexes() {
		m.guesses[fmt.Sprintf("no graph of M=%d could be measured: assuming the cost of M=%d", x.M, other.M)] = true
		return *m.walks[other]
	}
	m.guesses["no graph could be measured: graph search costs are a rule of thumb"] = true
	each := m.rows.perByte * m.size * m.memory.jump
	return walkFit{c: math.Log(float64(max(2, x.M)) / 2), byEF: 1, byRows: priorByRows, fixed: m.rows.fixed, each: each}
}

func (m *model) indexes() []replay.Index {
	var list []replay.Index
	for x := range m.walks {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b replay.Index) int {
		return slices.Compare([]int{a.M, a.EFConstruction}, []int{b.M, b.EFConstruction})
	})
	return list
}

// learn fits the walks of an index to pieces that have it, at half, once and twice the ef; with parts, to graphs of parts of the
// largest segment as well.
func (m *model) learn(ctx context.Context, pieces []*piece, x replay.Index, a *asked, parts bool) error {
	if m.walks[x] != nil || x.Type != typeHNSW {
		return nil
	}
	var list []*subject
	seen := map[string]bool{}
	for _, p := range pieces {
		if p.real != nil && p.State == replay.Indexed && p.Index == x && !seen[p.signature] && p.real.Index.Effort() == index.ByEF && len(list) < 4 {
			seen[p.signature] = true
			list = append(list, m.table.artifacts.subject(p))
		}
	}
	if parts {
		more, err := m.parts(ctx, x)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	if len(list) == 0 {
		return nil
	}
	together := 0.0
	for _, s := range list {
		together += float64(s.real.Rows) * m.size
	}
	few := *a
	few.requests = few.requests[:min(16, len(few.requests))]
	m.table.artifacts.step("measure walks of " + strconv.Itoa(len(list)) + " graphs")
	var points []walkPoint
	walked := 0.0
	for _, ef := range []int{a.params.EF / 2, a.params.EF, 2 * a.params.EF} {
		at := few.with(max(1, ef))
		if err := bench(ctx, list, at, m.table.artifacts.options, m.table.artifacts.limits.Rounds, nil); err != nil {
			return err
		}
		for _, s := range list {
			r := s.measured()
			walked += r.Walked
			if r.Walked > 0.5 {
				near := float64(r.Mean) / m.memory.at(replay.Indexed, together)
				points = append(points, walkPoint{float64(s.real.Rows), float64(at.params.EF), r.Distances, near})
			}
		}
	}
	f, ok := fitWalks(points)
	if !ok {
		m.compared[x] = walked == 0 && a.filters != nil
		return nil
	}
	m.walks[x], m.walkPoints[x] = &f, points
	m.errors = append(m.errors, leaveGroupsOut(points, func(p walkPoint) float64 { return p.rows }, fitWalks,
		func(f walkFit, p walkPoint) float64 { return f.at(p.rows, p.ef) }, func(p walkPoint) float64 { return p.ns })...)
	return nil
}

// parts are graphs of an eighth, a quarter and half of the largest segment's rows, as far as the limit lets them be built.
func (m *model) parts(ctx context.Context, x replay.Index) (list []*subject, err error) {
	h := m.table.artifacts
	for _, s := range h.largest(1) {
		if s.Vectors.Element != dist.Float32 {
			return nil, nil
		}
		most := min(int64(s.Rows), (h.limits.BuildRows-h.rows)*8/7)
		for _, part := range []int64{8, 4, 2} {
			c := slice(s, int(most/part))
			if most <= 0 || c == nil || c.Rows > s.Rows {
				continue
			}
			h.step(fmt.Sprintf("build graph of a part, %d rows", c.Rows))
			g, err := buildGraph(ctx, c, x, h.options)
			if err != nil {
				return nil, err
			}
			h.rows += int64(c.Rows)
			list = append(list, firstRows(g, false))
		}
	}
	return list, nil
}
