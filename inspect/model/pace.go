package model

import "time"

// Pace is how fast the process of a session answers: how long it took to connect, and to answer a question that costs it
// nothing, asked several times, one after the other.
type Pace struct {
	// At is when connecting began.
	At time.Time
	// Connect is how long it took until the process had greeted; Dial is the network's part of that, which a process that is stopped
	// does not delay. Dial is 0 where something stands between that connects on our behalf: an address map, a proxy.
	Connect, Dial time.Duration
	Probes        []Probe
}

// Probe is one of these questions.
type Probe struct {
	// After is when it was asked, since Pace.At.
	After time.Duration
	Took  time.Duration
	// Open: there was no answer until then.
	Open bool
}

// ProbeStall is from how long on an answer to a probe is a stall, paceMemory how far back earlier rounds of probes count.
const (
	ProbeStall = 100 * time.Millisecond
	paceMemory = 90 * time.Second
)

// Stalls returns the stalls of the last round of probes of a node and of the rounds shortly before it, the last round's first, how many are
// of that, and the time over which all were probed. A node without probes has none.
func (n *LiveNode) Stalls() (stalls []time.Duration, now int, over time.Duration) {
	if n.Pace == nil {
		return nil, 0, 0
	}
	stalls, over = n.Pace.Stalls(ProbeStall), n.Pace.Over()
	now = len(stalls)
	for _, past := range n.Past {
		if n.Pace.At.Sub(past.At) <= paceMemory {
			stalls, over = append(stalls, past.Stalls(ProbeStall)...), over+past.Over()
		}
	}
	return stalls, now, over
}

// Over is how long the process was watched.
func (p *Pace) Over() time.Duration {
	if len(p.Probes) == 0 {
		return p.Connect
	}
	last := p.Probes[len(p.Probes)-1]
	return last.After + last.Took
}

// Way is what the way to the process and back takes, as far as it is known: where nothing stands between, what the network took to
// connect; else the shortest answer, so that a process that is slow each time alike seems far away.
func (p *Pace) Way() time.Duration {
	if p.Dial > 0 || len(p.Probes) == 0 {
		return p.Dial
	}
	way := p.Probes[0].Took
	for _, x := range p.Probes {
		way = min(way, x.Took)
	}
	return way
}

// Stalls are the waits, each longer than floor, beyond what the way takes. Greeting takes it a few times, with TLS.
func (p *Pace) Stalls(floor time.Duration) []time.Duration {
	const greeting = 4
	var list []time.Duration
	way := p.Way()
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
