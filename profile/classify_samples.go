package profile

import "slices"

// SampleKinds assigns one Kind to each sample.
type SampleKinds struct {
	// Kinds holds the distinct kinds in the order of their first sample.
	Kinds []Kind
	// Index holds an index in Kinds for each sample.
	Index []uint32
}

// Kind returns the kind of sample i.
func (s *SampleKinds) Kind(i int) Kind { return s.Kinds[s.Index[i]] }

// SampleKinds returns the kind of each sample. It is the leaf's kind, with three rules:
//
//   - A sample with garbage collection anywhere on its stack is GC, because the callees of gcBgMarkWorker,
//     gcAssistAlloc or bgsweep work for the collector.
//   - A system call in which a thread goes to sleep (called by runtime.notesleep, runtime.netpoll and the
//     like) is Idle. So is any sample of the kernel's idle loop.
//   - Assembly and C library functions, which work for their callers, keep their own kind.
//
// Callers are not required: a stack of a native thread pool, without a Go frame or runtime.cgocall, counts
// for its library like any other.
func (p *Profile) SampleKinds() *SampleKinds {
	s := &sampleClassifier{p: p, SampleKinds: &SampleKinds{Index: make([]uint32, p.Len())}, ids: map[Kind]uint32{}}
	s.scan()
	leaf, unknown := make([]uint32, len(s.leaf)), s.id(Kind{})
	for i, k := range s.leaf {
		leaf[i] = s.id(k)
	}
	idle, collector := s.id(Kind{Class: Idle}), s.id(Kind{Class: GC})
	for i := range s.Index {
		stack := p.Stack(i)
		switch {
		case len(stack) == 0:
			s.Index[i] = unknown
		case s.anyCollector && s.has(stack, inCollector):
			s.Index[i] = collector
		case s.sleeps(i, stack):
			s.Index[i] = idle
		default:
			s.Index[i] = leaf[stack[0]]
		}
	}
	s.compact()
	return s.SampleKinds
}

// Flags of a location, set if any of its lines has the class GC or Idle.
const (
	inCollector = 1 << iota
	inSleep
)

type sampleClassifier struct {
	*SampleKinds
	p            *Profile
	leaf         []Kind
	flags        []uint8
	anyCollector bool
	swapper      []bool // by label set: the sample is of the kernel's idle thread
	ids          map[Kind]uint32
}

// scan classifies all lines of all locations.
func (s *sampleClassifier) scan() {
	c := newClassifier(s.p)
	s.leaf, s.flags = make([]Kind, len(s.p.Locations)), make([]uint8, len(s.p.Locations))
	for i := range s.leaf {
		location := uint32(i)
		lines := s.p.LinesOf(location)
		if len(lines) == 0 {
			s.leaf[i] = c.kindOf(location, Line{Function: noFunction})
		}
		for j, line := range lines {
			kind := c.kindOf(location, line)
			if j == 0 {
				s.leaf[i] = kind
			}
			if kind.Class == GC {
				s.flags[i] |= inCollector
				s.anyCollector = true
			}
			if kind.Class == Idle {
				s.flags[i] |= inSleep
			}
		}
	}
	s.swapper = make([]bool, len(s.p.LabelSets))
	for i, set := range s.p.LabelSets {
		for _, l := range set {
			s.swapper[i] = s.swapper[i] || l.Key == CommandLabel && l.Str == "swapper"
		}
	}
}

func (s *sampleClassifier) has(stack []uint32, flag uint8) bool {
	return slices.ContainsFunc(stack, func(l uint32) bool { return s.flags[l]&flag != 0 })
}

// sleepDepth is how many frames of a system call's stack, from the leaf, are searched for a function that
// sleeps. It covers the path from the instruction to runtime.notesleep or runtime.netpoll.
const sleepDepth = 4

func (s *sampleClassifier) sleeps(i int, stack []uint32) bool {
	if s.p.LabelOf != nil && s.swapper[s.p.LabelOf[i]] {
		return true
	}
	switch s.leaf[stack[0]].Class {
	case Syscall:
		return s.has(stack[:min(len(stack), sleepDepth)], inSleep)
	case Kernel:
		return s.has(stack, inSleep) && s.kernelSleeps(stack)
	default:
		return false
	}
}

// kernelSleeps reports whether the idle function is a frame of the kernel rather than of the program above
// it.
func (s *sampleClassifier) kernelSleeps(stack []uint32) bool {
	for _, l := range stack {
		switch {
		case s.leaf[l].Class == Idle:
			m := s.p.MappingOf(l)
			return m == nil || objectOf(m.File).kind.Class == Kernel
		case s.leaf[l].Class != Kernel:
			return false
		}
	}
	return false
}

func (s *sampleClassifier) id(k Kind) uint32 {
	i, ok := s.ids[k]
	if !ok {
		i = uint32(len(s.Kinds))
		s.Kinds = append(s.Kinds, k)
		s.ids[k] = i
	}
	return i
}

// compact removes kinds without samples.
func (s *sampleClassifier) compact() {
	const unseen = ^uint32(0)
	renamed := make([]uint32, len(s.Kinds))
	for i := range renamed {
		renamed[i] = unseen
	}
	var kinds []Kind
	for i, k := range s.Index {
		if renamed[k] == unseen {
			renamed[k] = uint32(len(kinds))
			kinds = append(kinds, s.Kinds[k])
		}
		s.Index[i] = renamed[k]
	}
	s.Kinds = kinds
}
