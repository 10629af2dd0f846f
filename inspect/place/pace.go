package place

import (
	"fmt"
	"slices"
	"time"

	"kitescope/internal/words"
)

// Thresholds of the probes, calls for the state of a process that cost it nothing. Measured: 1 to 24 ms in calm, 2 to 103 ms loaded.
const (
	// stall is what counts as waiting; a process is late that waits lateStalls times and lateShare of the time, and otherTimes as much as others.
	stall, lateStalls, lateShare, otherTimes = 100 * time.Millisecond, 3, 0.2, 4
	// remember is how far back earlier rounds count.
	remember = 90 * time.Second
	// farFloor, farTimes and farSpread tell a slow link: each answer takes as long, at least farFloor and farTimes those of the others.
	farFloor, farTimes, farSpread = 50 * time.Millisecond, 10, 1.5
	// period is that of Linux's CPU quotas: answers of a throttled process end at one phase of it (17 of 19 within 5 ms), phaseSpread apart.
	period, phaseSpread, fewEnds = 100 * time.Millisecond, 10 * time.Millisecond, 5
	// together is how many processes of a host have to be late alike.
	together = 3
)

// pace is how a process answered its probes.
type pace struct {
	part        *part
	share       float64 // of the time that it kept kitescope waiting
	stalls      int
	least, most time.Duration
	ends        []time.Duration // phases at which late answers ended
	earlier     time.Duration   // the longest answer of the quickest earlier round, 0 if there is none
}

// paces judges processes by how late they answer probes, and hosts by processes that are late alike.
func (l *look) paces() {
	var list []pace
	for _, p := range l.parts {
		if x, ok := p.paced(); ok {
			list = append(list, x)
		}
	}
	l.crowded(list)
	if len(list) < together {
		return
	}
	shares, leasts := make([]float64, len(list)), make([]time.Duration, len(list))
	for i, x := range list {
		shares[i], leasts[i] = x.share, x.least
	}
	slices.Sort(shares)
	usual, near := shares[len(shares)/2], median(leasts)
	for _, x := range list {
		switch {
		case x.stalls >= lateStalls && x.share >= lateShare && x.share >= otherTimes*usual:
			strength := Medium
			switch cores, _, ok := x.part.cores(); {
			case ok && cores >= busyCores: // it has work to do, and its host no more CPU for it
				strength = Weak
			case x.share >= 0.5:
				strength = Strong
			}
			x.part.see(Slow, strength, fmt.Sprintf("it keeps callers waiting %s of the time, up to %s", words.Share(x.share), wait(x.most)))
			if phase(x.ends) {
				x.part.see(Starved, Strong, "its late answers end at one phase of 100 ms: a CPU limit (quota of a cgroup)")
			}
			if cores, _, ok := x.part.cores(); ok && cores < littleCPU {
				x.part.see(Starved, Medium, fmt.Sprintf("it used %.2f cores meanwhile: it gets hardly any CPU", cores))
			}
		case x.least >= farFloor && x.least >= farTimes*near && float64(x.most) <= farSpread*float64(x.least):
			x.part.see(Slow, Medium, fmt.Sprintf("each answer takes %s to %s, those of others %s: the network to it is slow", wait(x.least), wait(x.most), wait(near)))
		case x.stalls == 0:
			x.part.see(Fine, Weak, "it answers for its state within "+wait(x.most))
		}
	}
}

// paced sums up the probes of a process, of the last rounds too.
func (p *part) paced() (x pace, ok bool) {
	x.part = p
	var waited, over time.Duration
	for _, n := range p.nodes {
		if n.Pace == nil || len(n.Pace.Probes) == 0 {
			continue
		}
		ok = true
		x.least = n.Pace.Probes[0].Took
		for _, probe := range n.Pace.Probes {
			x.least, x.most = min(x.least, probe.Took), max(x.most, probe.Took)
			if probe.Took > period/5 {
				x.ends = append(x.ends, (probe.After+probe.Took)%period)
			}
		}
		stalls := n.Pace.Stalls(stall)
		x.stalls, over = x.stalls+len(stalls), over+n.Pace.Over()
		for _, past := range n.Past {
			longest := time.Duration(0)
			for _, probe := range past.Probes {
				longest = max(longest, probe.Took)
			}
			if x.earlier == 0 || longest < x.earlier {
				x.earlier = longest
			}
			if len(stalls) > 0 && n.Pace.At.Sub(past.At) <= remember {
				earlier := past.Stalls(stall)
				stalls, x.stalls, over = append(stalls, earlier...), x.stalls+len(earlier), over+past.Over()
			}
		}
		for _, d := range stalls {
			waited += d
		}
	}
	if over > 0 {
		x.share = float64(waited) / float64(over)
	}
	return x, ok
}

// phase reports whether all ends are at one phase.
func phase(ends []time.Duration) bool {
	if len(ends) < fewEnds {
		return false
	}
	slices.Sort(ends)
	gap := ends[0] + period - ends[len(ends)-1]
	for i := range ends[1:] {
		gap = max(gap, ends[i+1]-ends[i])
	}
	return period-gap <= phaseSpread
}

// crowded judges hosts: by processes that are late alike, and by the processors that they use together.
func (l *look) crowded(list []pace) {
	count, late := map[string]int{}, map[string]int{}
	for _, x := range list {
		count[x.part.host]++
		if x.share >= lateShare || x.earlier > 0 && x.most > period/5 && x.most > 3*x.earlier {
			late[x.part.host]++
		}
	}
	used, has := map[string]float64{}, map[string]float64{}
	processes := map[string]int{}
	for _, p := range l.parts {
		if cores, of, ok := p.cores(); ok {
			processes[p.host]++
			used[p.host] += cores
			has[p.host] = max(has[p.host], of)
		}
	}
	for name, n := range processes {
		if n >= together && has[name] > 0 && used[name] >= fullHost*has[name] {
			l.host(name, Evidence{State: Starved, Strength: Medium, Witness: "CPU", Text: fmt.Sprintf("%d processes use %.1f of %.0f cores", n, used[name], has[name])})
		}
	}
	for name, n := range count {
		if n >= together && 2*late[name] >= n {
			l.host(name, Evidence{State: Starved, Strength: Medium, Text: fmt.Sprintf("%d of its %d processes answer late alike", late[name], n)})
		}
	}
}

// host adds evidence about a host. Hosts of which nothing is known are no components.
func (l *look) host(name string, e Evidence) {
	if l.hosts[name] == nil {
		l.hosts[name] = l.add(Component{Host, name})
	}
	l.hosts[name].Evidence = append(l.hosts[name].Evidence, e)
}
