package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// Pace is a model.ProbeRound in a record.
type Pace struct {
	Connect time.Duration `json:"connect_ns"`
	Dial    time.Duration `json:"dial_ns,omitempty"`
	Probes  []Probe       `json:"probes"`
}

// Probe is a model.Probe in a record.
type Probe struct {
	After time.Duration `json:"after_ns"`
	Took  time.Duration `json:"took_ns"`
	Open  bool          `json:"open,omitempty"`
}

const (
	// probesPerWindow is the number of state queries to a process within the window, maxProbes the maximum in total.
	probesPerWindow, maxProbes = 8, 24
	// suspectAfter is how much longer than the fastest a response may take without suspicion. If a process is
	// suspected, all are queried for suspectFor, so that they can be compared.
	suspectAfter = 100 * time.Millisecond
	suspectFor   = 3 * time.Second
	// maxPast is the number of earlier rounds that are retained for each process.
	maxPast = 6
)

// probe queries the state of a server repeatedly within the window for rates, and records how long each
// response took. It skips a server that refused the cluster name, and gives up at a failure other than a timeout.
// It owns the link.
func (a *askState) probe(ctx context.Context, l *link, s *server, begun time.Time, connect time.Duration) {
	session, q := s.stateInquiry()
	window := a.client.opts.Window
	if session == nil || window <= 0 || a.names.refusedBy(s) {
		return
	}
	p := &Pace{Connect: connect, Dial: l.dialTook()}
	r := Record{
		Role: session.Role, Node: session.Node, Address: session.Address, Method: q.method, Request: q.request,
		Outcome: model.Answered.String(), Pace: p,
	}
	first, shortest := time.Now(), p.Dial
	for len(p.Probes) < maxProbes && a.keepProbing(ctx, first) {
		at := time.Now()
		response, took, f := a.call(ctx, l, session, q)
		switch {
		case canceled(ctx), f != nil && f.outcome != model.TimedOut:
			response.done()
			return // the caller canceled or the process is gone: it is not slow
		case f == nil:
			r.Response, r.Took = append([]byte{}, response.bytes...), took
		}
		response.done()
		p.Probes = append(p.Probes, Probe{After: at.Sub(begun), Took: took, Open: f != nil})
		if shortest == 0 || took < shortest {
			shortest = took
		}
		if took-shortest > suspectAfter {
			a.suspected.Store(true)
		}
		pause(ctx, max(window/probesPerWindow-took, window/probesPerWindow/3))
	}
	if r.Response != nil {
		a.keep(r)
	}
}

// keepProbing reports whether to go on querying the state of processes.
func (a *askState) keepProbing(ctx context.Context, first time.Time) bool {
	until := a.client.opts.Window
	if a.suspected.Load() {
		until = max(until, suspectFor)
	}
	return ctx.Err() == nil && time.Since(first) < until
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// stateInquiry returns the state query of the first session that has one.
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

// pace converts the pace of a record to the model.
func (r *Record) pace() *model.ProbeRound {
	if r.Pace == nil || len(r.Pace.Probes) == 0 || len(r.Pace.Probes) > maxProbes {
		return nil
	}
	p := &model.ProbeRound{Connect: max(r.Pace.Connect, 0), Dial: max(r.Pace.Dial, 0)}
	for _, x := range r.Pace.Probes {
		p.Probes = append(p.Probes, model.Probe{After: max(x.After, 0), Took: max(x.Took, 0), Open: x.Open})
	}
	if !r.At.IsZero() {
		p.At = r.At.Add(-p.Duration())
	}
	return p
}

// cachePaces stores the response times for the next Ask, and adds the response times of earlier Asks to
// the Runtime.
func (c *Client) cachePaces(r *model.Runtime) {
	next := make(map[sessionKey][]*model.ProbeRound, len(c.paces))
	for _, n := range r.Nodes {
		if n.ProbeRound == nil {
			continue
		}
		key := sessionKey{n.Role, n.Node}
		past := c.paces[key]
		n.EarlierRounds = past[max(0, len(past)-maxPast):]
		next[key] = append(slices.Clip(n.EarlierRounds), n.ProbeRound)
	}
	c.paces = next
}
