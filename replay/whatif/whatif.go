// Package whatif predicts how the queries of a log would run on another cluster: with everything sealed and indexed,
// balanced, with more nodes, other parameters, another index, other segments. It multiplies measured costs with one model
// of queues:
//
//  1. A Change makes another Layout (apply.go).
//  2. Each segment that is loaded is searched by the engine on this machine, with an index that is built if need be;
//     others cost what the measured segment of the same kind that is nearest in size costs, in proportion to the work
//     (cost.go).
//  3. A server takes more CPU than the engine: for each call, for each segment, and a factor for comparing vectors. These
//     are assumed, or taken from a live run of the present cluster (overhead.go).
//  4. Nodes are cores behind a queue, first come, first served; a request waits for its slowest part (queue.go).
//  5. The gain of a change is the ratio of two such simulations. Its range covers the ways in which overheads can be
//     split, and the errors of what was measured (predict.go).
package whatif

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"kitescope/engine/dist"
	"kitescope/internal/encode"
	"kitescope/replay"
)

// Change is another cluster. The zero value changes nothing; several fields go together.
type Change struct {
	Name string // as the user gave it
	// Index seals what grows and gives every segment the collection's index (or that of Type, M, EFConstruction here).
	Index bool
	// Type, M, EFConstruction are those of the index; "" and 0 leave them.
	Type              string
	M, EFConstruction int
	EF                int // of searches
	// Balanced spreads rows evenly: the largest segment goes to the node with the fewest rows. Nodes adds empty nodes.
	Balanced bool
	Nodes    int
	// Replicas is their new number; 0 leaves them.
	Replicas int
	// Scale multiplies the rows of the collection, and with them its segments; 0 is 1.
	Scale float64
	// SegmentRows is the size of sealed segments, which are cut anew after Scale.
	SegmentRows int64
	Cores       float64 // of each node; 0 leaves them
}

// resized reports whether the change is of the collection's size, which is no improvement of the cluster.
func (c *Change) resized() bool { return c.Scale != 0 && c.Scale != 1 }

// Report is the present cluster and the ones that could be.
type Report struct {
	Base   Prediction
	Others []Prediction
	Load   Load
	Check  Check
	Setup  replay.Setup
	Cover  replay.Coverage
	Notes  []string
}

// Prediction is one cluster, with what is expected of it.
type Prediction struct {
	Change  Change
	Layout  Segments
	Cost    Cost
	Outcome *Outcome // at the load of the report
	// Most is the maximum of queries per second at any number of sessions, and Gain its ratio to that of the present
	// cluster.
	Most, Gain float64
	// GainAtLoad is the ratio of queries per second at the load of the report; at a rate, which is the same for both, it
	// is Gain. 0 is unknown.
	GainAtLoad float64
	// AtLoad is the same by the live run, with its range; zero for the present cluster.
	AtLoad Range `doc:",omitzero"`
	// Measured means that all costs are of real vectors searched here; else Modelled is the share of rows whose cost was
	// computed.
	Measured bool
	Modelled float64
	Recall   float64 `doc:",unknown=-1"` // measured, -1 unknown
	EF       int     // of searches
	Notes    []string
}

// Segments counts the segments of a cluster by state.
type Segments struct {
	Replicas, Segments, Growing, Unindexed, Indexed int
	Rows                                            int64
	RowsUnknown                                     int
}

func segmentsOf(l *replay.Layout) Segments {
	s := Segments{Replicas: len(l.Replicas), Segments: len(l.Segments)}
	for i := range l.Segments {
		switch l.Segments[i].State {
		case replay.Growing:
			s.Growing++
		case replay.Unindexed:
			s.Unindexed++
		default:
			s.Indexed++
		}
		if l.Segments[i].Rows < 0 {
			s.RowsUnknown++
		}
		s.Rows += max(0, l.Segments[i].Rows)
	}
	return s
}

// Range is a ratio of queries per second: the likeliest one, and bounds that hold nine gains in ten.
type Range struct {
	Gain, Low, High float64 `doc:",omitzero"`
}

// Cost is what a query of one vector costs a cluster.
type Cost struct {
	CPU       time.Duration // of all nodes together
	Growing   time.Duration // of it in growing segments,
	Unindexed time.Duration // in sealed ones without index,
	Indexed   time.Duration // by indexes
	// Critical is the longest search of any node, and Node its name: a lone query waits for it.
	Critical time.Duration
	Node     string
}

// Check is how far the model is from measurements.
type Check struct {
	// Live compares the loads of the live run with the simulation of the present cluster.
	Live []CheckPoint
	// FitMedian and FitWorst are errors of computed costs: each measured segment against the cost that the nearest one
	// before it gives; -1 if too little was measured.
	FitMedian, FitWorst float64 `doc:",unknown=-1"`
	// Calibrated names the live run that overheads were taken from; "" if they are assumed.
	Calibrated string
	Overheads  Overheads
}

