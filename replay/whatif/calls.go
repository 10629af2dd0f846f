package whatif

import (
	"math"
	"time"

	"kitescope/replay/simulate"
)

// calls are what a call takes apart from the rows that it searches, in nanoseconds: of a node for a task of its own and for each segment, where
// one comes alone, and what is left of that where one comes after the other, on nodes and in front of them.
type calls struct {
	task, segment, warm, frontWarm float64
	// measured says that requests which match nothing were asked; else it is assumed. searched: they were, and the server searched all the same.
	measured, searched bool
}

func assumedCalls() *calls {
	o := assumedOverheads()
	return &calls{task: float64(o.Task), segment: float64(o.Segment), warm: warm, frontWarm: warm}
}

// calls fits what requests took that search nothing: what they take alone, and how much less where they come often, are told apart by their rates. One
// layout does not tell a task from its segments: they share it in the way that is the least surprising.
func (c *Calibration) calls(d *demand, a *account) *calls {
	k := assumedCalls()
	list := c.accounts(d, c.Calls)
	if len(list) == 0 {
		return k
	}
	// Milvus calls no kernel where no row passes (ExecPlanNodeVisitor.cpp, bitset_holder.all()). One that does tells nothing of calls.
	if searched := list[0].sealed.low + list[0].growing.low; searched > max(1e6, (a.sealed.low+a.growing.low)/2) {
		k.searched = true
		return k
	}
	d.fitCalls(list, k)
	k.measured = true
	return k
}

// fitCalls replaces what is assumed by what accounts of calls say.
func (d *demand) fitCalls(list []*account, k *calls) {
	segments := 0.0
	for i := range d.nodes {
		segments += d.nodes[i].segments
	}
	cpu := func(a *account) float64 { return a.cpu }
	known, best := *k, math.Inf(1)
	for _, share := range around(known.segment/known.task, true, 1.1) {
		task, left, off := fitWarmth(list, known.warm, func(a *account, warm float64) float64 { return d.callsAt(a, warm) + share*segments }, cpu)
		off += square(math.Log(task/known.task)/taskSpread) + square(math.Log(share*task/known.segment)/segmentSpread)
		if off < best {
			best, k.task, k.segment, k.warm = off, task, share*task, left
		}
	}
	_, k.frontWarm, _ = fitWarmth(list, known.frontWarm, func(a *account, warm float64) float64 { return warmthAt(warm, a.rate) },
		func(a *account) float64 { return a.front })
}

// split finds the share that segments have of an overhead: what calls take was measured, and the rest is what segments take in which something is found: hits
// are copied out of them, reduced and sent. Of all ways to tell these apart it is the least surprising.
func (c *calls) split(overhead, tasks, segments float64) (share, surprise float64) {
	surprise = math.Inf(1)
	for by := -0.36; by < 0.37; by += 0.02 {
		hits := overhead - math.Exp(by)*(tasks+segments*c.segment)
		if hits <= 0 {
			break
		}
		x := square(by/callsSpread) + square(math.Log(hits/(segments*float64(hitsSegment)))/segmentSpread)
		if x < surprise {
			share, surprise = (hits+math.Exp(by)*segments*c.segment)/overhead, x
		}
	}
	return share, surprise
}

// hitsSegment is what a segment takes beside calls and kernels where something is found in it: 24 on one node of Milvus 2.3.5, then one (docs/evidence/replay.md).
const hitsSegment = 200 * time.Microsecond

// callsAt is what nodes do for a request at a rate apart from segments, in parts of a task (nodeDemand.calls).
func (d *demand) callsAt(a *account, warm float64) (sum float64) {
	for i := range d.nodes {
		n := &d.nodes[i]
		sum += n.calls(warmthAt(warm, (n.passed+n.leads)*a.rate))
	}
	return sum
}

// warmthAt is that of so many calls a second.
func warmthAt(warm, rate float64) float64 {
	if rate <= 0 {
		return 1
	}
	return simulate.Warmth(warm, 1/rate)
}

// fitWarmth finds by how much a shape, of what is left where one comes after the other, has to be multiplied to be what was taken, and what is left: by
// least squares of logarithms. warm is what is left if all came at one rate, and has the weight of one measurement. off is how surprising that is.
func fitWarmth(list []*account, warm float64, shape func(a *account, warm float64) float64, taken func(a *account) float64) (each, left, best float64) {
	best = math.Inf(1)
	for w := 0.02; w <= 1; w += 0.02 {
		mean, n := 0.0, 0.0
		for _, a := range list {
			if x, y := shape(a, w), taken(a); x > 0 && y > 0 {
				mean, n = mean+math.Log(y/x), n+1
			}
		}
		if n == 0 {
			return 0, warm, best
		}
		mean /= n
		off := square(math.Log(w/warm) / warmSpread)
		for _, a := range list {
			if x, y := shape(a, w), taken(a); x > 0 && y > 0 {
				off += square((math.Log(y/x) - mean) / pointSpread)
			}
		}
		if off < best {
			best, each, left = off, math.Exp(mean), w
		}
	}
	return each, left, best
}

// How far off, by what power of e, what is left is before it was measured, and one measurement.
const (
	warmSpread  = 1.0
	pointSpread = 0.1
)
