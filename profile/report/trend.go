package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"kitescope/profile"
	"kitescope/profile/significance"
)

// TrendOptions say how a rolling record is judged.
type TrendOptions struct {
	Options
	// Level is the chance of calling noise a trend, over all entries of a node; 0 is 0.01.
	Level float64
	// Effect is how many percent of a node's samples an entry has to move by over the record; 0 is 1.
	Effect float64
}

// Trend is how shares move over a rolling record, node by node.
type Trend struct {
	Type  profile.ValueType
	Level float64
	// Cum says that the shares are of samples that have the entry anywhere on the stack; else at the leaf.
	Cum   bool
	Nodes []NodeTrend
}

// NodeTrend is the record of one node: its profiles in order of time, and its entries, the largest movers first.
type NodeTrend struct {
	Node   string
	Points []TrendPoint
	Movers []Mover
	// Timed says that slopes are per hour. Else a profile does not tell its time, they stand in the order in which they were
	// given, and slopes are per profile.
	Timed bool
}

// TrendPoint is one profile of the record.
type TrendPoint struct {
	Header
	// Cores is the processor time per time, NaN if unknown.
	Cores float64
}

// Mover is how one entry moves.
type Mover struct {
	Function string
	Class    profile.Class
	// Parts are its share at each point. Of a point without samples they are NaN.
	Parts []Part
	// Slope is how much the share changes per hour (or per profile, see Timed), from the straight line that fits all points
	// best, each weighed by its samples. Change is that over the whole record.
	Slope, Change float64
	// P is the chance of such a slope where nothing moves, corrected for the number of entries; NaN if undecided.
	P       float64
	Verdict Verdict
}

// NewTrend follows shares over a rolling record. Profiles are told apart by Origin.Node, or by the nodes that their samples
// are labelled with, and put in order of time.
//
// A slope is judged twice, and the more cautious p value counts. Against the noise of sampling: the test of Cochran and
// Armitage for a trend in proportions (Armitage, "Tests for linear trends in proportions and frequencies", Biometrics
// 11, 1955). And against how much shares scatter from profile to profile about the line, as the load of a program is not the same in
// all windows: the same statistic over the square root of its dispersion, by Student's distribution with two degrees of freedom less than points.
// With two or three profiles there is no scatter to see, so that only the first judges: a load that was another one then counts as a change, as it
// does in a comparison of two. With few events neither holds, and it is EqualSharesP, of the first half of the profiles and the second.
func NewTrend(ps []*profile.Profile, o TrendOptions) (*Trend, error) {
	t := &Trend{Level: cmp.Or(o.Level, 0.01), Cum: o.SortCum}
	series := make(map[string][]*window)
	for _, whole := range ps {
		for _, p := range apart(whole) {
			w, err := o.window(p)
			if err != nil {
				return nil, err
			}
			if err := sameType(&t.Type, w.Type, "a trend is of profiles of one kind; choose them, or a sample type that all have"); err != nil {
				return nil, err
			}
			name := cmp.Or(p.Origin.Node, "all")
			series[name] = append(series[name], w)
		}
	}
	for node, list := range series {
		t.Nodes = append(t.Nodes, o.follow(node, list))
	}
	slices.SortFunc(t.Nodes, func(a, b NodeTrend) int { return compareNames(a.Node, b.Node) })
	return t, nil
}

// window is one profile of a record: what each entry has of it.
type window struct {
	TrendPoint
	entries map[string]*entry
}

type entry struct {
	class     profile.Class
	flat, cum events
}

