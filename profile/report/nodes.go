package report

import (
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/profile"
	"kitescope/profile/significance"
)

// Load is the load of a process relative to the other processes of its role.
type Load uint8

// The loads.
const (
	// LoadUnknown: the process is the only one, or the duration of a profile is unknown.
	LoadUnknown Load = iota
	// LoadEven: between a third and three times the mean of the other processes, or not significantly outside.
	LoadEven
	// LoadLow: less than a third of the mean of the other processes.
	LoadLow
	// LoadIdle: less than a tenth of the mean of the other processes.
	LoadIdle
	// LoadHigh: more than three times the mean of the other processes.
	LoadHigh
)

var loadNames = [...]string{"unknown", "even", "low", "idle", "high"}

func (l Load) String() string { return loadNames[l] }

// NodeShares describes the CPU usage of a process.
type NodeShares struct {
	Header
	// Node is the Origin.Node of the profile.
	Node string
	// Cores is the CPU time per wall-clock time, NaN if the duration is unknown. Others is the mean of Cores
	// over the other processes of its role.
	Cores, Others float64
	Load          Load
	// GC is garbage collection. LockWait is time in the slow paths of locks, for goroutines and for threads.
	GC, LockWait Part
	// BruteForce is search by comparing queries with every row.
	BruteForce BruteForce
}

// Part is a fraction of a node's samples.
type Part struct {
	// Events is -1, and Part, Low and High are NaN, if unknown. Low and High are a ShareInterval.
	Events          int64
	Part, Low, High float64
}

// NewNodes compares the CPU profiles of several processes within each role (Origin.Role): how busy each is, and
// how much of its time goes to certain kinds of work. The result is in the order of the profiles. It covers the
// sampled time only: one window cannot show whether a difference lasts. NewNodes returns an error if a profile
// has no type "cpu".
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

// RoleOf returns the role at the start of a node's name, e.g. "querynode" for "querynode-7" and "querynode2".
func RoleOf(node string) string {
	return strings.TrimRight(strings.TrimRight(node, "0123456789"), "-_. ")
}

// cores returns the CPU time of all samples divided by the sampled time, NaN if either is unknown.
func (h *Header) cores() float64 {
	unit, ok := map[string]time.Duration{
		"nanoseconds": 1, "microseconds": time.Microsecond, "milliseconds": time.Millisecond, "seconds": time.Second,
	}[h.Type.Unit]
	if !ok || h.Duration <= 0 {
		return math.NaN()
	}
	return float64(h.Total) * float64(unit) / float64(h.Duration)
}

// Bounds of Load, relative to the mean of the other processes. A process can be low or idle only if the others
// use at least busyMean cores on average. Otherwise all processes are idle.
const (
	idlePart  = 0.1
	lowPart   = 1.0 / 3
	highTimes = 3
	busyMean  = 0.1
)

// judgeLoads sets the loads of processes with the same role.
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

// tally is a sum of values and of events.
type tally struct {
	value  int64
	events float64
}

func (t *tally) add(value int64, events float64) {
	t.value, t.events = t.value+value, t.events+events
}

// part returns t as a Part of all samples of a node.
func (h *Header) part(t tally) Part {
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

// Flags of a frame: the categories that its samples count for.
const (
	flagGC uint8 = 1 << iota
	flagLocks
	flagLock2
	flagBrute
	flagIVF
)

// counter sums up the samples of a process.
type counter struct {
	p      *profile.Profile
	frames *profile.Frames
	flags  []uint8 // by frame name
	// knowhere, openMP and named are indexed by location: in libknowhere, in libgomp, with a function name.
	knowhere, openMP, named []bool

	gc, locks, search, searchNamed, searchOpenMP, brute tally
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
	c := &counter{
		p: p, frames: p.Frames(profile.ByFunction), knowhere: make([]bool, n), openMP: make([]bool, n),
		named: make([]bool, n),
	}
	c.flags = make([]uint8, len(c.frames.Names))
	for i, name := range c.frames.Names {
		if c.frames.Classes[i] == profile.GC {
			c.flags[i] |= flagGC
		}
		switch {
		case name == "runtime.lock2":
			c.flags[i] |= flagLock2
		case ivfRx().MatchString(name):
			c.flags[i] |= flagIVF
		case bruteRx().MatchString(name):
			c.flags[i] |= flagBrute
		case lockRx().MatchString(name):
			c.flags[i] |= flagLocks
		}
	}
	for i := range n {
		m := p.MappingOf(uint32(i))
		if m == nil {
			continue
		}
		c.knowhere[i], c.openMP[i] = inLibrary(m.File, knowhereLib), inLibrary(m.File, openMPLib)
		for _, id := range c.frames.IDs(uint32(i)) {
			c.named[i] = c.named[i] || !isBracketed(c.frames.Names[id])
		}
	}
	return c
}

// isBracketed reports whether a name is a file name in brackets, e.g. "[libknowhere.so]", which stands for an
// unknown function.
func isBracketed(name string) bool { return len(name) > 1 && name[0] == '[' }

// add adds one sample.
func (c *counter) add(stack []uint32, value int64, events float64) {
	var about uint8
	var knowhere, named, openMP, calledOpenMP, below bool
	for _, l := range stack { // from the leaf towards its callers
		for _, id := range c.frames.IDs(l) {
			a := c.flags[id]
			if a&flagLock2 != 0 && below { // lock2 waits only if it has called a function
				a |= flagLocks
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
		to     *tally
	}{
		{about&flagGC != 0, &c.gc},
		{about&flagLocks != 0, &c.locks},
		{knowhere, &c.search},
		{knowhere && named, &c.searchNamed},
		{knowhere && calledOpenMP, &c.searchOpenMP},
		{about&flagBrute != 0 && about&flagIVF == 0, &c.brute},
	} {
		if x.counts {
			x.to.add(value, events)
		}
	}
}

// minNamed is the fraction of libknowhere's samples that must have a function name for the brute force share
// to be known.
const minNamed = 0.9

func (c *counter) bruteForce(h *Header) BruteForce {
	f := BruteForce{Part: h.part(c.brute), Exhaustive: h.part(c.searchOpenMP), Knowhere: h.part(c.search)}
	nothing := c.search.value == 0 && c.brute.value == 0
	mapped := slices.ContainsFunc(c.p.Mappings, func(m profile.Mapping) bool { return inLibrary(m.File, knowhereLib) })
	switch {
	case h.Total == 0:
		f.Reason = "it has no samples"
	case nothing && !mapped:
		f.Reason = "no sample is in libknowhere, and the profile does not record whether it is loaded"
	case c.search.value > 0 && float64(c.searchNamed.value) < minNamed*float64(c.search.value):
		f.Reason = "libknowhere has no symbols: brute force and IVF cannot be told apart"
	default:
		f.Known = true
		return f
	}
	f.Part = Part{Events: -1, Part: math.NaN(), Low: math.NaN(), High: math.NaN()}
	return f
}
