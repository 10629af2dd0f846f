package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// maxRate is one request per microsecond, more than one process sends.
const maxRate = 1e6

// Run puts a load on a target and says what came back. Requests are asked in their order (those of a Timed plan in that of
// their times), over and over if the plan takes longer.
//
// A context that ends is no error: the point says why it is Stopped and has what was measured so far; requests that were under way
// are dropped. Errors are those of a plan that makes no sense, and of a target of which no session can be opened.
func Run(ctx context.Context, t Target, requests []*Request, plan Plan) (*Point, error) {
	plan, err := plan.checked(requests)
	if err != nil {
		return nil, err
	}
	d := &driver{target: t, requests: requests, plan: plan, began: time.Now(), fails: newFails(), rounds: make([]tally, plan.Rounds)}
	// Sessions may keep what hangs on the context that they were opened with; a run leaves nothing behind.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := d.open(ctx); err != nil {
		if ctx.Err() == nil {
			return nil, err
		}
		d.stopped, d.notes = reason(ctx), nil
		return d.point(), nil
	}
	stop := d.report()
	d.phases(ctx)
	stop()
	cancel(nil)
	for _, w := range d.workers {
		w.leave()
	}
	d.closing.Wait()
	return d.point(), nil
}

// checked is the plan with what it leaves open filled in.
func (p Plan) checked(requests []*Request) (Plan, error) {
	switch {
	case len(requests) == 0:
		return p, errors.New("no requests to send")
	case p.Sessions < 1:
		return p, fmt.Errorf("%d sessions: at least 1 needed", p.Sessions)
	case p.Rate != 0 && p.Timed:
		return p, errors.New("a rate and the log's own times: give only one")
	case p.Rate != 0 && !(p.Rate > 0 && p.Rate <= maxRate):
		return p, fmt.Errorf("a rate of %v requests per second: must be above 0, at most %d", p.Rate, int(maxRate))
	case p.Timed && p.Speed != 0 && !(p.Speed > 0 && p.Speed <= math.MaxFloat64):
		return p, fmt.Errorf("speed %v: must be above 0", p.Speed)
	case p.Warmup < 0 || p.Round < 0 || p.Deadline < 0:
		return p, errors.New("a negative time in the plan")
	case p.Requests < 0 || p.Rounds < 0 || p.Total < 0:
		return p, errors.New("a negative count in the plan")
	}
	p.Rounds = cmp.Or(p.Rounds, 1)
	if p.Round == 0 && p.Requests == 0 {
		p.Requests = len(requests)
	}
	if p.Timed {
		p.Speed = cmp.Or(p.Speed, 1)
		return p, checkTimes(requests, p.Speed)
	}
	return p, nil
}

// driver is one run.
type driver struct {
	target   Target
	requests []*Request
	plan     Plan
	began    time.Time
	fails    *fails
	closing  sync.WaitGroup // calls of Close

	notes    []string
	opened   int
	stopped  string
	asked    int64 // of the phases that are over
	unsent   int64
	spans    []interval // of the rounds that began
	spanOpen bool       // the last has not ended
	cut      bool       // the last ended before its time

	// What follows is read for progress too.
	mu      sync.Mutex
	workers []*worker // those that have a session, or a place to open one for
	rounds  []tally
	round   int           // the one under way; -1 the warm-up
	since   time.Duration // its beginning
	until   time.Duration // its end; math.MaxInt64 if requests end it
}

// interval is a round's time, and what the process used.
type interval struct {
	from, to    time.Duration
	cpu         time.Duration
	voluntary   int64
	involuntary int64
}

func (d *driver) elapsed() time.Duration { return time.Since(d.began) }

// begin notes that a round, or the warm-up, begins.
func (d *driver) begin(p *phase, round int, at time.Duration) {
	d.mu.Lock()
	d.round, d.since, d.until = round, at, math.MaxInt64
	if i := round - p.first; i < len(p.ends) {
		d.until = p.ends[i]
	}
	d.mu.Unlock()
	if round < 0 {
		return
	}
	if round == 0 && d.plan.Began != nil {
		d.plan.Began()
	}
	s := interval{from: at}
	s.use(&d.plan, -1)
	d.spans, d.spanOpen = append(d.spans, s), true
}

