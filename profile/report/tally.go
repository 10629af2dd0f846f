package report

import (
	"math"
)

// entrySums holds the sums of an entry.
type entrySums struct {
	flat, cum             int64
	flatEvents, cumEvents float64
	// last is the number of the last counted sample, plus 1. It ensures that a function counts once per
	// stack, even if it is on the stack several times.
	last uint32
}

// tally returns the sums by id of the samples that pick selects, or of all samples if pick is nil. An empty
// stack does not count for any frame.
func (v *view) tally(pick func(i int) bool) []entrySums {
	t := make([]entrySums, len(v.group.names))
	frames, own := v.group.frames, v.group.sampleIDs
	for i := range v.p.Len() {
		if pick != nil && !pick(i) {
			continue
		}
		value := v.value(i)
		if value == 0 {
			continue
		}
		events := 0.0
		if v.known {
			events = v.events(i)
		}
		stamp := uint32(i) + 1
		stack := v.p.Stack(i)
		leaf := uint32(math.MaxUint32)
		if own != nil {
			leaf = own[i]
			t[leaf].addCum(stamp, value, events)
		} else if len(stack) > 0 {
			leaf = frames.IDs(stack[0])[0]
		}
		if frames != nil {
			for _, location := range stack {
				for _, id := range frames.IDs(location) {
					t[id].addCum(stamp, value, events)
				}
			}
		}
		if leaf != math.MaxUint32 {
			s := &t[leaf]
			s.flat += value
			s.flatEvents += events
		}
	}
	return t
}

func (s *entrySums) addCum(stamp uint32, value int64, events float64) {
	if s.last != stamp {
		s.last = stamp
		s.cum += value
		s.cumEvents += events
	}
}

// value returns the value of sample i.
func (v *view) value(i int) int64 { return v.p.Value(i, v.kind) }

// entry returns the Entry of an id.
func (v *view) entry(id uint32, s *entrySums) Entry {
	e := Entry{
		Function: v.group.names[id], File: v.group.files[id], Class: v.group.classes[id],
		Flat: s.flat, Cum: s.cum, FlatSamples: -1, CumSamples: -1,
	}
	if v.known {
		e.FlatSamples, e.CumSamples = int64(math.Round(s.flatEvents)), int64(math.Round(s.cumEvents))
	}
	return e
}
