package place

import (
	"fmt"
	"slices"
	"time"

	"kitescope/internal/words"
)

// Thresholds of probes, calls for the state of a process that need no work. Measured: 1 to 24 ms idle, 2 to
// 103 ms under load.
const (
	// lateStalls and lateShare are the minimum number of stalls of a late process and their minimum share of
	// the time. minShareRatio is the minimum ratio of that share to the median of all processes.
	lateStalls, lateShare, minShareRatio = 3, 0.2, 4
	// A link is slow if all responses take equally long. minFarResponse is the minimum duration of the fastest
	// response, minFarRatio its minimum ratio to the median of the other processes, and maxFarSpread the maximum
	// ratio of the slowest response to the fastest.
	minFarResponse, minFarRatio, maxFarSpread = 50 * time.Millisecond, 10, 1.5
	// period is the period of Linux's CPU quotas. Responses of a throttled process end at one phase of it (17
	// of 19 within 5 ms), at most phaseSpread apart. minResponses is the minimum number of responses.
	period, phaseSpread, minResponses = 100 * time.Millisecond, 10 * time.Millisecond, 5
	// minProcesses is the minimum number of processes, of the cluster or of a host, that are compared.
	minProcesses = 3
)

// probeStats summarizes the responses of a process to its probes.
type probeStats struct {
	share            float64 // share of the time that kitescope waited for it
	stalls           int
	fastest, slowest time.Duration
	ends             []time.Duration // phases at which late responses ended
	earlierSlowest   time.Duration   // longest response of the quickest earlier round, 0 if there is none
}

// judgeProbes judges processes by the delay of their responses to probes, compared with the others.
func (l *analysis) judgeProbes() {
	var shares []float64
	var leasts []time.Duration
	for _, p := range l.parts {
		if x := p.probes; x != nil {
			shares, leasts = append(shares, x.share), append(leasts, x.fastest)
		}
	}
	if len(shares) < minProcesses {
		return
	}
	slices.Sort(shares)
	usual, near := shares[len(shares)/2], median(leasts)
	for _, p := range l.parts {
		x, had := p.probes, len(p.Evidence)
		switch {
		case x == nil:
		case x.stalls >= lateStalls && x.share >= lateShare && x.share >= minShareRatio*usual:
			strength := Medium
			switch cores, _, ok := p.cores(); {
			case ok && cores >= busyCores: // it is busy, and its host has no more CPU
				strength = Weak
			case x.share >= 0.5:
				strength = Strong
			}
			p.addEvidence(Slow, strength,
				fmt.Sprintf("it keeps callers waiting %s of the time, up to %s", words.Share(x.share),
					formatWait(x.slowest)))
			if samePhase(x.ends) {
				p.addEvidence(Starved, Strong,
					"its late responses all end at the same point of a 100 ms period: a CPU limit (cgroup quota)")
			}
			p.judgeIdle()
		case x.fastest >= minFarResponse && x.fastest >= minFarRatio*near &&
			float64(x.slowest) <= maxFarSpread*float64(x.fastest):
			p.addEvidence(Slow, Medium,
				fmt.Sprintf("each response takes %s to %s, from others %s: the network to it is slow",
					formatWait(x.fastest), formatWait(x.slowest), formatWait(near)))
		case x.stalls == 0:
			p.addEvidence(Fine, Weak, "it reports its state within "+formatWait(x.slowest))
		}
		for i := range p.Evidence[had:] {
			p.Evidence[had+i].Probed = true
		}
	}
}

// judgeIdle judges a late process that used hardly any CPU time. If its probes are late too, it gets no CPU,
// because probes need nothing else. Otherwise it waits for something. A process that has just started is
// skipped, because it waits for others and has used no CPU yet.
func (p *part) judgeIdle() {
	cores, _, ok := p.cores()
	switch {
	case !ok || cores >= littleCPU || p.justStarted || p.probes == nil:
	case p.probes.stalls > 0:
		p.addEvidence(Starved, Medium, fmt.Sprintf("it used %.2f cores meanwhile: it gets hardly any CPU", cores))
	default:
		p.addEvidence(Slow, Weak,
			fmt.Sprintf("it used %.2f cores and reports its state within %s: it is waiting for something",
				cores, formatWait(p.probes.slowest)))
	}
}

