package bench

import (
	"cmp"
	"slices"
)

// Curve is one metric over the number of clients. The Ratio of its Lines is what is called relative: relative QPS of 1.2 says that with so many
// clients B makes 1.2 times the queries of A.
type Curve struct {
	// Metric is that of the Lines, without Concurrency.
	Metric
	// Lines are by Concurrency, the fewest clients first.
	Lines []*Line
}

// Curves are the metrics that were measured with several numbers of clients, in the order of the lines.
func (c *Comparison) Curves() []Curve {
	at := map[Metric]int{}
	var all []Curve
	for i := range c.Lines {
		l := &c.Lines[i]
		if l.Concurrency == 0 {
			continue
		}
		m := l.Metric
		m.Concurrency = 0
		k, ok := at[m]
		if !ok {
			k = len(all)
			at[m] = k
			all = append(all, Curve{Metric: m})
		}
		all[k].Lines = append(all[k].Lines, l)
	}
	all = slices.DeleteFunc(all, func(c Curve) bool { return len(c.Lines) < 2 })
	for _, curve := range all {
		slices.SortStableFunc(curve.Lines, func(x, y *Line) int { return cmp.Compare(x.Concurrency, y.Concurrency) })
	}
	return all
}
