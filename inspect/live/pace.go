package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// Pace is a model.Pace as a record keeps it.
type Pace struct {
	Connect time.Duration `json:"connect_ns"`
	Dial    time.Duration `json:"dial_ns,omitempty"`
	Probes  []Probe       `json:"probes"`
}

// Probe is a model.Probe as a record keeps it.
type Probe struct {
	After time.Duration `json:"after_ns"`
	Took  time.Duration `json:"took_ns"`
	Open  bool          `json:"open,omitempty"`
}

const (
	// pacedTimes is how often a process is asked for its state while the window lasts, maxProbes how often in all.
	pacedTimes, maxProbes = 8, 24
	// suspectAfter is what an answer may take longer than the quickest without suspicion. Where one is suspected all are asked for
	// longer, so that they can be compared.
	suspectAfter = 100 * time.Millisecond
	suspectFor   = 3 * time.Second
	// maxPast is how many earlier rounds are remembered of each process.
	maxPast = 6
)

// paced asks a server for its state again and again while counters are watched for rates, and keeps how long that took. It
// asks nothing of a server that did not answer that question, and owns the link.
func (a *asking) paced(ctx context.Context, l *link, s *server, begun time.Time, connect time.Duration) {
	session, q := s.stateInquiry()
	window := a.client.opts.Window
	if session == nil || window <= 0 || a.names.refusedBy(s) {
		return
	}
	p := &Pace{Connect: connect, Dial: l.dialTook()}
	r := Record{Role: session.Role, Node: session.Node, Address: session.Address, Method: q.method, Request: q.request, Outcome: model.Answered.String(), Pace: p}
	first, shortest := time.Now(), p.Dial
	for len(p.Probes) < maxProbes && a.pacesOn(ctx, first) {
		at := time.Now()
		response, took, f := a.call(ctx, l, session, q)
		switch {
		case givenUp(ctx), f != nil && f.outcome != model.TimedOut:
			response.done()
			return // it is no slow process: the caller gave up, or it is gone
		case f == nil:
			r.Response, r.Took = append([]byte{}, response.bytes...), took
		}
		response.done()
		p.Probes = append(p.Probes, Probe{After: at.Sub(begun), Took: took, Open: f != nil})
		if shortest == 0 || took < shortest {
			shortest = took
		}
		if took-shortest > suspectAfter {
			a.suspects.Store(true)
		}
		pause(ctx, max(window/pacedTimes-took, window/pacedTimes/3))
	}
	if r.Response != nil {
		a.keep(r)
	}
}

// pacesOn reports whether processes are still to be asked for their state.
func (a *asking) pacesOn(ctx context.Context, first time.Time) bool {
	until := a.client.opts.Window
	if a.suspects.Load() {
		until = max(until, suspectFor)
	}
	return ctx.Err() == nil && time.Since(first) < until
}

// pause waits, but not longer than ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// stateInquiry is the question for the state of the first session that is asked for it.
func (s *server) stateInquiry() (*session, inquiry) {
	for _, x := range s.sessions {
		for _, q := range x.inquiries {
			if strings.HasSuffix(q.method, "/GetComponentStates") {
				return x, q
			}
		}
	}
	return nil, inquiry{}
}

// pace is a record's, as the model has it.
func (r *Record) pace() *model.Pace {
	if r.Pace == nil || len(r.Pace.Probes) == 0 || len(r.Pace.Probes) > maxProbes {
		return nil
	}
	p := &model.Pace{Connect: max(r.Pace.Connect, 0), Dial: max(r.Pace.Dial, 0)}
	for _, x := range r.Pace.Probes {
		p.Probes = append(p.Probes, model.Probe{After: max(x.After, 0), Took: max(x.Took, 0), Open: x.Open})
	}
	if !r.At.IsZero() {
		p.At = r.At.Add(-p.Over())
	}
	return p
}

// rememberPaces keeps how fast processes were for the next Ask, and tells what they were before.
func (c *Client) rememberPaces(r *model.Runtime) {
	next := make(map[sessionKey][]*model.Pace, len(c.paces))
	for _, n := range r.Nodes {
		if n.Pace == nil {
			continue
		}
		key := sessionKey{n.Role, n.Node}
		past := c.paces[key]
		n.Past = past[max(0, len(past)-maxPast):]
		next[key] = append(slices.Clip(n.Past), n.Pace)
	}
	c.paces = next
}
