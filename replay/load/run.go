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

// maxRate is one request per microsecond, more than one process can send.
const maxRate = 1e6

// Run puts a load on a target and returns its measurements. Requests are sent in their order, or for a Timed plan in
// the order of their times. They are repeated if the plan takes longer.
//
// If ctx ends, Run returns no error: the point has the reason in Stopped and the measurements so far, and drops
// requests in flight. Run returns an error if the plan is invalid, or if no session can be opened.
func Run(ctx context.Context, t Target, requests []*Request, plan Plan) (*Point, error) {
	plan, err := plan.checked(requests)
	if err != nil {
		return nil, err
	}
	d := &driver{
		target: t, requests: requests, plan: plan, began: time.Now(), fails: newErrorCounts(),
		rounds: make([]tally, plan.Rounds),
	}
	// Sessions may hold resources until their context ends, so cancel it to release them.
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

// checked validates the plan and sets its defaults.
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

// driver is the state of a run.
type driver struct {
	target   Target
	requests []*Request
	plan     Plan
	began    time.Time
	fails    *errorCounts
	closing  sync.WaitGroup // calls of Close

	notes    []string
	opened   int
	stopped  string
	asked    int64 // of completed phases
	unsent   int64
	spans    []interval // of the rounds that began
	spanOpen bool       // the last one has not ended
	cut      bool       // the last one ended early

	// The following fields are also read for progress.
	mu      sync.Mutex
	workers []*worker // with a session, or a slot to open one
	rounds  []tally
	round   int           // the current one; -1 is the warm-up
	since   time.Duration // its start
	until   time.Duration // its end; math.MaxInt64 if requests end it
}

// interval is the time of a round and the usage of the process during it.
type interval struct {
	from, to    time.Duration
	cpu         time.Duration
	voluntary   int64
	involuntary int64
}

func (d *driver) elapsed() time.Duration { return time.Since(d.began) }

// begin records the start of a round or of the warm-up.
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
	s.addUsage(&d.plan, -1)
	d.spans, d.spanOpen = append(d.spans, s), true
}

// finish records the end of the current round, if there is one.
func (d *driver) finish(at time.Duration) {
	if !d.spanOpen {
		return
	}
	s := &d.spans[len(d.spans)-1]
	s.to = at
	s.addUsage(&d.plan, 1)
	d.spanOpen = false
}

// addUsage adds the usage so far, multiplied by sign.
func (s *interval) addUsage(p *Plan, sign int64) {
	if p.CPU != nil {
		s.cpu += time.Duration(sign) * p.CPU()
	}
	if p.Switches != nil {
		voluntary, involuntary := p.Switches()
		s.voluntary += sign * voluntary
		s.involuntary += sign * involuntary
	}
}

// open opens all sessions concurrently. It adds notes on sessions that cannot be opened, and continues with the
// others.
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

// maxNamed is the maximum number of failed sessions in notes.
const maxNamed = 5

// session opens a session within the deadline of a request.
func (d *driver) session(ctx context.Context) (Session, error) {
	if d.plan.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.plan.Deadline)
		defer cancel()
	}
	return d.target.Session(ctx)
}

// warmupPart limits the unmeasured warm-up to this fraction of all allowed requests, 1/warmupPart.
const warmupPart = 5

// boundedWarmup reports whether a warm-up could use up all allowed requests, because sessions of a closed loop send
// as fast as they get responses.
func (p *Plan) boundedWarmup() bool { return p.Total > 1 && p.Warmup > 0 && p.Rate == 0 && !p.Timed }

// phases runs the warm-up and the rounds. If they end by time, they are one phase, so that no round begins or ends
// with idle sessions. If each has a number of requests, they run one after another.
func (d *driver) phases(ctx context.Context) {
	if d.plan.Requests == 0 && d.plan.boundedWarmup() {
		d.run(ctx, &phase{
			first: -1, ends: []time.Duration{d.plan.Warmup}, limit: max(1, int64(d.plan.Total)/warmupPart),
		})
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
