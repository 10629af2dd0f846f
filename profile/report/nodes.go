package report

import (
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/profile"
	"kitescope/profile/significance"
)

// Load is how busy a process is, compared with the others of its role.
type Load uint8

// The loads.
const (
	// LoadUnknown: there is no other process, or the length of a profile is unknown.
	LoadUnknown Load = iota
	// LoadEven: no less than a third of what the others use, and no more than three times.
	LoadEven
	// LoadLow: less than a third.
	LoadLow
	// LoadIdle: less than a tenth.
	LoadIdle
	// LoadHigh: more than three times.
	LoadHigh
)

var loadNames = [...]string{"unknown", "even", "low", "idle", "high"}

func (l Load) String() string { return loadNames[l] }

// NodeShares is the use of CPU time by one process.
type NodeShares struct {
	Header
	// Node is the Origin.Node of the profile.
	Node string
	// Cores is the processor time per time, NaN if the duration is unknown. Others are the mean cores of the others of its role.
	Cores, Others float64
	Load          Load
	// GC is garbage collection; LockWait are the slow paths of locks, of goroutines and of threads.
	GC, LockWait Part
	// BruteForce is search by comparing with every row.
	BruteForce BruteForce
}

// Part is a part of a node's samples.
type Part struct {
	// Events are -1, and Part, Low, High NaN, where they are unknown. Low and High are a ShareInterval.
	Events          int64
	Part, Low, High float64
}

// NewNodes compares CPU profiles of several processes within each role, Origin.Role: how busy each is, and some of what it does.
// The result is in the order of the profiles. Only the sampled time is compared: whether a difference lasts, one window cannot show.
func NewNodes(ps []*profile.Profile) ([]*NodeShares, error) {
	all := make([]*NodeShares, len(ps))
	byRole := map[string][]*NodeShares{}
	for i, p := range ps {
		kind, err := p.KindOf("cpu")
		if err != nil {
			return nil, err
		}
		x := &NodeShares{Header: newHeader(p, kind), Node: p.Origin.Node, Others: math.NaN()}
		x.Cores = x.cores()
		x.count(p.FoldPreempt(), kind)
		all[i] = x
		byRole[p.Origin.Role] = append(byRole[p.Origin.Role], x)
	}
	for _, list := range byRole {
		judgeLoads(list)
	}
	return all, nil
}

// RoleOf returns the role that the name of a node begins with: "querynode" of "querynode-7" and of "querynode2".
func RoleOf(node string) string {
	return strings.TrimRight(strings.TrimRight(node, "0123456789"), "-_. ")
}

// cores returns the processor time of all samples over the time that was sampled; NaN if either is unknown.
func (h *Header) cores() float64 {
	unit, ok := map[string]time.Duration{"nanoseconds": 1, "microseconds": time.Microsecond, "milliseconds": time.Millisecond, "seconds": time.Second}[h.Type.Unit]
	if !ok || h.Duration <= 0 {
		return math.NaN()
	}
	return float64(h.Total) * float64(unit) / float64(h.Duration)
}

// Bounds of Load, in parts of the mean of the others, and how many cores the others have to use on average for one to
// be called idle: below, all are.
const (
	idlePart  = 0.1
	lowPart   = 1.0 / 3
	highTimes = 3
	busyMean  = 0.1
)

// judgeLoads compares the loads of the processes of one role.
func judgeLoads(list []*NodeShares) {
	ps := make([]float64, len(list))
	for i, x := range list {
		var cores, over float64
		var events, count int64
		for j, y := range list {
			if i == j || math.IsNaN(y.Cores) || y.Samples < 0 {
				continue
			}
			cores, over, events, count = cores+y.Cores, over+y.Duration.Seconds(), events+y.Samples, count+1
		}
		ps[i] = math.NaN()
		if count > 0 && !math.IsNaN(x.Cores) {
			x.Others = cores / float64(count)
			ps[i] = significance.EqualRatesP(x.Samples, x.Duration.Seconds(), events, over)
		}
	}
	for i, p := range significance.Holm(ps) {
		x := list[i]
		switch {
		case math.IsNaN(p):
			x.Load = LoadUnknown
		case p >= defaultLevel || max(x.Cores, x.Others) < busyMean:
			x.Load = LoadEven
		case x.Cores < idlePart*x.Others && x.Others >= busyMean:
			x.Load = LoadIdle
		case x.Cores < lowPart*x.Others && x.Others >= busyMean:
			x.Load = LoadLow
		case x.Cores > highTimes*x.Others:
			x.Load = LoadHigh
		default:
			x.Load = LoadEven
		}
	}
}

// tallied is a value and a number of events.
type tallied struct {
	value  int64
	events float64
}

func (t *tallied) add(value int64, events float64) {
	t.value, t.events = t.value+value, t.events+events
}

