package pgo

import "slices"

// HotPercent is the percentage of the total weight that the compiler treats as hot (-d=pgoinlinecdfthreshold).
const HotPercent = 99

// Hot returns the heaviest edges, up to and including the edge whose cumulative weight exceeds percent of the
// total, and the weight of the lightest edge returned (cmd/compile/internal/inline: hotNodesFromCDF).
func (e *Edges) Hot(percent float64) (hot []Edge, least int64) {
	sum := int64(0)
	for i, edge := range e.ByWeight {
		least = e.Weight[edge]
		sum += least
		if float64(sum)/float64(e.Total)*100 > percent {
			return e.ByWeight[: i+1 : i+1], least
		}
	}
	return slices.Clip(e.ByWeight), least
}
