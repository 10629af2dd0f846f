package balance

import (
	"math"

	"kitescope/inspect/model"
)

// spreadOf measures how uneven shares are, over the nodes that take segments and other nodes that serve sealed
// ones. It ignores nodes with unknown data. Nodes for channels only count while they serve a sealed segment.
func spreadOf(shares []*Share) Spread {
	var cost, rows, size tally
	takers := 0
	for _, x := range shares {
		if !x.counts() {
			continue
		}
		if x.assignable {
			takers++
		}
		cost.add(x.Cost)
		rows.add(float64(x.Rows()))
		size.add(float64(x.Size()))
	}
	s := Spread{Nodes: cost.n}
	if cost.n < 2 || takers == 0 {
		return s
	}
	s.MaxMean, s.CV = cost.maxMean(takers), cost.cv()
	s.RowsMaxMean, s.RowsCV = rows.maxMean(takers), rows.cv()
	s.MemoryMaxMean = size.maxMean(takers)
	if cost.sum > 0 {
		s.Busiest = cost.max / cost.sum
	}
	return s
}

// spread is spreadOf with 0 for unknown values. All values are 0 if the rows of a compared share are unknown,
// and MemoryMaxMean is 0 if sizes were not read.
func (s *Survey) spread(shares []*Share) Spread {
	for _, x := range shares {
		if x.counts() && s.Rowless(x) {
			return Spread{}
		}
	}
	x := spreadOf(shares)
	if !s.Sized() {
		x.MemoryMaxMean = 0
	}
	return x
}

// Rowless reports whether the rows, and so the cost, of a node's segments are unknown, because the records of
// segments were not read. Single segments without a record, which are newer than the metadata, are only counted:
// see Share.Unrecorded.
func (s *Survey) Rowless(x *Share) bool {
	return x.Unrecorded > 0 && !s.cluster.Loaded.Has(model.PartSegments)
}

// Sized reports whether the sizes of segments were read.
func (s *Survey) Sized() bool { return s.cluster.Loaded.Has(model.PartSegments | model.PartLogs) }

// unreadParts returns a message about the part of the metadata that a plan needs and that was not read, or "" if
// everything was read.
func (s *Survey) unreadParts() string {
	switch loaded := s.cluster.Loaded; {
	case !loaded.Has(model.PartServing):
		return "the replicas were not read"
	case !loaded.Has(model.PartSessions):
		return "the sessions were not read: which nodes take segments is unknown"
	case !loaded.Has(model.PartSegments):
		return "the records of segments were not read"
	}
	return ""
}

// counts reports whether a share is part of the comparison.
func (s *Share) counts() bool {
	if !s.Known {
		return false
	}
	return s.assignable || s.Sealed > 0
}

// tally collects one figure of several nodes.
type tally struct {
	n                 int
	sum, squares, max float64
}

func (t *tally) add(x float64) {
	t.n++
	t.sum += x
	t.squares += x * x
	t.max = max(t.max, x)
}

// maxMean returns the largest value over the mean of the nodes that could share the total. If leaving nodes
// still serve a part, all values may be below that mean. The result is then 1 (even).
func (t *tally) maxMean(assignable int) float64 {
	if t.sum == 0 {
		return 0
	}
	return max(1, t.max/(t.sum/float64(assignable)))
}

func (t *tally) cv() float64 {
	if t.sum == 0 {
		return 0
	}
	mean := t.sum / float64(t.n)
	return math.Sqrt(max(0, t.squares/float64(t.n)-mean*mean)) / mean
}
