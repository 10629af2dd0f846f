package load

import (
	"math"
	"slices"
	"time"

	"kitescope/profile/significance"
)

// point assembles the measurements.
func (d *driver) point() *Point {
	p := &Point{
		Plan: d.plan, Recall: -1, Open: d.opened, Notes: d.notes, Unsent: d.unsent, Errors: d.fails.counts(),
		Stopped: d.stopped,
	}
	var all tally
	var used interval
	var whole []float64
	for i, span := range d.spans {
		t := &d.rounds[i]
		r := Round{
			Took: span.to - span.from, Asked: t.asked, Failed: t.failed, Tail: t.tail, Queries: t.queries,
			Latency: t.latency.Latency(),
			CPU:     max(0, span.cpu), Cut: d.cut && i == len(d.spans)-1,
		}
		if r.Cut && (r.Asked == 0 || r.Took <= 0) {
			break
		}
		if r.Took > 0 {
			r.QPS = float64(r.Queries) / r.Took.Seconds()
		}
		if !r.Cut {
			whole = append(whole, r.QPS)
		}
		p.Repeats = append(p.Repeats, r)
		p.Took += r.Took
		used.cpu += span.cpu
		used.voluntary += span.voluntary
		used.involuntary += span.involuntary
		all.merge(t)
	}
	p.fill(&all, used)
	if len(whole) > 0 {
		p.QPS, p.QPSLow, p.QPSHigh = MeanInterval(whole)
		p.QPSLow = max(0, p.QPSLow)
	}
	return p
}

// fill sets the figures of all rounds.
func (p *Point) fill(all *tally, used interval) {
	p.Asked, p.Failed, p.Late, p.Queries = all.asked, all.failed, all.late, all.queries
	p.Latency, p.FailedLatency = all.latency.Latency(), all.failedLatency.Latency()
	p.Waited = all.waited.Latency()
	if p.Took > 0 {
		p.QPS = float64(p.Queries) / p.Took.Seconds()
	}
	if p.Queries > 0 {
		p.CPUPerQuery = time.Duration(math.Round(float64(max(0, used.cpu)) / float64(p.Queries)))
		p.VoluntaryPerQuery = float64(max(0, used.voluntary)) / float64(p.Queries)
		p.InvoluntaryPerQuery = float64(max(0, used.involuntary)) / float64(p.Queries)
		p.SwitchesPerQuery = p.VoluntaryPerQuery + p.InvoluntaryPerQuery
	}
	if all.answered > 0 {
		p.DistancesPerQuery = float64(all.distances) / float64(all.answered)
	}
}

// tick is the interval of progress reports.
const tick = 100 * time.Millisecond

// report reports progress until stop is called, which waits for the last report.
func (d *driver) report() (stop func()) {
	if d.plan.Progress == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		clock := time.NewTicker(tick)
		defer clock.Stop()
		var seen []sample
		for {
			var progress Progress
			progress, seen = d.progress(seen)
			select {
			case <-quit:
				d.plan.Progress(progress)
				return
			default:
			}
			d.plan.Progress(progress)
			select {
			case <-quit:
			case <-clock.C:
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// sample is the number of queries of a round that had been answered by a given time.
type sample struct {
	round   int
	at      time.Duration
	queries int64
}

// progress sums the current counts of the workers.
func (d *driver) progress(seen []sample) (Progress, []sample) {
	d.mu.Lock()
	round, since, until := d.round, d.since, d.until
	workers := slices.Clone(d.workers)
	var latency Histogram
	var asked, failed, queries int64
	add := func(t *tally) {
		latency.Merge(&t.latency)
		asked, failed, queries = asked+t.asked, failed+t.failed, queries+t.answered
	}
	if round >= 0 {
		add(&d.rounds[round])
	}
	d.mu.Unlock()
	for _, w := range workers {
		w.mu.Lock()
		if w.round == round {
			add(&w.tally)
		}
		w.mu.Unlock()
	}
	now := d.elapsed()
	if len(seen) > 0 && seen[0].round != round {
		seen = seen[:0]
	}
	if len(seen) == 0 {
		seen = append(seen, sample{round: round, at: since})
	}
	for len(seen) > 1 && seen[1].at <= now-time.Second {
		seen = seen[1:]
	}
	p := Progress{
		Warming: round < 0, Round: max(0, round), Rounds: d.plan.Rounds, Elapsed: now - since, Asked: asked,
		Failed: failed,
		P50:    latency.Quantile(0.5), P99: latency.Quantile(0.99),
	}
	if until != math.MaxInt64 {
		p.RoundDuration = until - since
	}
	if took := now - seen[0].at; took > 0 {
		p.QPS = float64(max(0, queries-seen[0].queries)) / took.Seconds()
	}
	return p, append(seen, sample{round, now, queries})
}

// MeanInterval returns the mean of values and its 95% confidence interval by Student's distribution, which assumes
// independent, normally distributed values. Low and high are 0 if there are fewer than two values.
func MeanInterval(values []float64) (mean, low, high float64) {
	n := float64(len(values))
	if n == 0 {
		return 0, 0, 0
	}
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0, 0
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := significance.StudentQuantile(1-significance.Confidence, n-1) * math.Sqrt(squares/(n-1)/n)
	return mean, mean - half, mean + half
}
