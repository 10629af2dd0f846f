package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/engine/dist"
	"kitescope/replay"
)

// Causes are the changes of one thing each that tell what makes a cluster slow: the growing segments, the imbalance, the
// parameters, the index, the machine; and those that only help together. Those that would change nothing are left out.
func Causes(l *replay.Layout, ef int) []Change {
	var list []Change
	growing, unindexed, indexed := 0, 0, 0
	for i := range l.Segments {
		switch s := &l.Segments[i]; {
		case s.State == replay.Growing:
			growing++
		case s.State == replay.Unindexed && s.Rows >= leastIndexed && l.Collection.Index.Type != "" && !rowByRow(l.Collection.Index.Type):
			unindexed++
		case s.State == replay.Indexed:
			indexed++
		}
	}
	add := func(c Change) { list = append(list, c) }
	nodes, served := len(l.Nodes), len(l.Nodes) > 0 && len(l.Replicas) > 0
	if growing+unindexed > 0 {
		add(Change{Name: "index", Index: true})
	}
	if served && nodes > len(l.Replicas) {
		add(Change{Name: "balance", Balanced: true})
		if growing > 0 {
			add(Change{Name: "index,balance", Index: true, Balanced: true})
		}
	}
	if indexed > 0 && l.Collection.Index.Type == typeHNSW {
		ef = cmp.Or(ef, defaultEF)
		if half := ef / 2; half >= defaultK {
			add(Change{Name: fmt.Sprintf("ef=%d", half), EF: half})
		}
	}
	if indexed == 0 && growing+unindexed == 0 {
		better := typeHNSW
		if l.Collection.Element == dist.Bit {
			better = typeBinIVF
		}
		add(Change{Name: "type=" + better, Type: better})
	}
	if served {
		add(Change{Name: "nodes=+1,balance", Nodes: 1, Balanced: true})
		if cores := l.Nodes[0].Cores; cores > 0 {
			add(Change{Name: fmt.Sprintf("cores=%g", 2*cores), Cores: 2 * cores})
		}
	}
	return list
}

// leastGain is what counts: below, a simulation's own scatter could be it.
const leastGain = 1.03

// Explain says what the cluster loses queries to: the share of each state, then the changes by what they gain alone at the load that was asked for, the
// largest first, with those that do more in company after them, as so much more; then what changes nothing there.
func Explain(r *Report) []string {
	list := states(r.Base.Cost)
	singles, joint := []*Prediction{}, []*Prediction{}
	for i := range r.Others {
		p := &r.Others[i]
		if strings.Contains(p.Change.Name, ",") {
			joint = append(joint, p)
		} else {
			singles = append(singles, p)
		}
	}
	byGain := func(a, b *Prediction) int {
		return cmp.Or(cmp.Compare(r.GainAtLoad(b), r.GainAtLoad(a)), cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.Change.Name, b.Change.Name))
	}
	slices.SortStableFunc(singles, byGain)
	slices.SortStableFunc(joint, byGain)
	var none []string
	for _, p := range singles {
		switch gain := r.GainAtLoad(p); {
		case gain >= leastGain:
			list = append(list, fmt.Sprintf("%s: %s%s%s", phrase(p.Change), times(gain), atMost(p, gain), recalls(&r.Base, p)))
		case gain > 0 && gain <= 1/leastGain:
			list = append(list, fmt.Sprintf("%s: only %s as many queries%s%s", phrase(p.Change), times(gain), atMost(p, gain), recalls(&r.Base, p)))
		default:
			none = append(none, phrase(p.Change)+atMost(p, max(gain, 1)))
		}
	}
	for _, p := range joint {
		list = append(list, company(r, p, singles)+recalls(&r.Base, p))
	}
	if len(none) > 0 {
		list = append(list, "no gain from "+strings.Join(none, ", from ")+" alone")
	}
	return list
}

// states is what a query's CPU goes to.
func states(c Cost) []string {
	if c.CPU <= 0 {
		return nil
	}
	var parts []string
	for _, s := range []struct {
		name string
		time time.Duration
	}{{"growing segments", c.Growing}, {"sealed segments without index", c.Unindexed}, {"indexes", c.Indexed}} {
		if s.time > 0 {
			parts = append(parts, fmt.Sprintf("%.0f%% in %s", 100*float64(s.time)/float64(c.CPU), s.name))
		}
	}
	return []string{fmt.Sprintf("a query takes %v of the engine's CPU: %s", c.CPU.Round(time.Microsecond), strings.Join(parts, ", "))}
}

// company is what a joint change does, beyond the best single one that is in it.
func company(r *Report, p *Prediction, singles []*Prediction) string {
	var best *Prediction
	words := strings.Split(p.Change.Name, ",")
	var rest []string
	for _, s := range singles {
		if slices.Contains(words, s.Change.Name) && (best == nil || r.GainAtLoad(s) > r.GainAtLoad(best)) {
			best = s
		}
	}
	gain := r.GainAtLoad(p)
	if best == nil || r.GainAtLoad(best) < leastGain {
		return phrase(p.Change) + ": " + times(gain) + atMost(p, gain)
	}
	for _, w := range words {
		if w != best.Change.Name {
			c, err := ParseChange(w)
			if err != nil {
				c = Change{Name: w}
			}
			rest = append(rest, phrase(c))
		}
	}
	after := strings.Join(rest, " and ") + " after " + phrase(best.Change)
	more := gain / r.GainAtLoad(best)
	switch {
	case more < 1/leastGain:
		return fmt.Sprintf("%s: worse, %s in total%s", after, times(gain), atMost(p, gain))
	case more < leastGain:
		return fmt.Sprintf("%s: no further gain, %s in total%s", after, times(gain), atMost(p, gain))
	}
	return fmt.Sprintf("%s: %s more, %s in total%s", after, times(more), times(gain), atMost(p, gain))
}

// atMost says what a change gives where the load is no bound, if that is something else.
func atMost(p *Prediction, gain float64) string {
	if p.Gain > 0 && (p.Gain > gain*leastGain || p.Gain < gain/leastGain) {
		return " (" + times(p.Gain) + " at most)"
	}
	return ""
}

func times(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0fx", x)
	}
	return fmt.Sprintf("%.3gx", x)
}

// phrase is what a change is in plain words; of several things, its name.
func phrase(c Change) string {
	switch c.Name {
	case "index":
		return "indexing growing segments"
	case "balance":
		return "balancing"
	}
	if strings.Contains(c.Name, ",") || c.Name == "" {
		return cmp.Or(c.Name, "a change without a name")
	}
	switch {
	case c.EF > 0:
		return fmt.Sprintf("ef %d", c.EF)
	case c.Nodes == 1:
		return "one more node"
	case c.Nodes > 1:
		return fmt.Sprintf("%d more nodes", c.Nodes)
	case c.Cores > 0:
		return fmt.Sprintf("%g cores per node", c.Cores)
	case c.Replicas > 0:
		return fmt.Sprintf("%d replicas", c.Replicas)
	case c.SegmentRows > 0:
		return fmt.Sprintf("segments of %d rows", c.SegmentRows)
	}
	return c.Name
}

// recalls says how recall changes, where both are known.
func recalls(base, p *Prediction) string {
	switch {
	case base.Recall < 0 && p.Recall < 0, base.Recall == p.Recall:
		return ""
	case base.Recall < 0:
		return fmt.Sprintf(" at recall %.3f", p.Recall)
	case p.Recall < 0:
		return ", recall unknown"
	}
	return fmt.Sprintf(" at recall %.3f instead of %.3f", p.Recall, base.Recall)
}