// summarizeProbes summarizes the probes of a process, including the last rounds. It returns nil if there are none.
func (p *part) summarizeProbes() *probeStats {
	x := probeStats{fastest: -1}
	var waited, over time.Duration
	for _, n := range p.nodes {
		if n.ProbeRound == nil || len(n.ProbeRound.Probes) == 0 {
			continue
		}
		if x.fastest < 0 {
			x.fastest = n.ProbeRound.Probes[0].Took
		}
		for _, probe := range n.ProbeRound.Probes {
			x.fastest, x.slowest = min(x.fastest, probe.Took), max(x.slowest, probe.Took)
			if probe.Took > period/5 {
				x.ends = append(x.ends, (probe.After+probe.Took)%period)
			}
		}
		for _, past := range n.EarlierRounds {
			longest := time.Duration(0)
			for _, probe := range past.Probes {
				longest = max(longest, probe.Took)
			}
			if x.earlierSlowest == 0 || longest < x.earlierSlowest {
				x.earlierSlowest = longest
			}
		}
		stalls, now, watched := n.Stalls()
		if over += watched; now == 0 { // it has recovered
			continue
		}
		x.stalls += len(stalls)
		for _, d := range stalls {
			waited += d
		}
	}
	if over > 0 {
		x.share = float64(waited) / float64(over)
	}
	if x.fastest < 0 {
		return nil
	}
	return &x
}

// samePhase reports whether all responses end at one phase, within phaseSpread. It returns false if there are
// fewer than minResponses.
func samePhase(ends []time.Duration) bool {
	if len(ends) < minResponses {
		return false
	}
	slices.Sort(ends)
	gap := ends[0] + period - ends[len(ends)-1]
	for i := range ends[1:] {
		gap = max(gap, ends[i+1]-ends[i])
	}
	return period-gap <= phaseSpread
}

// late reports whether a process is late, for at least lateShare of the time or compared with its earlier
// rounds.
func (x *probeStats) late() bool {
	return x.share >= lateShare || x.earlierSlowest > 0 && x.slowest > period/5 && x.slowest > 3*x.earlierSlowest
}

// judgeHosts judges hosts by the processes that are late together and by the processors that they use. If the
// processes of a busy host respond in time, the evidence is only weak.
func (l *analysis) judgeHosts() {
	type load struct {
		probed, late, counted int
		used, has             float64
	}
	loads := map[string]*load{}
	var names []string
	for _, p := range l.parts {
		if len(p.nodes) == 0 {
			continue
		}
		if loads[p.host] == nil {
			loads[p.host], names = &load{}, append(names, p.host)
		}
		x := loads[p.host]
		if p.probes != nil {
			x.probed++
			if p.probes.late() {
				x.late++
			}
		}
		if cores, of, ok := p.cores(); ok {
			x.counted++
			x.used, x.has = x.used+cores, max(x.has, of)
		}
	}
	for _, name := range names {
		x := loads[name]
		alike := x.probed >= minProcesses && 2*x.late >= x.probed
		full := x.counted >= minProcesses && x.has > 0 && x.used >= fullHost*x.has
		if !alike && !full {
			continue
		}
		host := l.add(Component{Host, name})
		host.host, l.hosts[name] = name, host
		if alike {
			host.addEvidence(Starved, Medium,
				fmt.Sprintf("%d of its %d processes respond late in the same way", x.late, x.probed))
		}
		if full {
			host.addEvidence(Starved, Weak,
				fmt.Sprintf("%d processes use %.1f of %.0f cores", x.counted, x.used, x.has))
		}
		if host.fold(); alike && full {
			host.Evidence[0].Strength, host.Strength = Strong, Strong
		}
	}
}

// overloadedHost returns the host of a process if the host lacks CPU, with at least medium evidence, or nil.
func (l *analysis) overloadedHost(p *part) *part {
	if host := l.hosts[p.host]; host != nil && host.Strength >= Medium {
		return host
	}
	return nil
}
