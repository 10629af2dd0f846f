package report

import (
	"cmp"
	"math"
	"slices"

	"kitescope/profile/significance"
)

// Bounds of Load, in parts of the mean of the others, and how many cores the others have to use on average for one to
// be called idle beside them: below, all are.
const (
	idlePart  = 0.1
	lowPart   = 1.0 / 3
	highTimes = 3
	busyMean  = 0.1
)

// compare judges the processes of one role.
func (n *Nodes) compare(role string, list []*process) RoleShares {
	r := RoleShares{Role: role}
	judgeLoads(list, n.Level)
	for _, x := range list {
		r.Nodes = append(r.Nodes, x.NodeShares)
	}
	r.Differences = n.differences(list)
	return r
}

// judgeLoads says how busy each is beside the others.
func judgeLoads(list []*process, level float64) {
	ps := make([]float64, len(list))
	for i, x := range list {
		var cores, over float64
		var events, count int64
		for j, y := range list {
			if i == j || math.IsNaN(y.Cores) || y.Samples < 0 {
				continue
			}
			cores, over, events, count = cores+y.Cores, over+y.over.Seconds(), events+y.Samples, count+1
		}
		ps[i] = math.NaN()
		if count > 0 && !math.IsNaN(x.Cores) {
			x.Others = cores / float64(count)
			ps[i] = significance.EqualRatesP(x.Samples, x.over.Seconds(), events, over)
		}
	}
	for i, p := range significance.Holm(ps) {
		x := list[i]
		x.LoadP = p
		switch {
		case math.IsNaN(p):
			x.Load = LoadUnknown
		case p >= level || max(x.Cores, x.Others) < busyMean:
			x.Load = LoadEven
		case x.Cores < idlePart*x.Others && x.Others >= busyMean:
			x.Load = LoadIdle
		case x.Cores < lowPart*x.Others && x.Others >= busyMean:
			x.Load = LoadLow
		case x.Cores > highTimes*x.Others:
			x.Load = LoadHigh
		default:
			x.Load = LoadEven
		}
	}
}

// differences tests all that nodes spend time on against the others of the role. What is told has to be improbable among
// equals, worth something, and apart from the middle of the others: beside one node that is odd, the others are not.
func (n *Nodes) differences(list []*process) []Difference {
	if len(list) < 2 {
		return nil
	}
	var found []Difference
	var ps []float64
	for _, it := range allItems(list) {
		for i, x := range list {
			d, ok := n.difference(list, i, it)
			if !ok {
				continue
			}
			d.Node = x.Node
			found = append(found, d)
			ps = append(ps, d.P)
		}
	}
	var told []Difference
	for i, p := range significance.Holm(ps) {
		d := &found[i]
		gap := d.Here.Part - d.Others.Part
		if d.P, d.Verdict = p, VerdictOf(p, n.Level, gap); d.Verdict != More && d.Verdict != Less {
			continue
		}
		if math.Abs(gap) >= n.Effect && n.outside(list, d) {
			told = append(told, *d)
		}
	}
	slices.SortFunc(told, func(a, b Difference) int {
		return cmp.Or(-cmp.Compare(math.Abs(a.Here.Part-a.Others.Part), math.Abs(b.Here.Part-b.Others.Part)),
			cmp.Compare(a.Kind, b.Kind), compareNames(a.Node, b.Node), cmp.Compare(a.Name, b.Name))
	})
	return thin(told)
}

// allItems are what any process spends time on, in order.
func allItems(list []*process) []item {
	seen := make(map[item]bool)
	var all []item
	for _, x := range list {
		for it := range x.items {
			if !seen[it] {
				seen[it] = true
				all = append(all, it)
			}
		}
	}
	slices.SortFunc(all, func(a, b item) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	return all
}

// difference is one process against the others together. ok is false where nothing could be said, whatever the counts: all
// would be too few even if this one had every event and the others none.
func (n *Nodes) difference(list []*process, i int, it item) (d Difference, ok bool) {
	here, rest := list[i].items[it], events{}
	var head Header
	for j, x := range list {
		if j != i {
			rest = rest.plus(x.items[it])
			head.Total, head.Samples = head.Total+x.Total, head.Samples+x.Samples
		}
		if x.Samples < 0 {
			return d, false
		}
	}
	own := &list[i].Header
	if own.Samples == 0 || head.Samples == 0 {
		return d, false
	}
	d = Difference{Name: it.name, Kind: it.kind, Here: own.part(it.name, here), Others: head.part(it.name, rest)}
	d.P = significance.EqualSharesP(min(d.Here.Events, own.Samples), own.Samples, min(d.Others.Events, head.Samples), head.Samples)
	both := d.Here.Events + d.Others.Events
	return d, significance.EqualSharesP(min(both, own.Samples), own.Samples, both-min(both, own.Samples), head.Samples) < n.Level
}

// outside reports whether a node is apart from the middle of the others. Of two processes the one that does more is.
func (n *Nodes) outside(list []*process, d *Difference) bool {
	var rest []float64
	for _, x := range list {
		if x.Node != d.Node && x.Samples > 0 {
			rest = append(rest, float64(x.items[item{d.Kind, d.Name}].value)/float64(max(1, x.Total)))
		}
	}
	slices.Sort(rest)
	gap := d.Here.Part
	switch k := len(rest); {
	case k == 0:
		return false
	case k == 1:
		return d.Verdict == More
	case k == 2 && d.Verdict == More:
		gap -= rest[1]
	case k == 2:
		gap -= rest[0]
	case k%2 == 1:
		gap -= rest[k/2]
	default:
		gap -= (rest[k/2-1] + rest[k/2]) / 2
	}
	if d.Verdict == Less {
		gap = -gap
	}
	return gap >= n.Effect
}

// thin leaves out functions that say again what a caller, a callee or an activity of theirs says: as many samples here
// and elsewhere, about.
func thin(list []Difference) []Difference {
	var kept []Difference
	for _, d := range list {
		same := func(k Difference) bool {
			return k.Node == d.Node && k.Verdict == d.Verdict && near(k.Here.Part, d.Here.Part) && near(k.Others.Part, d.Others.Part)
		}
		if d.Kind != ofFunction || !slices.ContainsFunc(kept, same) {
			kept = append(kept, d)
		}
	}
	return kept
}

func near(a, b float64) bool { return math.Abs(a-b) <= 0.1*max(a, b)+0.005 }
