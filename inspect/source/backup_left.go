package source

import "fmt"

// leftOut counts the records that one pass leaves out, by reason. Each place that is put into a gapList is kept, and there
// can be as many as records: the first are put as they come, the others as a number when the pass ends.
type leftOut struct {
	gaps  *gapList
	count map[string]int64
}

func (l *leftOut) add(record int64, reason string) {
	if l.count == nil {
		l.count = map[string]int64{}
	}
	if l.count[reason]++; l.count[reason] <= maxGaps {
		l.gaps.put(Gap{Where: fmt.Sprintf("record %d", record), Reason: reason, Count: 1})
	}
}

func (l *leftOut) end() {
	for reason, n := range l.count {
		if n > maxGaps {
			l.gaps.put(Gap{Where: furtherPlaces, Reason: reason, Count: n - maxGaps})
		}
	}
}
