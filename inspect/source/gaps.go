package source

import (
	"errors"
	"slices"
	"strconv"
	"sync"
)

// gapList collects what could not be read. Many gaps of one reason are counted
// together, so that a file that is damaged all over still gives a short report.
type gapList struct {
	mu   sync.Mutex
	gaps []Gap
}

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
	if slices.ContainsFunc(l.gaps, func(g Gap) bool { return g.Where == gap.Where && g.Reason == gap.Reason }) {
		return
	}
	same := 0
	for _, g := range l.gaps {
		if g.Reason == gap.Reason {
			same++
		}
	}
	if same < maxGaps {
		l.gaps = append(l.gaps, gap)
		return
	}
	for i := range l.gaps {
		if l.gaps[i].Reason == gap.Reason && l.gaps[i].Where == furtherPlaces {
			l.gaps[i].Count += max(1, gap.Count)
			return
		}
	}
	l.gaps = append(l.gaps, Gap{Where: furtherPlaces, Reason: gap.Reason, Count: max(1, gap.Count)})
}

// furtherPlaces is the Where of gaps that are only counted.
const furtherPlaces = "further places"

func (l *gapList) list() []Gap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.gaps)
}
