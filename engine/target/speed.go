package target

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kitescope/engine"
	"kitescope/engine/index"
)

// Load is how a target is measured: each query waits for the one before it in its goroutine
// (a closed loop), all queries once a round.
type Load struct {
	index.Params
	Options
	Threads int
	// Rounds are measured after one that is not: pages and caches are warm then.
	Rounds int
	// CPU is the CPU time that the process has used so far; nil where nobody knows.
	CPU func() time.Duration
}

// Speed is what a load measured.
type Speed struct {
	Load    *Load
	Answers *Answers // of the last round
	// QPS and CPU are of each round, CPU per query; CPU is nil where it is unknown.
	QPS []float64
	CPU []time.Duration
	// Latency is of every query of every round, ascending.
	Latency []time.Duration
}

// Measure runs a load. What was measured before ctx was done is lost: a round is a whole.
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

// At is the latency that the share q of all queries did not exceed (nearest rank).
func (s *Speed) At(q float64) time.Duration {
	if len(s.Latency) == 0 {
		return 0
	}
	i := int(q*float64(len(s.Latency))+0.999999) - 1
	return s.Latency[max(0, min(i, len(s.Latency)-1))]
}

// PerQuery are distances computed and links followed by one query of the last round, on average.
func (a *Answers) PerQuery() (distances, hops float64) {
	for _, c := range a.Cost {
		distances += float64(c.Distances)
		hops += float64(c.Hops)
	}
	n := float64(max(1, len(a.Cost)))
	return distances / n, hops / n
}
