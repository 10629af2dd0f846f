package whatif

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/replay"
)

// Change is another cluster. The zero value changes nothing; several go together.
type Change struct {
	Name string // as the user gave it
	// Index seals what grows, and gives every segment the collection's index (or that of Type, M, EFConstruction here).
	Index bool
	// Type, M, EFConstruction are of the index; "" and 0 leave them.
	Type              string
	M, EFConstruction int
	EF                int // of searches
	// Place is who serves a segment then, by id: what a plan of moves leads to; nil leaves it. Balanced spreads rows evenly by the
	// simplest rule (the largest segment to the node with the fewest rows), Nodes adds so many empty nodes like the others before.
	Place    map[int64]int64 `doc:",id,omitzero"`
	Balanced bool
	Nodes    int
	// Replicas changes how many there are; 0 leaves them.
	Replicas int
	// Scale makes the collection so many times as large: rows, and with them segments; 0 is 1.
	Scale float64
	// SegmentRows makes segments of so many rows of all rows, when there are Scale times as many.
	SegmentRows int64
	Cores       float64 // of each node; 0 leaves them
}

// Prediction is one cluster, with what is expected of it.
type Prediction struct {
	Change  Change
	Layout  *replay.Layout
	Cost    Cost
	Outcome *Outcome  // at the load that was asked for
	Curve   []Outcome // at each number of sessions, in the order of Report.Sessions
	// Most is what it can do at most, in queries per second, and Gain that over the same of the present cluster.
	Most, Gain float64
	// Measured tells that costs are of real vectors searched here; else Modelled says which share of rows was computed from the model.
	Measured bool
	Modelled float64
	Recall   float64 `doc:",unknown=-1"` // measured, -1 unknown
	// EF is what searches have.
	EF    int
	Nodes []NodeShare // in the order of Layout.Nodes
	// AtLoad is how many times the queries per second of the present cluster it has at the load that was asked for (of a rate, at most), Ranges at each
	// number of sessions, in the order of Report.Sessions; zero and none of the present one.
	AtLoad Range `doc:",omitzero"`
	Ranges []Range
	Notes  []string
}

// Range is how many times the queries per second of the present cluster a change gives: the likeliest figure, and the bounds that nine gains in ten
// should be in.
type Range struct {
	Gain, Low, High float64 `doc:",omitzero"`
}

// NodeShare is what a node has to do for one query on the replica that it is in.
type NodeShare struct {
	ID                int64
	Name              string
	Segments, Growing int
	Rows, GrowingRows int64 // as far as known
	CPU               time.Duration
	Part              float64 // of its replica's CPU, 0 to 1
}

// Cost is what a query costs a cluster.
type Cost struct {
	CPU       time.Duration // all nodes together, one vector
	Growing   time.Duration // of it in growing segments,
	Unindexed time.Duration // in sealed ones without index,
	Indexed   time.Duration // by indexes
	// Critical is the longest of any node: what a lone query waits for.
	Critical time.Duration
	Node     string
}

// Report is the present cluster and the ones that could be.
type Report struct {
	Base     Prediction
	Others   []Prediction
	Sessions []int
	Load     Load
	Check    Check
	Setup    replay.Setup
	Cover    replay.Coverage
	Notes    []string
}

// Check is how far the model is from what was measured.
type Check struct {
	// Points are runs of the engine here, under the scheduler, against the simulation of the same machine with the same costs.
	Points []CheckPoint
	// Live are the runs that a live target was calibrated by, against the simulation of the cluster with the overheads worked out of them: the first point
	// was fitted, of the others only the most queries per second.
	Live []CheckPoint
	// QPS and P99 are the largest relative errors of Points.
	QPS, P99 float64 `doc:",unknown=-1"`
	// Fit is the error of the cost model at the segments that it was fitted to, leaving each out in turn: the median and the largest, relative.
	FitMedian, FitWorst float64 `doc:",unknown=-1"`
	// Unknown is -1: of QPS and P99 if no point was measured, of the fit if too little was.

	// Calibrated names the live result that overheads were taken from; "" if they are defaults.
	Calibrated string
	Overheads  Overheads
}

// CheckPoint is one of them.
type CheckPoint struct {
	Sessions                    int
	MeasuredQPS, PredictedQPS   float64
	MeasuredP99, PredictedP99   time.Duration
	MeasuredMean, PredictedMean time.Duration
	// Disturbed tells that other programs took so much of the machine meanwhile that the run is no measure of the simulation.
	Disturbed bool
}

// OnlyBalanced tells that a change spreads the rows of the cluster as it is and does nothing else to what nodes serve: a plan of
// moves of the present segments can take the place of the simple rule.
func (c *Change) OnlyBalanced() bool {
	return c.Balanced && !c.Index && c.Type == "" && c.M == 0 && c.EFConstruction == 0 && c.Place == nil && c.Nodes == 0 && c.Replicas == 0 && c.SegmentRows == 0 &&
		(c.Scale == 0 || c.Scale == 1)
}

// indexWords are the words of a change that are of the index, as they are written.
func (c *Change) indexWords() string {
	var words []string
	for _, w := range []struct {
		name string
		set  bool
	}{{"index", c.Index}, {"type", c.Type != ""}, {"m", c.M != 0}, {"efconstruction", c.EFConstruction != 0}} {
		if w.set {
			words = append(words, w.name)
		}
	}
	return strings.Join(words, ",")
}

// effect is an error if a word of a change does nothing to the cluster, or to searches: a prediction would be of something else than was asked for.
func effect(v *variant, c Change, a *asked) error {
	void := slices.Clone(v.void)
	if c.EF > 0 {
		graphs := slices.ContainsFunc(v.Segments, func(s replay.Segment) bool { return s.State == replay.Indexed && s.Index.Type == typeHNSW })
		switch ef := a.with(c.EF).params.EF; {
		case !graphs:
			void = append(void, "ef has no effect: no segment has an HNSW index")
		case ef == a.params.EF && c.Type == "":
			void = append(void, fmt.Sprintf("ef has no effect: searches already use %d", ef))
		}
	}
	if len(void) == 0 {
		return nil
	}
	return fmt.Errorf("change %q: %s", c.Name, strings.Join(void, "; "))
}
