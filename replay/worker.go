package replay

import (
	"cmp"
	"context"
	"time"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay/load"
)

// worker searches the segments of groups. It must not be used concurrently.
type worker struct {
	target  *Target
	probes  []*segment.Probe // by part; nil for parts of other workers
	filters []*engine.Bitset // by part, allocated with the first filter
	reducer *segment.Reducer

	hits  []engine.Hit
	found []segment.Hit
	ends  []int // ends in found, by segment of the group and vector
	lists [][]segment.Hit

	tally tally
	last  []partCost // by part: cost of the current request
}

// partCost is the cost of a segment for one request.
type partCost struct {
	took      time.Duration
	distances int
}

// newWorker returns a worker for the groups.
func (t *Target) newWorker(groups []*group) (*worker, error) {
	w := &worker{
		target: t, probes: make([]*segment.Probe, len(t.parts)), reducer: segment.NewReducer(t.metric),
		last: make([]partCost, len(t.parts)),
	}
	for _, g := range groups {
		for _, i := range g.parts {
			p, err := t.probes[i].Clone()
			if err != nil {
				return nil, err
			}
			w.probes[i] = p
		}
	}
	w.tally.reset(len(t.parts))
	w.tally.epoch = t.epoch.Load()
	return w, nil
}

// search searches the segments of a group and appends to dst the nearest hits of each vector, with their ends, as a
// node returns them to a shard leader. now is the start time. search returns the time when the last segment was
// done.
func (w *worker) search(
	ctx context.Context, g *group, r *load.Request, now time.Duration, dst *answers,
) (time.Duration, error) {
	params := segment.Params{K: r.K, SearchParams: r.SearchParams}
	params.AvgDL = cmp.Or(params.AvgDL, w.target.meanLength)
	w.found, w.ends = w.found[:0], w.ends[:0]
	for _, i := range g.parts {
		if err := ctx.Err(); err != nil {
			return now, err
		}
		c := &w.tally.parts[i]
		distances := 0
		filter, err := w.filter(i, r)
		if err != nil {
			return now, err
		}
		for q := range r.Vectors.Rows {
			hits, cost, err := w.probes[i].Search(r.Vectors.Row(q), params, filter, w.hits[:0])
			if err != nil {
				return now, err
			}
			w.hits = hits
			w.found = w.probes[i].Hits(hits, w.found)
			w.ends = append(w.ends, len(w.found))
			distances += cost.Distances
			if cost.BruteForce != "" {
				c.brute++
			}
		}
		done := w.target.options.Clock()
		w.last[i] = partCost{done - now, distances}
		c.time += done - now
		c.distances += int64(distances)
		c.queries += int64(r.Vectors.Rows)
		c.ef = max(r.EF, r.K)
		now = done
	}
	w.reduce(g, r, dst)
	return now, nil
}

// reduce merges the hits of the segments of a group, for each vector.
func (w *worker) reduce(g *group, r *load.Request, dst *answers) {
	rows := r.Vectors.Rows
	for q := range rows {
		w.lists = w.lists[:0]
		for s := range g.parts {
			at, first := s*rows+q, 0
			if at > 0 {
				first = w.ends[at-1]
			}
			if end := w.ends[at]; end > first {
				w.lists = append(w.lists, w.found[first:end])
			}
		}
		dst.hits = w.reducer.Reduce(w.lists, r.K, dst.hits)
		dst.ends = append(dst.ends, len(dst.hits))
	}
}

// filter returns the rows of a part that a request filters out; nil if it has no filter. An expression is evaluated
// for each request, as on nodes.
func (w *worker) filter(i int, r *load.Request) (*engine.Bitset, error) {
	if !Filtered(r) {
		return nil, nil
	}
	if w.filters == nil {
		w.filters = make([]*engine.Bitset, len(w.probes))
	}
	if w.filters[i] == nil {
		w.filters[i] = engine.NewBitset(w.target.parts[i].Data.Rows)
	}
	return w.filters[i], w.target.loaded.Filter(w.target.parts[i], r, w.filters[i])
}

// answers holds the hits of several vectors, one after the other.
type answers struct {
	hits []segment.Hit
	ends []int
}

func (a *answers) reset() { a.hits, a.ends = a.hits[:0], a.ends[:0] }

// at returns the hits of the i-th vector.
func (a *answers) at(i int) []segment.Hit {
	first := 0
	if i > 0 {
		first = a.ends[i-1]
	}
	return a.hits[first:a.ends[i]]
}
