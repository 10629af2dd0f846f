package facts

import (
	"kitescope/inspect/balance"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// RequestsByCollection returns the number of requests of a kind that each collection had in the window, because
// collections that are not searched cause no work. It returns nil if proxies do not report requests by collection, or
// report a collection that the metadata does not have: any collection may be searched then.
func (f *Facts) RequestsByCollection(kind latency.Request) map[model.CollectionID]float64 {
	var of map[model.CollectionID]float64
	for _, b := range f.Latency().Budgets {
		switch {
		case b.Request != kind || b.Name == "":
			continue
		case b.Collection == 0:
			return nil
		case of == nil:
			of = map[model.CollectionID]float64{}
		}
		of[b.Collection] += b.Requests
	}
	return of
}

// SearchedGroups calls visit for the replicas of collections that are searched, with the number of requests. If
// that is unknown, it visits all replicas with often = 1.
func (f *Facts) SearchedGroups(kind latency.Request, visit func(g *balance.Group, often float64)) {
	of := f.RequestsByCollection(kind)
	for _, g := range f.Balance.Groups {
		often := of[g.ID]
		if of == nil {
			often = 1
		}
		if often > 0 {
			visit(g, often)
		}
	}
}
