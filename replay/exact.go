package replay

import (
	"context"
	"fmt"
	"runtime"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/segment"
	"kitescope/replay/load"
)

// ByEngine is the From of the answers of Exact.
const ByEngine = "exact, by the engine"

// exactBatch is the maximum number of vectors that are compared in one pass over the rows: large enough for one
// kernel block on each thread, and small enough to notice the end of a context soon.
const exactBatch = 256

// Exact returns the true nearest keys of each request. It compares all loaded rows that are not deleted, and
// applies filters. Equally near keys are in the order of o's Milvus release. threads is the number of threads, 0
// for one per CPU. Exact returns ctx's error or one that names a request or a segment.
func Exact(ctx context.Context, l *Loaded, requests []*load.Request, o segment.Options, threads int) (*Answers, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	vectors := 0
	for _, r := range requests {
		vectors += r.Vectors.Rows
	}
	e := &exact{
		loaded: l, threads: threads, answers: &Answers{From: ByEngine, Hits: make(map[int][][]load.Hit, len(requests))},
	}
	room := l.memoryLeft()
	for _, p := range l.Parts {
		var s exactSearcher
		if p.Data.Rows > 0 && p.Data.Vectors.Element == dist.Sparse {
			var err error
			if s, err = exactSparse(l, p.Data, o); err != nil {
				return nil, fmt.Errorf("compare with segment %d: %w", p.Data.ID, err)
			}
		} else if p.Data.Rows > 0 {
			// Codes speed up the comparison and do not change the answers. They are released afterwards, because other
			// searches of the rows are timed.
			shaded, err := p.Data.Quantize(vectors, threads, room)
			if err != nil {
				return nil, fmt.Errorf("compare with segment %d: %w", p.Data.ID, err)
			}
			if shaded {
				defer p.Data.ReleaseCodes()
				if room >= 0 {
					room -= int64(p.Data.Codes.Bytes())
				}
			}
			rows := &flat.Index{Vectors: p.Data.Vectors, Metric: p.Data.Metric, Codes: p.Data.Codes}
			f, err := flat.New(rows, flat.Options{Library: o.Library})
			if err != nil {
				return nil, fmt.Errorf("compare with segment %d: %w", p.Data.ID, err)
			}
			s = f
		}
		e.searchers = append(e.searchers, s)
	}
	e.reducer = segment.NewReducer(l.metric())
	byK := map[int][]*load.Request{}
	var ks []int
	for _, r := range requests {
		switch {
		case Filtered(r):
			if err := e.run(ctx, []*load.Request{r}); err != nil {
				return nil, err
			}
			continue
		case byK[r.K] == nil:
			ks = append(ks, r.K)
		}
		byK[r.K] = append(byK[r.K], r)
	}
	for _, k := range ks {
		if err := e.batches(ctx, byK[k]); err != nil {
			return nil, err
		}
	}
	return e.answers, nil
}

// metric returns the metric of the loaded segments.
func (l *Loaded) metric() engine.Metric {
	if len(l.Parts) > 0 {
		return l.Parts[0].Data.Metric
	}
	return l.Layout.Collection.Metric
}

// exact is the state of Exact.
type exact struct {
	loaded    *Loaded
	threads   int
	searchers []exactSearcher // by part; nil for a part without rows
	reducer   *segment.Reducer
	answers   *Answers
}

// batches runs requests with the same k and without filters, many vectors at once.
func (e *exact) batches(ctx context.Context, requests []*load.Request) error {
	for len(requests) > 0 {
		n, vectors := 0, 0
		for n < len(requests) && (n == 0 || vectors+requests[n].Vectors.Rows <= exactBatch) {
			vectors += requests[n].Vectors.Rows
			n++
		}
		if err := e.run(ctx, requests[:n]); err != nil {
			return err
		}
		requests = requests[n:]
	}
	return nil
}

// run answers requests with the same k and filter.
func (e *exact) run(ctx context.Context, requests []*load.Request) error {
	queries, err := concatVectors(requests)
	if err != nil {
		return fmt.Errorf("request %d: %w", requests[0].Number, err)
	}
	if len(requests) > 1 {
		defer queries.Release()
	}
	k := requests[0].K
	best, next := make([][]segment.Hit, queries.Rows), []segment.Hit(nil)
	var found []segment.Hit
	for i, p := range e.loaded.Parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.searchers[i] == nil {
			continue
		}
		left := p.Data.Deleted
		if r := requests[0]; Filtered(r) {
			filter := engine.NewBitset(p.Data.Rows)
			if err := e.loaded.Filter(p, r, filter); err != nil {
				return fmt.Errorf("request %d: %w", r.Number, err)
			}
			left = filter.Or(left)
		}
		lists, err := e.searchers[i].SearchBatch(queries, flat.Params{K: k, Filter: left}, e.threads)
		if err != nil {
			return fmt.Errorf("request %d and those after it: segment %d: %w", requests[0].Number, p.Data.ID, err)
		}
		for q, list := range lists {
			found = found[:0]
			for _, h := range list {
				found = append(found, segment.Hit{Segment: p.Data, Row: int(h.ID), Distance: h.Distance})
			}
			next = e.reducer.Reduce([][]segment.Hit{best[q], found}, k, next[:0])
			best[q] = append(best[q][:0], next...)
		}
	}
	for _, r := range requests {
		list := make([][]load.Hit, r.Vectors.Rows)
		for i := range list {
			list[i] = make([]load.Hit, len(best[i]))
			for j := range best[i] {
				list[i][j] = load.Hit{Key: best[i][j].Key(), Distance: best[i][j].Distance}
			}
		}
		e.answers.Hits[r.Number] = list
		best = best[r.Vectors.Rows:]
	}
	return nil
}

// concatVectors returns the vectors of several requests, one after the other.
func concatVectors(requests []*load.Request) (*engine.Vectors, error) {
	first := requests[0].Vectors
	if len(requests) == 1 {
		return first, nil
	}
	rows := 0
	for _, r := range requests {
		if r.Vectors.Dim != first.Dim || r.Vectors.Element != first.Element {
			return nil,
				fmt.Errorf("queries differ: one has %d dimensions of %s, another %d of %s", r.Vectors.Dim,
					r.Vectors.Element, first.Dim, first.Element)
		}
		rows += r.Vectors.Rows
	}
	if first.Element == dist.Sparse {
		var list [][]byte
		for _, r := range requests {
			for i := range r.Vectors.Rows {
				list = append(list, r.Vectors.Row(i))
			}
		}
		return engine.JoinSparse(list)
	}
	all, err := engine.NewVectors(first.Element, first.Dim, rows)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, r := range requests {
		for i := range r.Vectors.Rows {
			copy(all.Row(at), r.Vectors.Row(i))
			at++
		}
	}
	return all, nil
}
