package whatif

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// Measured is what one segment costs a query, searched here by one thread.
type Measured struct {
	// Mean and SD are over queries; of the rounds of one query the median counts, which leaves out what other programs
	// on this machine do.
	Mean, SD  time.Duration
	Distances float64 // mean
	// Walked is the share of queries that walked a graph: the others compared with all rows.
	Walked float64
}

// asked is what is searched to measure: a sample of the log, with parameters filled in.
type asked struct {
	// requests have a vector each, with their filters; filters finds what these leave out, nil if none has one.
	requests []*load.Request
	filters  *filters
	params   segment.Params
	// cpu is the process's CPU time; nil where nobody knows, or only roughly.
	cpu func() time.Duration
}

// fine returns the clock if it is one that can time a search: that goes on in steps of less than a tenth of a millisecond while the
// process works, and not with the kernel's ticks.
func fine(cpu func() time.Duration) func() time.Duration {
	if cpu == nil {
		return nil
	}
	for began, last := time.Now(), cpu(); time.Since(began) < 20*time.Millisecond; {
		now := cpu()
		if step := now - last; step > 0 && step < 100*time.Microsecond {
			return cpu
		}
		last = now
	}
	return nil
}

// sample takes evenly spaced vectors of a log. Parameters are those of the majority of its requests where the input names none.
func sample(l *log.Log, n int, p segment.Params) (*asked, error) {
	a := &asked{params: p}
	if l.Vectors == nil || l.Vectors.Rows == 0 {
		return nil, fmt.Errorf("log %s has no vectors: costs cannot be measured", l.Name)
	}
	var err error
	if a.requests, err = replay.Singles(l, n); err != nil {
		return nil, err
	}
	if len(a.requests) == 0 {
		return nil, fmt.Errorf("log %s has no requests: costs cannot be measured", l.Name)
	}
	usual := segment.Params{K: commonest(l, func(r *log.Request) int { return r.K })}
	for f := range engine.EachSearchParam() {
		x := commonest(l, func(r *log.Request) float64 {
			x, _ := f.Get(&r.SearchParams)
			return x
		})
		if x > 0 {
			f.Set(&usual.SearchParams, x)
		}
	}
	a.params.K = cmp.Or(p.K, usual.K, defaultK)
	a.params.SearchParams = p.Or(usual.SearchParams).Or(engine.SearchParams{EF: defaultEF, NProbe: segment.DefaultNProbe})
	a.params.EF = max(a.params.EF, a.params.K) // Milvus refuses less: "ef should be larger than k" (knowhere, hnsw_config.h)
	return a, nil
}

// What is asked where neither the log nor the user says.
const (
	defaultK  = 10
	defaultEF = 64
)

// commonest is the number that most requests have, of several the least.
func commonest[T cmp.Ordered](l *log.Log, of func(*log.Request) T) (value T) {
	counts, most := map[T]int{}, 0
	for i := range l.Requests {
		counts[of(&l.Requests[i])]++
	}
	for v, n := range counts {
		if n > most || n == most && v < value {
			value, most = v, n
		}
	}
	return value
}

// with are the same queries at another ef.
func (a *asked) with(ef int) *asked {
	c := *a
	if ef > 0 {
		c.params.EF = max(ef, c.params.K)
	}
	return &c
}

// subject is one thing that is searched: vectors, by a graph or row by row.
type subject struct {
	real     *segment.Segment
	spans    []span // of loaded segments, whose rows its rows are
	rowsOnly bool
	probe    *segment.Probe
	left     *engine.Bitset // that a filter leaves out
	hits     []engine.Hit
	found    []segment.Hit
	times    [][]time.Duration // by query, one of each round
	count    float64           // distances
	walked   int
}

// bench searches all subjects in turn, query by query as a node does, so that each finds the caches as the others left
// them. The nearest of the first round go into keep, where recall is wanted.
func bench(ctx context.Context, list []*subject, a *asked, o segment.Options, rounds int, keep *kept) error {
	for _, s := range list {
		opts := o
		opts.RowsOnly = s.rowsOnly
		var err error
		if s.probe, err = segment.NewProbe(s.real, opts); err != nil {
			return err
		}
		if a.filters != nil {
			s.left = engine.NewBitset(s.real.Rows)
		}
		s.times, s.count, s.walked = make([][]time.Duration, len(a.requests)), 0, 0
	}
	for round := -1; round < rounds; round++ { // one to warm up, of few queries
		for q := range a.requests {
			if round < 0 && q > len(a.requests)/8 {
				break
			}
			for _, s := range list {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := s.ask(q, a, round, keep); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *subject) ask(q int, a *asked, round int, keep *kept) error {
	left, filtering, err := a.filters.of(s.spans, a.requests[q], s.left)
	if err != nil {
		return err
	}
	used := time.Duration(0)
	if a.cpu != nil {
		used = a.cpu()
	}
	began := time.Now()
	hits, cost, err := s.probe.Search(a.requests[q].Vectors.Row(0), a.params, left, s.hits[:0])
	took := time.Since(began)
	s.hits = hits
	if err != nil || round < 0 {
		return err
	}
	if a.cpu != nil {
		// Less CPU than time: others were at work on this core meanwhile.
		if used = a.cpu() - used; used > 0 && used < took*9/10 {
			took = used
		}
	}
	s.times[q] = append(s.times[q], took+filtering)
	if round > 0 {
		return nil
	}
	s.count += float64(cost.Distances)
	if cost.Hops > 0 {
		s.walked++
	}
	if keep != nil {
		s.found = s.probe.Hits(hits, s.found[:0])
		keep.add(q, s.found)
	}
	return nil
}

// measured sums a subject up.
func (s *subject) measured() Measured {
	n := float64(len(s.times))
	var sum, squares float64
	for _, times := range s.times {
		slices.Sort(times)
		t := float64(times[len(times)/2])
		sum, squares = sum+t, squares+t*t
	}
	mean := sum / n
	return Measured{
		Mean: time.Duration(mean), SD: time.Duration(math.Sqrt(max(0, squares/n-mean*mean))), Distances: s.count / n, Walked: float64(s.walked) / n,
	}
}
