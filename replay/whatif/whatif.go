// Package whatif predicts how the queries of a log would run on a changed cluster, e.g. with all segments sealed
// and indexed, balanced segments, more nodes, other search parameters, another index or other segment sizes. It
// combines measured search costs with a queueing model:
//
//  1. A Change produces a changed Layout (apply.go).
//  2. The engine searches each loaded segment on this machine and builds an index first if necessary. The cost of
//     any other segment is computed from the measured segment of the same kind that is nearest in size, in
//     proportion to the work (cost.go).
//  3. A server takes more CPU than the engine: an overhead for each call, an overhead for each segment, and a
//     factor for comparing vectors. These overheads are assumed, or taken from a live run of the present cluster
//     (overhead.go).
//  4. Nodes are cores behind a first-come, first-served queue. A request waits for its slowest part (queue.go).
//  5. The gain of a change is the ratio of two such simulations. Its range covers the possible splits of the
//     overheads and the measurement errors (predict.go).
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

// Change describes a changed cluster. The zero value changes nothing. Several fields can be combined.
type Change struct {
	Name string // as written by the user
	// Index seals growing segments and builds the collection's index on every segment, or the index that Type, M
	// and EFConstruction define.
	Index bool
	// Type, M and EFConstruction are the index type and its build parameters; "" and 0 leave them unchanged.
	Type              string
	M, EFConstruction int
	EF                int // ef of searches; 0 leaves it unchanged
	// Balanced spreads rows evenly: the largest segment goes to the node with the fewest rows. Nodes is the
	// number of empty nodes to add.
	Balanced bool
	Nodes    int
	// Replicas is the new number of replicas; 0 leaves it unchanged.
	Replicas int
	// Scale multiplies the rows of the collection, and thereby its segments; 0 means 1.
	Scale float64
	// SegmentRows is the size of sealed segments, in rows. They are cut again after Scale; 0 leaves their size.
	SegmentRows int64
	Cores       float64 // of each node; 0 leaves them unchanged
}

// resized reports whether the change alters the size of the collection, which does not improve the cluster.
func (c *Change) resized() bool { return c.Scale != 0 && c.Scale != 1 }

// Report holds the predictions for the present cluster and for the changed ones.
type Report struct {
	Base   Prediction
	Others []Prediction
	Load   Load
	Check  Check
	Setup  replay.Setup
	Cover  replay.Coverage
	Notes  []string
}

// Prediction holds the predicted performance of a cluster.
type Prediction struct {
	Change  Change
	Layout  Segments
	Cost    Cost
	Outcome *Outcome // at the load of the report
	// Most is the maximum number of queries per second at any number of sessions. Gain is the ratio of Most to the
	// present cluster's Most.
	Most, Gain float64
	// GainAtLoad is the ratio of queries per second at the load of the report. If the load is a rate, both
	// clusters serve the same queries per second, and GainAtLoad is Gain. 0 means unknown.
	GainAtLoad float64
	// AtLoad is the same ratio, computed from the overheads of the live run (or the assumed ones), with its
	// range. It is zero for the present cluster.
	AtLoad Range `doc:",omitzero"`
	// Measured is true if every cost was measured here on real vectors. Otherwise Modelled is the share of rows
	// whose cost was computed.
	Measured bool
	Modelled float64
	Recall   float64 `doc:",unknown=-1"` // measured; -1 is unknown
	EF       int     // ef of searches
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

// Range is a ratio of queries per second: the most likely value, and bounds that contain nine of ten actual
// gains.
type Range struct {
	Gain, Low, High float64 `doc:",omitzero"`
}

// Cost is the cost of a query with one vector.
type Cost struct {
	CPU       time.Duration // sum over all nodes
	Growing   time.Duration // part of CPU spent in growing segments
	Unindexed time.Duration // part of CPU spent in sealed segments without an index
	Indexed   time.Duration // part of CPU spent in indexes
	// Critical is the longest search time of any node, and Node is the node's name. A single query waits for it.
	Critical time.Duration
	Node     string
}

// Check holds the errors of the model against measurements.
type Check struct {
	// Live compares the loads of the live run with simulations of the present cluster.
	Live []CheckPoint
	// FitMedian and FitWorst are the median and the largest relative error of computed costs. Each measured
	// segment is compared with the cost computed from the nearest segment measured before it. They are -1 if too
	// few segments were measured.
	FitMedian, FitWorst float64 `doc:",unknown=-1"`
	// Calibrated is the name of the live run that overheads were taken from; "" if they are assumed.
	Calibrated string
	Overheads  Overheads
}

// CheckPoint compares one load of the live run with its simulation.
type CheckPoint struct {
	Sessions                    int
	MeasuredQPS, PredictedQPS   float64
	MeasuredP99, PredictedP99   time.Duration
	MeasuredMean, PredictedMean time.Duration
}

// Worst returns the largest relative errors of the simulation against the live run, for queries per second and
// for p99. Both are -1 without a live run.
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

// minGain is the smallest ratio that counts as a gain, because simulations scatter by as much.
const minGain = 1.03

// Best returns the change with the largest gain at the load of the report. Among changes with about the same gain
// it returns the one with the highest maximum. If the load is a rate, it returns the change with the lowest p99
// among those that can serve the rate. It returns nil if no change gains anything.
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
		return a > minGain
	case a > b/minGain && a < b*minGain:
		return p.Gain > than.Gain
	}
	return a > b
}

// Causes returns changes that are likely to help: indexing, balance, search parameters, the index type, nodes and
// cores, alone or in combination. Predict omits changes without effect if Input.SkipInvalid is set.
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

// ReportVersion is the format version written into files. Files with a later version are rejected.
const ReportVersion = 1

// reportFile is the file format of a saved report. Any key may be missing, because other releases write other
// keys.
var reportFile = encode.File{
	What: "a what-if report", APIVersion: "kitescope/v1", Kind: "ReplayWhatIf", Version: ReportVersion,
	Limit: 256 << 20,
	Open:  64, Tag: "whatif", Lenient: true,
}

// EncodeReport encodes a report as described in docs/reference/json.md: keys in lower_snake, ids as strings, times
// of day in RFC 3339, durations as seconds. Unknown values are omitted.
func EncodeReport(e *encode.Encoder, r *Report) { reportFile.Encode(e, r) }

// WriteReport writes a report as JSON.
func WriteReport(w io.Writer, r *Report) error { return reportFile.Write(w, r) }

// ReadReport reads a report that was written by WriteReport. It returns an error if an outcome is missing.
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