// CheckPoint is a load of the live run.
type CheckPoint struct {
	Sessions                    int
	MeasuredQPS, PredictedQPS   float64
	MeasuredP99, PredictedP99   time.Duration
	MeasuredMean, PredictedMean time.Duration
}

// Worst are the largest relative errors of the simulation against the live run; -1 without one.
func (c *Check) Worst() (qps, p99 float64) {
	qps, p99 = -1, -1
	for i := range c.Live {
		p := &c.Live[i]
		qps = max(qps, math.Abs(p.PredictedQPS/p.MeasuredQPS-1))
		if p.MeasuredP99 > 0 {
			p99 = max(p99, math.Abs(float64(p.PredictedP99)/float64(p.MeasuredP99)-1))
		}
	}
	return qps, p99
}

// leastGain is the smallest ratio that counts: a simulation scatters by as much.
const leastGain = 1.03

// Best is the change that gains most at the load of the report, and of several that gain as much there the one with the
// highest maximum; nil if none gains. At a rate it is the one with the lowest p99 among those that can serve it.
func (r *Report) Best() *Prediction {
	best := &r.Base
	for i := range r.Others {
		p := &r.Others[i]
		if !p.Change.resized() && p.Gain > 0 && !math.IsInf(p.Gain, 0) && r.better(p, best) {
			best = p
		}
	}
	if best == &r.Base {
		return nil
	}
	return best
}

func (r *Report) better(p, than *Prediction) bool {
	if r.Load.Rate > 0 && p.Outcome != nil && than.Outcome != nil {
		switch {
		case p.Outcome.Saturated != than.Outcome.Saturated:
			return !p.Outcome.Saturated
		case !p.Outcome.Saturated:
			return p.Outcome.P99 < than.Outcome.P99
		}
		return p.Gain > than.Gain
	}
	a, b := p.GainAtLoad, than.GainAtLoad
	switch {
	case than == &r.Base:
		return a > leastGain
	case a > b/leastGain && a < b*leastGain:
		return p.Gain > than.Gain
	}
	return a > b
}

// Causes are the changes of one thing each that are likely to help: growing segments, imbalance, parameters, index,
// machine; and those that only help together. Predict leaves out those without effect.
func Causes(l *replay.Layout, ef int) []Change {
	list := []Change{
		{Name: "index", Index: true},
		{Name: "balance", Balanced: true},
		{Name: "index,balance", Index: true, Balanced: true},
	}
	indexed := slices.ContainsFunc(l.Segments, func(s replay.Segment) bool { return s.State == replay.Indexed })
	switch half := ef / 2; {
	case !indexed && l.Collection.Element == dist.Bit:
		list = append(list, Change{Name: "type=" + typeBinIVF, Type: typeBinIVF})
	case !indexed:
		list = append(list, Change{Name: "type=" + typeHNSW, Type: typeHNSW})
	case half >= defaultK:
		list = append(list, Change{Name: fmt.Sprintf("ef=%d", half), EF: half})
	}
	list = append(list, Change{Name: "nodes=+1,balance", Nodes: 1, Balanced: true})
	if len(l.Nodes) > 0 && l.Nodes[0].Cores > 0 {
		cores := 2 * l.Nodes[0].Cores
		list = append(list, Change{Name: fmt.Sprintf("cores=%g", cores), Cores: cores})
	}
	return list
}

// ReportVersion is written into files; a file of a later one is refused.
const ReportVersion = 1

// reportFile is the envelope of a saved report. Other releases write other keys: any may be missing.
var reportFile = encode.File{
	What: "a what-if report", APIVersion: "kitescope/v1", Kind: "ReplayWhatIf", Version: ReportVersion, Limit: 256 << 20,
	Open: 64, Tag: "whatif", Lenient: true,
}

// TellReport encodes a report (docs/reference/json.md): keys in lower_snake, ids as strings, times of day in RFC 3339,
// durations as seconds; unknown values are left out.
func TellReport(e *encode.Encoder, r *Report) { reportFile.Tell(e, r) }

// WriteReport writes a report as JSON.
func WriteReport(w io.Writer, r *Report) error { return reportFile.Write(w, r) }

// ReadReport reads a report that WriteReport wrote.
func ReadReport(from io.Reader) (*Report, error) {
	var r Report
	if _, err := reportFile.Read(from, &r); err != nil {
		return nil, err
	}
	if r.Base.Outcome == nil {
		return nil, fmt.Errorf("read %s: base.outcome is missing", reportFile.What)
	}
	for i := range r.Others {
		if r.Others[i].Outcome == nil {
			return nil, fmt.Errorf("read %s: others[%d].outcome is missing", reportFile.What, i)
		}
	}
	return &r, nil
}