func (o *TrendOptions) window(p *profile.Profile) (*window, error) {
	nodes := NodesOptions{Options: o.Options}
	x, err := nodes.open(&p)
	if err != nil {
		return nil, err
	}
	w := &window{TrendPoint: TrendPoint{Header: x.Header, Cores: x.cores()}, entries: make(map[string]*entry)}
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	perSample, _ := p.Events(kind)
	frames := p.Frames(o.By)
	list := make([]entry, len(frames.Names))
	last := make([]int, len(frames.Names))
	for i := range p.Len() {
		e := events{p.Value(i, kind), perSample(i)}
		for depth, l := range p.Stack(i) {
			for j, id := range frames.Of(l) {
				if depth == 0 && j == 0 {
					list[id].flat = list[id].flat.plus(e)
				}
				if last[id] != i+1 {
					last[id] = i + 1
					list[id].cum = list[id].cum.plus(e)
				}
			}
		}
	}
	for id := range list {
		if e := &list[id]; e.cum != (events{}) {
			e.class = frames.Classes[id]
			w.entries[frames.Names[id]] = e
		}
	}
	return w, nil
}

// follow judges the record of one node.
func (o *TrendOptions) follow(node string, list []*window) NodeTrend {
	t := NodeTrend{Node: node, Timed: true}
	for _, w := range list {
		t.Timed = t.Timed && !w.Time.IsZero()
	}
	if t.Timed {
		slices.SortStableFunc(list, func(a, b *window) int { return a.Time.Compare(b.Time) })
		t.Timed = list[0].Time.Before(list[len(list)-1].Time)
	}
	xs := make([]float64, len(list))
	classes := make(map[string]profile.Class)
	for i, w := range list {
		t.Points = append(t.Points, w.TrendPoint)
		if xs[i] = float64(i); t.Timed {
			xs[i] = float64(w.Time.Sub(list[0].Time)) / float64(time.Hour)
		}
		for name, e := range w.entries {
			classes[name] = e.class
		}
	}
	few := make(map[string]bool)
	for name, class := range classes {
		m, tooFew := o.mover(name, class, list, xs)
		few[name] = tooFew
		t.Movers = append(t.Movers, m)
	}
	slices.SortFunc(t.Movers, func(a, b Mover) int { return cmp.Compare(a.Function, b.Function) })
	o.judge(t.Movers, few)
	return t
}

// mover follows one entry. tooFew says that it has so few events that nothing could be said, wherever they were: it does not
// count among those that p values are corrected for (Tarone, "A modified Bonferroni method for discrete data", Biometrics 46, 1990).
func (o *TrendOptions) mover(name string, class profile.Class, list []*window, xs []float64) (m Mover, tooFew bool) {
	m = Mover{Function: name, Class: class}
	line := lineOf{xs: xs}
	for _, w := range list {
		var e events
		if x := w.entries[name]; x != nil && o.SortCum {
			e = x.cum
		} else if x != nil {
			e = x.flat
		}
		part := w.part(name, e)
		m.Parts = append(m.Parts, part)
		line.add(part.Events, w.Samples)
	}
	m.Slope, m.P = line.fit()
	m.Change = m.Slope * (xs[len(xs)-1] - xs[0])
	return m, line.best() >= cmp.Or(o.Level, 0.01)
}

// judge corrects the p values of all entries of a node, and puts the largest movers first: those that move, then the rest.
func (o *TrendOptions) judge(list []Mover, few map[string]bool) {
	ps := make([]float64, len(list))
	for i := range list {
		if ps[i] = list[i].P; few[list[i].Function] {
			ps[i] = math.NaN()
		}
	}
	effect := cmp.Or(o.Effect, 1) / 100
	for i, p := range significance.Holm(ps) {
		m := &list[i]
		if few[m.Function] && !math.IsNaN(m.P) {
			p = 1
		}
		m.P, m.Verdict = p, VerdictOf(p, cmp.Or(o.Level, 0.01), m.Change)
		if math.Abs(m.Change) < effect && m.Verdict != Undecided {
			m.Verdict = Noise
		}
	}
	moves := func(m Mover) int {
		if m.Verdict == More || m.Verdict == Less {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Mover) int {
		return cmp.Or(cmp.Compare(moves(a), moves(b)), -cmp.Compare(math.Abs(a.Change), math.Abs(b.Change)))
	})
}