// finish notes that a round ends, if one is under way.
func (d *driver) finish(at time.Duration) {
	if !d.spanOpen {
		return
	}
	s := &d.spans[len(d.spans)-1]
	s.to = at
	s.use(&d.plan, 1)
	d.spanOpen = false
}

// use adds what was used so far, times sign.
func (s *interval) use(p *Plan, sign int64) {
	if p.CPU != nil {
		s.cpu += time.Duration(sign) * p.CPU()
	}
	if p.Switches != nil {
		voluntary, involuntary := p.Switches()
		s.voluntary += sign * voluntary
		s.involuntary += sign * involuntary
	}
}

// open opens the sessions, all at once: one that cannot be opened is named, and the others do without it.
func (d *driver) open(ctx context.Context) error {
	sessions, errs := make([]Session, d.plan.Sessions), make([]error, d.plan.Sessions)
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() { sessions[i], errs[i] = d.session(ctx) })
	}
	wg.Wait()
	var first error
	for i, s := range sessions {
		if errs[i] != nil {
			if first == nil {
				first = errs[i]
			}
			d.notes = append(d.notes, fmt.Sprintf("could not open session %d of %d: %v", i+1, len(sessions), errs[i]))
			continue
		}
		d.workers = append(d.workers, newWorker(d, i, s))
	}
	d.opened = len(d.workers)
	if d.opened == 0 {
		return fmt.Errorf("open a session of %s: %w", d.target.Name(), first)
	}
	if failed := len(d.notes); failed > maxNamed {
		d.notes = append(d.notes[:maxNamed], fmt.Sprintf("could not open %d more sessions", failed-maxNamed))
	}
	return nil
}

// maxNamed is how many sessions that could not be opened are named.
const maxNamed = 5

// session opens one within the deadline of a request.
func (d *driver) session(ctx context.Context) (Session, error) {
	if d.plan.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.plan.Deadline)
		defer cancel()
	}
	return d.target.Session(ctx)
}

// warmupPart is the part of the requests in all that a warm-up may have: what it takes is not measured.
const warmupPart = 5

// boundedWarmup tells that a warm-up could take all requests that are allowed: sessions ask as fast as they are answered.
func (p *Plan) boundedWarmup() bool { return p.Total > 1 && p.Warmup > 0 && p.Rate == 0 && !p.Timed }

// phases runs the warm-up and the rounds: in one go if they end by time, so that no round begins or ends with idle sessions,
// and one after the other if they are so many requests each.
func (d *driver) phases(ctx context.Context) {
	if d.plan.Requests == 0 && d.plan.boundedWarmup() {
		d.run(ctx, &phase{first: -1, ends: []time.Duration{d.plan.Warmup}, limit: max(1, int64(d.plan.Total)/warmupPart)})
		p := &phase{first: 0, limit: math.MaxInt64}
		for r := range d.plan.Rounds {
			p.ends = append(p.ends, time.Duration(r+1)*d.plan.Round)
		}
		if d.stopped == "" {
			d.run(ctx, p)
		}
		return
	}
	if d.plan.Requests == 0 {
		p := &phase{first: 0, limit: math.MaxInt64}
		if d.plan.Warmup > 0 {
			p.first, p.ends = -1, append(p.ends, d.plan.Warmup)
		}
		for r := range d.plan.Rounds {
			p.ends = append(p.ends, d.plan.Warmup+time.Duration(r+1)*d.plan.Round)
		}
		d.run(ctx, p)
		return
	}
	first := 0
	if d.plan.Warmup > 0 {
		first = -1
	}
	for r := first; r < d.plan.Rounds && d.stopped == ""; r++ {
		p := &phase{first: r, limit: int64(d.plan.Requests)}
		if r < 0 {
			p.ends = []time.Duration{d.plan.Warmup}
			if d.plan.boundedWarmup() {
				p.limit = min(p.limit, max(1, int64(d.plan.Total)/warmupPart))
			}
		}
		d.run(ctx, p)
	}
}
