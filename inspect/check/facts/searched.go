package facts

import (
	"kitescope/inspect/balance"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Searched is how many requests of a kind each collection had in the window: what nobody asks for is no work, however much there is of
// it. It is nil where proxies do not tell collections apart, or name one that the metadata does not know: then all may be searched.
func (f *Facts) Searched(kind latency.Request) map[model.CollectionID]float64 {
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

// SearchedGroups calls visit for the replicas of collections that are searched, of all where that is unknown, with how often.
func (f *Facts) SearchedGroups(kind latency.Request, visit func(g *balance.Group, often float64)) {
	of := f.Searched(kind)
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
