package pgo

import (
	"math"
	"time"

	"kitescope/profile"
)

// cpuOf returns the CPU time in a profile, 0 if unknown.
func cpuOf(p *profile.Profile) time.Duration {
	for kind, t := range p.Types {
		if t == (profile.ValueType{Type: "cpu", Unit: "nanoseconds"}) {
			return time.Duration(p.Total(kind))
		}
	}
	return 0
}

// measure computes the figures of the merged profiles.
func (j *judge) measure() {
	if j.merged == nil {
		return
	}
	for _, p := range j.profiles {
		j.CPU += cpuOf(p)
		j.Duration += p.Duration
	}
	kind := kindOf(j.merged)
	_, j.Events = j.merged.Events(kind)
	j.Preempted = preempted(j.merged, kind)
	c, err := callsOf(j.merged)
	if err != nil {
		j.refuse("too-large", err.Error(), "")
		return
	}
	j.Edges = c.edges()
	hot, least := j.Edges.Hot(HotPercent)
	j.HotEdges, j.LeastHot = len(hot), least
	j.Reach = ReachOf(j.merged)
	j.listHot(c, hot)
}

// preempted returns the share of samples whose leaf is runtime.asyncPreempt. It finds them by comparing the
// stacks before and after FoldPreempt.
func preempted(p *profile.Profile, kind int) float64 {
	folded := p.FoldPreempt()
	taken, total := 0.0, 0.0
	for i := range p.Len() {
		v := float64(p.Value(i, kind))
		total += v
		if len(folded.Stack(i)) < len(p.Stack(i)) {
			taken += v
		}
	}
	if total == 0 {
		return 0
	}
	return taken / total
}

// listHot describes the hot calls of Go code: how many samples each has, and whether it was inlined.
func (j *judge) listHot(c *calls, hot []Edge) {
	hits, outOfLine := make([]float64, len(c.named)), make([]bool, len(c.named))
	isGo := make([]bool, len(c.named)) // the compiler counts native calls as well but cannot optimize them
	known := false
	for i := range c.ends {
		known = known || c.ends[i].events > 0
		for _, id := range c.steps[c.starts[i]:c.starts[i+1]] {
			hits[c.edgeOf[id]] += c.ends[i].events
		}
	}
	index := make(map[Edge]int, len(c.named))
	for i, e := range c.named {
		index[e] = i
	}
	for i, l := range c.links {
		outOfLine[c.edgeOf[i]] = outOfLine[c.edgeOf[i]] || l.outOfLine
		isGo[c.edgeOf[i]] = isGo[c.edgeOf[i]] || c.nodes[l.from].startLine != 0 && c.nodes[l.to].startLine != 0
	}
	all := make([]HotEdge, 0, len(hot))
	few := 0
	for _, e := range hot {
		n := index[e]
		h := HotEdge{
			Edge: e, Share: float64(j.Edges.Weight[e]) / float64(j.Edges.Total), Hits: -1, Inlined: !outOfLine[n],
		}
		if known {
			h.Hits = int64(math.Round(hits[n]))
			if h.Hits < minHits {
				few++
			}
		}
		if isGo[n] {
			all = append(all, h)
		}
	}
	switch {
	case !known:
		j.FewHits = math.NaN()
	case len(hot) > 0:
		j.FewHits = float64(few) / float64(len(hot))
	}
	j.Risks = risksOf(all)
	if n := j.options.Hot; n >= 0 && n < len(all) {
		all = all[:n:n]
	}
	j.Hot = all
}