// part returns a Part of all of a node's samples.
func (h *Header) part(t tallied) Part {
	part := Part{Events: int64(math.Round(t.events)), Part: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if h.Samples < 0 {
		part.Events = -1
	}
	if h.Total != 0 {
		part.Part = float64(t.value) / float64(h.Total)
		part.Low, part.High = significance.ShareInterval(int64(math.Round(part.Part*float64(h.Samples))), h.Samples)
	}
	return part
}

// What a frame is evidence of.
const (
	aboutGC uint8 = 1 << iota
	aboutLocks
	aboutLock2
	aboutBrute
	aboutIVF
)

// counter adds up the samples of one process.
type counter struct {
	p      *profile.Profile
	frames *profile.Frames
	about  []uint8 // by name of frame
	// knowhere, openMP and named are of locations: in libknowhere, in libgomp, with a name.
	knowhere, openMP, named []bool

	gc, locks, search, searchNamed, searchOpenMP, brute tallied
}

// count computes the shares of a profile.
func (x *NodeShares) count(p *profile.Profile, kind int) {
	c := newCounter(p)
	events, _ := p.Events(kind)
	for i := range p.Len() {
		c.add(p.Stack(i), p.Value(i, kind), events(i))
	}
	x.GC, x.LockWait, x.BruteForce = x.part(c.gc), x.part(c.locks), c.bruteForce(&x.Header)
}

func newCounter(p *profile.Profile) *counter {
	n := len(p.Locations)
	c := &counter{p: p, frames: p.Frames(profile.ByFunction), knowhere: make([]bool, n), openMP: make([]bool, n), named: make([]bool, n)}
	c.about = make([]uint8, len(c.frames.Names))
	for i, name := range c.frames.Names {
		if c.frames.Classes[i] == profile.GC {
			c.about[i] |= aboutGC
		}
		switch {
		case name == "runtime.lock2":
			c.about[i] |= aboutLock2
		case ivfRx().MatchString(name):
			c.about[i] |= aboutIVF
		case bruteRx().MatchString(name):
			c.about[i] |= aboutBrute
		case lockRx().MatchString(name):
			c.about[i] |= aboutLocks
		}
	}
	for i := range n {
		m := p.MappingOf(uint32(i))
		if m == nil {
			continue
		}
		c.knowhere[i], c.openMP[i] = inLibrary(m.File, knowhereLib), inLibrary(m.File, openMPLib)
		for _, id := range c.frames.Of(uint32(i)) {
			c.named[i] = c.named[i] || !isBracketed(c.frames.Names[id])
		}
	}
	return c
}

// isBracketed reports whether a name is that of a whole file, "[libknowhere.so]", because the function is unknown.
func isBracketed(name string) bool { return len(name) > 1 && name[0] == '[' }

// add adds one sample.
func (c *counter) add(stack []uint32, value int64, events float64) {
	var about uint8
	var knowhere, named, openMP, calledOpenMP, below bool
	for _, l := range stack { // from the leaf towards its callers
		for _, id := range c.frames.Of(l) {
			a := c.about[id]
			if a&aboutLock2 != 0 && below { // lock2 that called something waits
				a |= aboutLocks
			}
			about |= a
			below = true
		}
		switch {
		case c.knowhere[l]:
			knowhere = true
			named = named || c.named[l]
			calledOpenMP = calledOpenMP || openMP
		case c.openMP[l]:
			openMP = true
		}
	}
	for _, x := range []struct {
		counts bool
		to     *tallied
	}{
		{about&aboutGC != 0, &c.gc},
		{about&aboutLocks != 0, &c.locks},
		{knowhere, &c.search},
		{knowhere && named, &c.searchNamed},
		{knowhere && calledOpenMP, &c.searchOpenMP},
		{about&aboutBrute != 0 && about&aboutIVF == 0, &c.brute},
	} {
		if x.counts {
			x.to.add(value, events)
		}
	}
}

// mostNamed is the part of libknowhere's samples that must have names for a share of brute force to be known.
const mostNamed = 0.9

func (c *counter) bruteForce(h *Header) BruteForce {
	f := BruteForce{Part: h.part(c.brute), Exhaustive: h.part(c.searchOpenMP), Knowhere: h.part(c.search)}
	nothing := c.search.value == 0 && c.brute.value == 0
	mapped := slices.ContainsFunc(c.p.Mappings, func(m profile.Mapping) bool { return inLibrary(m.File, knowhereLib) })
	switch {
	case h.Total == 0:
		f.Why = "it has no samples"
	case nothing && !mapped:
		f.Why = "no sample is in libknowhere, and the profile does not record whether it is loaded"
	case c.search.value > 0 && float64(c.searchNamed.value) < mostNamed*float64(c.search.value):
		f.Why = "libknowhere has no symbols: brute force and IVF cannot be told apart"
	default:
		f.Known = true
		return f
	}
	f.Part = Part{Events: -1, Part: math.NaN(), Low: math.NaN(), High: math.NaN()}
	return f
}
