package source

import (
	"errors"
	"slices"
	"strconv"
	"sync"
)

// gapList collects unreadable parts. It counts further gaps with the same reason together, so that the report
// of a badly damaged file stays short. A gap that another pass over the file finds again is the same gap.
type gapList struct {
	mu   sync.Mutex
	gaps []Gap
	// counted holds the gaps that are only part of a count.
	counted map[place]bool
}

// place identifies a gap.
type place struct{ where, reason string }

// maxGaps is the maximum number of gaps listed individually for each reason.
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
			// An earlier pass may have ended before it counted all of this gap.
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

// RecordingGap is the Where of unreadable parts of a process recording, which is not metadata.
const RecordingGap = "a recording"

// furtherPlaces is the Where of gaps that are only counted.
const furtherPlaces = "further places"

func (l *gapList) list() []Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.gaps)
}
