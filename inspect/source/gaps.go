package source

import (
	"errors"
	"slices"
	"strconv"
	"sync"
)

// gapList collects what could not be read. Many gaps of one reason are counted
// together, so that a file that is damaged all over still gives a short report. A
// gap that is found again, by another pass over the file, is the same gap.
type gapList struct {
	mu   sync.Mutex
	gaps []Gap
	// counted are the gaps that are part of a count only.
	counted map[place]bool
}

// place identifies a gap.
type place struct{ where, reason string }

// maxGaps is how many gaps are named one by one for each reason.
const maxGaps = 20

func (l *gapList) add(err error) {
	gap := Gap{Where: "file", Reason: err.Error()}
	if page, ok := errors.AsType[*pageError](err); ok {
		gap.Where, gap.Reason = "page "+strconv.FormatUint(page.id, 10), page.why
	}
	l.put(gap)
}

func (l *gapList) put(gap Gap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same, further := 0, -1
	for i := range l.gaps {
		g := &l.gaps[i]
		if g.Reason != gap.Reason {
			continue
		}
		if g.Where == gap.Where {
			// An earlier pass may have ended before it had seen all of it.
			g.Count = max(g.Count, gap.Count)
			return
		}
		if same++; g.Where == furtherPlaces {
			further = i
		}
	}
	at := place{gap.Where, gap.Reason}
	switch {
	case same < maxGaps:
		l.gaps = append(l.gaps, gap)
		return
	case l.counted[at]:
		return
	case further < 0:
		further = len(l.gaps)
		l.gaps = append(l.gaps, Gap{Where: furtherPlaces, Reason: gap.Reason, Unrecorded: gap.Unrecorded})
	}
	if l.counted == nil {
		l.counted = make(map[place]bool)
	}
	l.counted[at] = true
	l.gaps[further].Count += max(1, gap.Count)
}

// RecordingGap is the Where of what could not be read of a recording of processes, which is no metadata.
const RecordingGap = "a recording"

// furtherPlaces is the Where of gaps that are only counted.
const furtherPlaces = "further places"

func (l *gapList) list() []Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.gaps)
}
