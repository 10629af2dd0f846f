package model

import "time"

// ProbeRound measures the responsiveness of a session's process: the time to connect, and the response times of
// several successive requests that cost the process almost nothing.
type ProbeRound struct {
	// At is the time at which connecting began.
	At time.Time
	// Connect is the time until the process completed the handshake. Dial is the network's part, which a
	// stopped process does not delay. Dial is 0 if an address map or a proxy connects on our behalf.
	Connect, Dial time.Duration
	Probes        []Probe
}

// Probe is one of the requests.
type Probe struct {
	// After is the start of the request, relative to ProbeRound.At.
	After time.Duration
	Took  time.Duration
	// Open is true if there was no response within Took.
	Open bool
}

// ProbeStall is the threshold above which a response counts as stalled. maxRoundAge is the age up to which
// earlier rounds of probes count.
const (
	ProbeStall  = 100 * time.Millisecond
	maxRoundAge = 90 * time.Second
)

// Stalls returns the stalls in the last round of probes and in the rounds shortly before, the last round's
// first. now is the number of stalls in the last round. over is the total time of all rounds. Without probes
// there are none.
func (n *LiveNode) Stalls() (stalls []time.Duration, now int, over time.Duration) {
	if n.ProbeRound == nil {
		return nil, 0, 0
	}
	stalls, over = n.ProbeRound.Stalls(ProbeStall), n.ProbeRound.Duration()
	now = len(stalls)
	for _, past := range n.EarlierRounds {
		if n.ProbeRound.At.Sub(past.At) <= maxRoundAge {
			stalls, over = append(stalls, past.Stalls(ProbeStall)...), over+past.Duration()
		}
	}
	return stalls, now, over
}

// Duration returns the time from the connection attempt to the end of the last probe.
func (p *ProbeRound) Duration() time.Duration {
	if len(p.Probes) == 0 {
		return p.Connect
	}
	last := p.Probes[len(p.Probes)-1]
	return last.After + last.Took
}

// RTT returns the estimated network round-trip time: Dial if known, else the shortest response time. The latter
// makes a process that is always slow look far away.
func (p *ProbeRound) RTT() time.Duration {
	if p.Dial > 0 || len(p.Probes) == 0 {
		return p.Dial
	}
	way := p.Probes[0].Took
	for _, x := range p.Probes {
		way = min(way, x.Took)
	}
	return way
}

// Stalls returns the wait times above floor, after subtracting the round-trip time. The handshake takes a few
// round trips with TLS.
func (p *ProbeRound) Stalls(floor time.Duration) []time.Duration {
	const greeting = 4
	var list []time.Duration
	way := p.RTT()
	if d := p.Connect - greeting*way; d > floor {
		list = append(list, d)
	}
	for _, x := range p.Probes {
		if d := x.Took - way; d > floor {
			list = append(list, d)
		}
	}
	return list
}
