package view

import (
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// segmentTarget holds the column from QueryCoord's current targets, which are queried only on demand.
var segmentTarget = []column[*model.Segment]{
	col(table.Column{
		Name: "wanted_as", Kind: table.State, Show: table.Hidden,
		Doc: "Sealed, Growing, Both or NotWanted: what QueryCoord's current target (in memory; 2.5 and later) " +
			"requires. Sealed with served_as NotServed: required but not served.",
	}, func(e *Env, s *model.Segment) table.Cell {
		sealed, growing, known := e.Cluster.Runtime.InTarget(s.ID)
		switch {
		case !known:
			return unknown()
		case sealed && growing:
			return text("Both")
		case sealed:
			return text("Sealed")
		case growing:
			return text("Growing")
		}
		return text("NotWanted")
	}).withNeeds(model.PartRuntime | model.PartTargets),
}
