package report

import (
	"cmp"
	"math"
	"slices"

	"kitescope/profile"
)

// Kinds of what is compared between nodes.
const (
	ofClass    = "class"
	ofActivity = "activity"
	ofFunction = "function"
)

// openMPWork is the name of BruteForce.Exhaustive among activities.
const openMPWork = "search through OpenMP"

// counter goes through the samples of one process once.
type counter struct {
	p      *profile.Profile
	kind   int
	events func(i int) float64
	frames *profile.Frames
	spent  *profile.Spent
	// about is, by name of frame, a bit for each activity that it tells of; then those of search.
	about []uint32
	locks uint32 // the bit of waiting for locks
	named []bool // by name
	cum   []events
	last  []int // the sample that was added to cum last, plus 1
	sums  []events
	class map[string]events
}

// Bits beyond those of activities.
const (
	isBrute uint32 = 1 << (31 - iota)
	isIVF
	isLock2
)

// count fills in what the samples of p are spent on.
func (x *process) count(p *profile.Profile, kind int) {
	c := newCounter(p, kind)
	brute := newBruteCounter(p, c)
	for i := range p.Len() {
		stack := p.Stack(i)
		if len(stack) == 0 {
			continue
		}
		e := events{p.Value(i, kind), c.events(i)}
		bits := c.sample(i, stack, e)
		brute.sample(stack, bits, e)
	}
	for name, e := range c.class {
		x.Classes = append(x.Classes, x.part(name, e))
		x.items[item{ofClass, name}] = e
	}
	slices.SortFunc(x.Classes, func(a, b Part) int {
		return cmp.Or(-cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	for i, a := range activities {
		x.Activities = append(x.Activities, x.part(a.Name, c.sums[i]))
		x.items[item{ofActivity, a.Name}] = c.sums[i]
	}
	for id, e := range c.cum {
		if e != (events{}) {
			x.items[item{ofFunction, c.frames.Names[id]}] = e
		}
	}
	x.BruteForce = brute.result(&x.Header)
	x.items[item{ofActivity, openMPWork}] = brute.openMP
	if x.BruteForce.Known {
		x.items[item{ofActivity, bruteForceWork}] = brute.brute
	}
}

func newCounter(p *profile.Profile, kind int) *counter {
	c := &counter{p: p, kind: kind, frames: p.Frames(profile.ByFunction), spent: p.Spent(), class: make(map[string]events)}
	c.events, _ = p.Events(kind)
	list := activities
	c.locks = 1 << slices.IndexFunc(list, func(a Activity) bool { return a.rx == lockRx })
	c.about, c.named = make([]uint32, len(c.frames.Names)), make([]bool, len(c.frames.Names))
	c.cum, c.last, c.sums = make([]events, len(c.frames.Names)), make([]int, len(c.frames.Names)), make([]events, len(list))
	for i, name := range c.frames.Names {
		c.named[i] = !isBracketed(name)
		for j, a := range list {
			if a.rx == nil && c.frames.Classes[i] == profile.GC || a.rx != nil && a.rx.MatchString(name) {
				c.about[i] |= 1 << j
			}
		}
		switch {
		case name == "runtime.lock2":
			c.about[i] |= isLock2
		case ivfRx.MatchString(name):
			c.about[i] |= isIVF
		case bruteRx.MatchString(name):
			c.about[i] |= isBrute
		}
	}
	return c
}

// isBracketed reports whether a name stands for a whole file, "[libknowhere.so]", as no function is known.
func isBracketed(name string) bool { return len(name) > 1 && name[0] == '[' }

// sample adds one sample, and tells the bits of its frames.
func (c *counter) sample(i int, stack []uint32, e events) uint32 {
	kind := c.spent.Kind(i).String()
	c.class[kind] = c.class[kind].plus(e)
	var bits uint32
	first := true
	for _, l := range stack {
		for _, id := range c.frames.Of(l) {
			about := c.about[id]
			// A lock of the runtime is waited for if lock2 has called something. That is a frame above, further in.
			if about&isLock2 != 0 && !first {
				about |= c.locks
			}
			bits |= about
			first = false
			if c.last[id] != i+1 {
				c.last[id] = i + 1
				c.cum[id] = c.cum[id].plus(e)
			}
		}
	}
	for j := range c.sums {
		if bits&(1<<j) != 0 {
			c.sums[j] = c.sums[j].plus(e)
		}
	}
	return bits
}

func (e events) plus(x events) events { return events{e.value + x.value, e.count + x.count} }

// bruteForceWork is the name of BruteForce among what is compared.
const bruteForceWork = "brute force"

// bruteCounter adds up what BruteForce tells.
type bruteCounter struct {
	c *counter
	// ours and openMP are of locations: in libknowhere, in libgomp.
	ours, gomp, withName      []bool
	all, named, brute, openMP events
}

func newBruteCounter(p *profile.Profile, c *counter) *bruteCounter {
	n := len(p.Locations)
	b := &bruteCounter{c: c, ours: make([]bool, n), gomp: make([]bool, n), withName: make([]bool, n)}
	for i := range n {
		m := p.MappingOf(uint32(i))
		if m == nil {
			continue
		}
		b.ours[i], b.gomp[i] = inLibrary(m.File, knowhereLib), inLibrary(m.File, openMPLib)
		for _, id := range c.frames.Of(uint32(i)) {
			b.withName[i] = b.withName[i] || c.named[id]
		}
	}
	return b
}

func (b *bruteCounter) sample(stack []uint32, bits uint32, e events) {
	ours, named, omp := false, false, false
	gomp := false
	for _, l := range stack { // from the leaf towards its callers
		switch {
		case b.ours[l]:
			ours = true
			named = named || b.withName[l]
			omp = omp || gomp
		case b.gomp[l]:
			gomp = true
		}
	}
	if ours {
		b.all = b.all.plus(e)
		if named {
			b.named = b.named.plus(e)
		}
		if omp {
			b.openMP = b.openMP.plus(e)
		}
	}
	if bits&isBrute != 0 && bits&isIVF == 0 {
		b.brute = b.brute.plus(e)
	}
}

// mostNamed is the part of libknowhere's samples that has to have names for a share of brute force to be said.
const mostNamed = 0.9

func (b *bruteCounter) result(h *Header) BruteForce {
	f := BruteForce{
		Part: h.part(bruteForceWork, b.brute), Exhaustive: h.part(openMPWork, b.openMP),
		Knowhere: h.part(knowhereLib, b.all), Named: math.NaN(),
	}
	mapped := slices.ContainsFunc(b.c.p.Mappings, func(m profile.Mapping) bool { return inLibrary(m.File, knowhereLib) })
	if b.all.value > 0 {
		f.Named = float64(b.named.value) / float64(b.all.value)
	}
	switch {
	case h.Total == 0:
		f.Why = "it has no samples"
	case b.all.value == 0 && b.brute.value == 0 && mapped:
		f.Known = true // nothing at all was searched
	case b.all.value == 0 && b.brute.value == 0:
		f.Why = "no sample is in libknowhere, and the profile does not record whether it is loaded"
	case f.Named < mostNamed:
		f.Why = "libknowhere has no symbols: brute force and IVF cannot be told apart"
	default:
		f.Known = true
	}
	if !f.Known {
		f.Part = Part{Name: bruteForceWork, Events: -1, Part: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	return f
}
