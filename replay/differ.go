package replay

import (
	"cmp"
	"math"
	"slices"

	"kitescope/engine"
	"kitescope/engine/index"
	"kitescope/replay/load"
)

// Why a hit differs from the reference's.
const (
	EqualDistance = "equal distance"
	NotStored     = "row not in storage"
	DeletedSince  = "deleted since"
	OtherWalk     = "different path through the graph"
	OtherIndex    = "searched row by row here, with an index there"
)

// examplesKept is how many differences are named.
const examplesKept = 20

// Differ holds answers against those of a reference, place by place, over all requests that both know. l is what the reference's or the other's rows
// are looked up in; with nil none but ties are explained.
//
// A hit that differs is explained, in this order: both hits are equally near (but for one part in a million); the key that one of them has and
// the other has not is in no segment that was loaded, or is deleted in it; the key is in a segment that is searched by a graph or
// lists, where the order of a walk decides what is found; the key is in a segment whose index cannot be searched here, so that here all its rows
// were compared and there what the index has of them, whose distances may be estimates; the hit is there at another place, moved by
// one that was explained before it. What is left has no reason.
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
	slices.SortStableFunc(d.examples, func(a, b Difference) int { return cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1)) })
	d.out.Examples = d.examples[:min(len(d.examples), examplesKept)]
	return d.out
}

// differ is a Differ under way.
type differ struct {
	loaded       *Loaded
	out          *Differences
	examples     []Difference
	unexplained  int
	inGot, inRef map[engine.Key]bool
}

// query compares the hits of one vector.
func (d *differ) query(number int, want, got []load.Hit) {
	d.out.Queries++
	d.out.Hits += len(want)
	d.inGot, d.inRef = keysOf(d.inGot, got), keysOf(d.inRef, want)
	cause := "" // of what moved the hits that follow
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
		if one.Reason == "" && d.unexplained <= examplesKept || len(d.examples) < examplesKept {
			d.examples = append(d.examples, one)
		}
	}
}

// reason explains one hit that differs, and says what moves those after it.
func (d *differ) reason(one *Difference, cause string) (reason, moves string) {
	if !one.GotNone && near(one.Want.Distance, one.Got.Distance) {
		return EqualDistance, cause
	}
	if !d.inGot[one.Want.Key] { // the other one lacks it
		if why := d.of(one.Want.Key); why != "" {
			return why, cmp.Or(cause, why)
		}
	}
	if !one.GotNone && !d.inRef[one.Got.Key] { // the reference lacks it
		if why := d.of(one.Got.Key); why != "" {
			return why, cmp.Or(cause, why)
		}
	}
	if cause == "" && (d.unlike(one.Want.Key) || !one.GotNone && d.unlike(one.Got.Key)) {
		return OtherIndex, OtherIndex
	}
	return cause, cause
}

// unlike reports whether a key is in a segment that the cluster searches by an index and the engine without.
func (d *differ) unlike(k engine.Key) bool {
	if d.loaded == nil {
		return false
	}
	present, part := d.loaded.Find(k)
	return present == Present && part.Info.State == Indexed && part.indexName() == ""
}

// of is why one of two answers lacks a key; "" if nothing is known that explains it.
func (d *differ) of(k engine.Key) string {
	if d.loaded == nil {
		return ""
	}
	switch present, part := d.loaded.Find(k); {
	case present == Absent:
		return NotStored
	case present == Deleted:
		return DeletedSince
	case part.indexName() != "" && part.Data.Index.Effort() != index.AllRows:
		return OtherWalk
	case part.Info.State == Indexed && part.indexName() == "":
		return OtherIndex
	}
	return ""
}

// near reports whether distances are equal but for the last bits.
func near(a, b float32) bool {
	if a == b {
		return true
	}
	x, y := float64(a), float64(b)
	return math.Abs(x-y) <= tieWithin*max(math.Abs(x), math.Abs(y))
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
