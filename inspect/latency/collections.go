package latency

import (
	"cmp"
	"math"
	"slices"

	"kitescope/inspect/model"
)

// sumCollections returns the whole calls of each collection, summed over all proxies and sorted by total time,
// descending.
func sumCollections(proxies []proxyReading) []collectionReading {
	at := map[[2]string]int{}
	var all []collectionReading
	for _, p := range proxies {
		for _, c := range p.collections {
			if !c.total.known() {
				continue
			}
			key := [2]string{c.database, c.name}
			i, ok := at[key]
			if !ok {
				i, at[key] = len(all), len(all)
				all = append(all, collectionReading{database: c.database, name: c.name, vectors: c.vectors})
			} else {
				all[i].vectors = Value{all[i].vectors.Value + c.vectors.Value, all[i].vectors.Known && c.vectors.Known}
			}
			all[i].total, all[i].queries = all[i].total.plus(c.total), all[i].queries.plus(c.queries)
		}
	}
	slices.SortFunc(all, func(a, b collectionReading) int {
		return cmp.Or(cmp.Compare(b.total.Sum, a.total.Sum), cmp.Compare(a.database, b.database),
			cmp.Compare(a.name, b.name))
	})
	return all
}

// traits holds the properties of a collection that indicate in which phases its requests spend more time than
// others.
type traits struct {
	id model.CollectionID
	// consistency is 1 if requests wait until all writes are visible (Strong), and 0 otherwise.
	consistency float64
	// growing and sealed are numbers of rows.
	growing, sealed float64
}

// split makes a budget for each collection from the budget of all. Nodes do not measure by collection. A
// collection whose nodes serve no other collection has a budget of its own. The other budgets are fitted so
// that the phases of each collection add up to its own mean, and each phase adds up to its measured total over
// all collections. Within these limits the leanings of the collections determine the shares (iterative
// proportional fitting). If one collection makes all requests, the budget of all is its budget.
func split(
	all *Budget, list []collectionReading, traitsOf func(database, name string) traits, nodes serving, in *readings,
) []*Budget {
	if len(list) == 0 {
		return []*Budget{all}
	}
	if len(list) == 1 && list[0].total.Count >= 0.99*all.Requests {
		all.Name, all.Database, all.Collection = list[0].name, list[0].database,
			traitsOf(list[0].database, list[0].name).id
		all.Scope = Sole
		return []*Budget{all}
	}
	all.Collections = len(list)
	leaves := all.Root.Leaves()
	rows, leans, ids := make([]float64, len(list)), make([]traits, len(list)), make([]model.CollectionID, len(list))
	told := 0.0
	for i, c := range list {
		ms, _ := c.total.mean()
		rows[i] = ms * c.total.Count
		told += rows[i]
		leans[i] = traitsOf(c.database, c.name)
		ids[i] = leans[i].id
	}
	columns := make([]float64, len(leaves)) // time of all requests in each phase
	for k, p := range leaves {
		columns[k] = p.Share * told
	}
	budgets := make([]*Budget, len(list))
	for i, c := range list {
		if slices.Contains(ids, 0) { // the nodes of a collection missing from the metadata are unknown
			continue
		}
		if budgets[i] = in.exclusiveBudget(nodes, c, ids[i], ids, all.Request); budgets[i] != nil {
			budgets[i].takeFrom(columns, leaves)
			rows[i] = 0
		}
	}
	time := make([][]float64, len(list)) // time of all requests of a collection in each phase
	for i, c := range list {
		time[i] = make([]float64, len(columns))
		for k, p := range leaves {
			switch {
			case budgets[i] != nil:
			case p.Name == Requery:
				time[i][k] = c.queries.Sum
			default:
				time[i][k] = leans[i].weight(p.Name) * c.total.Count
			}
		}
	}
	fit(time, rows, columns)
	for i, c := range list {
		if budgets[i] == nil {
			budgets[i] = all.forCollection(c, ids[i], leaves, time[i], columns)
		}
		if c.vectors.Known && all.PerSecond.Known && all.Requests > 0 {
			budgets[i].VectorsPerSecond = Value{all.PerSecond.Value / all.Requests * c.vectors.Value, true}
		}
	}
	return append([]*Budget{all}, budgets...)
}

