package target

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kitescope/engine"
	"kitescope/engine/index"
)

// Load is a closed-loop load: each goroutine issues its next query after the previous one returns. Each round runs
// all queries once.
type Load struct {
	index.Params
	Options
	Threads int
	// Rounds is the number of measured rounds. An unmeasured round before them warms pages and caches.
	Rounds int
	// CPU returns the CPU time that the process has used so far. It is nil if that is unknown.
	CPU func() time.Duration
}

// Speed holds the measurements of a load.
type Speed struct {
	Load    *Load
	Answers *Answers // of the last round
	// QPS and CPU have one value per round. CPU is per query, and nil if unknown.
	QPS []float64
	CPU []time.Duration
	// Latency holds the latency of every query of every round, in ascending order.
	Latency []time.Duration
}

// Measure runs a load. If ctx is done, Measure returns no partial results.
func (t *Target) Measure(ctx context.Context, queries *engine.Vectors, l *Load) (*Speed, error) {
	if err := t.fits(queries, &l.Params); err != nil {
		return nil, err
	}
	n := queries.Rows
	s := &Speed{Load: l, Answers: &Answers{K: l.K, Hits: make([][]engine.Hit, n), Cost: make([]index.Cost, n)}}
	latency := make([]time.Duration, n)
	first, err := t.searcher(l.Options)
	if err != nil {
		return nil, err
	}
	searchers, err := t.clones(first, min(l.Threads, n))
	if err != nil {
		return nil, err
	}
	for round := range l.Rounds + 1 {
		cpu := time.Duration(0)
		if l.CPU != nil {
			cpu = l.CPU()
		}
		began := time.Now()
		err := each(ctx, searchers, n, func(search index.Searcher, i int) error {
			at := time.Now()
			hits, cost, err := search.Search(queries.Row(i), l.Params, s.Answers.Hits[i][:0])
			latency[i] = time.Since(at)
			if err != nil {
				return fmt.Errorf("query %d: %w", i, err)
			}
			s.Answers.Hits[i], s.Answers.Cost[i] = hits, cost
			return nil
		})
		if err != nil {
			return nil, err
		}
		took := time.Since(began)
		if round == 0 {
			continue
		}
		s.Answers.Took = took
		s.QPS = append(s.QPS, float64(n)/took.Seconds())
		if l.CPU != nil {
			s.CPU = append(s.CPU, (l.CPU()-cpu)/time.Duration(n))
		}
		s.Latency = append(s.Latency, latency...)
	}
	slices.Sort(s.Latency)
	return s, nil
}

// LatencyQuantile returns the q-quantile of the latency, for q in 0 to 1 (nearest rank).
func (s *Speed) LatencyQuantile(q float64) time.Duration {
	if len(s.Latency) == 0 {
		return 0
	}
	i := int(q*float64(len(s.Latency))+0.999999) - 1
	return s.Latency[max(0, min(i, len(s.Latency)-1))]
}

// PerQuery returns the mean number of distances and of hops per query in the last round.
func (a *Answers) PerQuery() (distances, hops float64) {
	for _, c := range a.Cost {
		distances += float64(c.Distances)
		hops += float64(c.Hops)
	}
	n := float64(max(1, len(a.Cost)))
	return distances / n, hops / n
}
