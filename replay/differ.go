package replay

import (
	"cmp"
	"math"
	"slices"

	"kitescope/engine"
	"kitescope/engine/index"
	"kitescope/replay/load"
)

// Reasons why a hit differs from the reference.
const (
	EqualDistance = "equal distance"
	NotStored     = "row not in storage"
	DeletedSince  = "deleted since"
	OtherPath     = "different path through the graph"
	OtherIndex    = "searched row by row here, with an index there"
)

// maxExamples is the maximum number of differences in Examples.
const maxExamples = 20

// Differ compares answers with reference answers, position by position, for all requests that have an answer in
// both. l holds the rows for looking up keys; if it is nil, only ties are explained.
//
// The reasons for a difference, in the order in which they are tried:
//
//  1. Both hits are equally near (within one part in a million).
//  2. A key that only one answer has is in no loaded segment, or is deleted there.
//  3. That key is in a segment searched by a graph or by lists, where the order of the walk decides which rows are
//     found.
//  4. That key is in a segment whose index cannot be searched here. Here all its rows were compared; there only the
//     rows that the index found, possibly with estimated distances.
//  5. The hit has another position because of a difference explained before it.
//
// All other differences have no reason.
func Differ(reference, got *Answers, l *Loaded) *Differences {
	d := &differ{loaded: l, out: &Differences{Against: reference.From, Explained: map[string]int{}}}
	numbers := make([]int, 0, len(reference.Hits))
	for n := range reference.Hits {
		if _, both := got.Hits[n]; both {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		want, have := reference.Hits[n], got.Hits[n]
		for i := range want {
			var list []load.Hit
			if i < len(have) {
				list = have[i]
			}
			d.query(n, want[i], list)
		}
	}
	slices.SortStableFunc(d.examples, func(a, b Difference) int {
		return cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1))
	})
	d.out.Examples = d.examples[:min(len(d.examples), maxExamples)]
	return d.out
}

// differ is the state of Differ.
type differ struct {
	loaded       *Loaded
	out          *Differences
	examples     []Difference
	unexplained  int
	inGot, inRef map[engine.Key]bool
}

// query compares the hits of a vector.
func (d *differ) query(number int, want, got []load.Hit) {
	d.out.Queries++
	d.out.Hits += len(want)
	d.inGot, d.inRef = keysOf(d.inGot, got), keysOf(d.inRef, want)
	cause := "" // reason why the hits that follow moved
	for i, w := range want {
		if d.inGot[w.Key] {
			d.out.SameSet++
		}
		if i < len(got) && got[i].Key == w.Key {
			d.out.Equal++
			if math.Float32bits(got[i].Distance) == math.Float32bits(w.Distance) {
				d.out.BitEqual++
			}
			continue
		}
		one := Difference{Query: number, Place: i, Want: w, GotNone: i >= len(got)}
		if !one.GotNone {
			one.Got = got[i]
		}
		one.Reason, cause = d.reason(&one, cause)
		if one.Reason != "" {
			d.out.Explained[one.Reason]++
		} else {
			d.unexplained++
		}
		if one.Reason == "" && d.unexplained <= maxExamples || len(d.examples) < maxExamples {
			d.examples = append(d.examples, one)
		}
	}
}

// reason returns the reason for one different hit, and the cause that moves the hits after it.
func (d *differ) reason(one *Difference, cause string) (reason, moves string) {
	if !one.GotNone && almostEqual(one.Want.Distance, one.Got.Distance) {
		return EqualDistance, cause
	}
	if !d.inGot[one.Want.Key] { // missing in got
		if why := d.missingReason(one.Want.Key); why != "" {
			return why, cmp.Or(cause, why)
		}
	}
	if !one.GotNone && !d.inRef[one.Got.Key] { // missing in the reference
		if why := d.missingReason(one.Got.Key); why != "" {
			return why, cmp.Or(cause, why)
		}
	}
	if cause == "" && (d.indexDiffers(one.Want.Key) || !one.GotNone && d.indexDiffers(one.Got.Key)) {
		return OtherIndex, OtherIndex
	}
	return cause, cause
}

// indexDiffers reports whether a key is in a segment that the cluster searches by an index and the engine row by row.
func (d *differ) indexDiffers(k engine.Key) bool {
	if d.loaded == nil {
		return false
	}
	present, part := d.loaded.Find(k)
	return present == Present && part.Info.State == Indexed && part.indexName() == ""
}

// missingReason returns the reason why one of two answers lacks a key, "" if unknown.
func (d *differ) missingReason(k engine.Key) string {
	if d.loaded == nil {
		return ""
	}
	switch present, part := d.loaded.Find(k); {
	case present == Absent:
		return NotStored
	case present == Deleted:
		return DeletedSince
	case part.indexName() != "" && part.Data.Index.Effort() != index.AllRows:
		return OtherPath
	case part.Info.State == Indexed && part.indexName() == "":
		return OtherIndex
	}
	return ""
}

// almostEqual reports whether two distances are equal, except for the last bits.
func almostEqual(a, b float32) bool {
	if a == b {
		return true
	}
	x, y := float64(a), float64(b)
	return math.Abs(x-y) <= tieTolerance*max(math.Abs(x), math.Abs(y))
}

func keysOf(m map[engine.Key]bool, hits []load.Hit) map[engine.Key]bool {
	if m == nil {
		m = map[engine.Key]bool{}
	}
	clear(m)
	for _, h := range hits {
		m[h.Key] = true
	}
	return m
}