// takeFrom subtracts the phases of a collection with its own budget from the shared totals.
func (b *Budget) takeFrom(columns []float64, leaves []*Phase) {
	for k, p := range leaves {
		for _, x := range b.Root.Leaves() {
			if x.Name == p.Name && x.Parent == p.Parent {
				columns[k] = max(0, columns[k]-x.Ms*b.Requests)
			}
		}
	}
}

// weight returns the expected time of a collection's request in a phase, relative to a request without a
// leaning.
func (l traits) weight(name Name) float64 {
	switch name {
	case ConsistencyWait, ConsistencyQueue:
		return max(0.02, l.consistency)
	case KernelGrowing:
		return 1 + l.growing
	case KernelSealed:
		return 1 + l.sealed
	default:
		return 1
	}
}

// fit scales the rows and columns of a table alternately until they add up to the given sums.
func fit(table [][]float64, rows, columns []float64) {
	const rounds = 200
	factors := make([]float64, len(columns))
	for range rounds {
		clear(factors)
		for _, row := range table {
			for k, v := range row {
				factors[k] += v
			}
		}
		fits := true
		for k, sum := range factors {
			factors[k] = factor(columns[k], sum, &fits)
		}
		for i, want := range rows {
			row, sum := table[i], 0.0
			for k := range row {
				row[k] *= factors[k]
				sum += row[k]
			}
			f := factor(want, sum, &fits)
			for k := range row {
				row[k] *= f
			}
		}
		if fits {
			return
		}
	}
}

// factor returns the factor that scales a sum to want, or 1 if the sum is not positive. It sets fits to false
// if the factor is not 1.
func factor(want, sum float64, fits *bool) float64 {
	if !(sum > 0) {
		return 1
	}
	f := want / sum
	*fits = *fits && f == 1
	return f
}

// forCollection returns the budget of a collection. time is the total time of its requests in each leaf phase. columns
// is the total time of the requests of all collections in each leaf phase.
func (b *Budget) forCollection(
	c collectionReading, id model.CollectionID, leaves []*Phase, time, columns []float64,
) *Budget {
	n := c.total.Count
	x := &Budget{Collection: id, Name: c.name, Database: c.database, Request: b.Request, Requests: n, Scope: Shared}
	if b.PerSecond.Known && b.Requests > 0 {
		x.PerSecond = Value{b.PerSecond.Value * n / b.Requests, true}
	}
	x.Ms, x.Mean = c.total.mean()
	x.P50, x.P95, x.P99 = c.total.quantile(0.5), c.total.quantile(0.95), c.total.quantile(0.99)
	ms := map[*Phase]int{}
	for k, p := range leaves {
		ms[p] = k
	}
	x.Root = copyTree(b.Root, func(p *Phase, leaf bool) {
		if p.Background() {
			p.Why += "; for all collections"
			return
		}
		p.Nodes, p.PerSecond, p.P50, p.P99 = nil, Value{}, Interval{}, Interval{}
		p.Estimate = p.Known
	}, func(p, original *Phase) {
		if k, ok := ms[original]; ok && !p.Background() {
			p.Ms = time[k] / n
			p.Mean = Interval{0, max(p.Ms, min(x.Mean.High, columns[k]/n))}
		}
	})
	x.Root.P50, x.Root.P99, x.Root.Mean, x.Root.Estimate, x.Root.PerSecond = x.P50, x.P99, x.Mean, false, x.PerSecond
	x.Root.addUp()
	x.finish()
	return x
}

// copyTree returns a changed copy of a tree.
func copyTree(p *Phase, change func(p *Phase, leaf bool), fill func(p, original *Phase)) *Phase {
	c := *p
	change(&c, len(p.Children) == 0)
	fill(&c, p)
	c.Children = make([]*Phase, len(p.Children))
	for i, x := range p.Children {
		c.Children[i] = copyTree(x, change, fill)
	}
	return &c
}

// addUp sets each phase with children to the sum of its children.
func (p *Phase) addUp() {
	if len(p.Children) == 0 {
		return
	}
	ms, high := 0.0, 0.0
	for _, c := range p.Children {
		c.addUp()
		ms, high = ms+c.Ms, high+c.Mean.High
	}
	p.Ms = ms
	if p.Parent != "" {
		p.Mean = Interval{0, max(ms, high)}
	}
	if math.IsNaN(p.Ms) {
		p.Ms = 0
	}
}
