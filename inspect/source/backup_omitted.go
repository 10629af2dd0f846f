package source

import "fmt"

// omittedCounter counts the records that one pass omits, by reason. A gapList keeps each place that is put into it,
// and there can be as many places as records. Therefore the first maxGaps records are put individually and the
// others as a number at the end of the pass.
type omittedCounter struct {
	gaps  *gapList
	count map[string]int64
}

func (l *omittedCounter) add(record int64, reason string) {
	if l.count == nil {
		l.count = map[string]int64{}
	}
	if l.count[reason]++; l.count[reason] <= maxGaps {
		l.gaps.put(Gap{Where: fmt.Sprintf("record %d", record), Reason: reason, Count: 1})
	}
}

func (l *omittedCounter) end() {
	for reason, n := range l.count {
		if n > maxGaps {
			l.gaps.put(Gap{Where: furtherPlaces, Reason: reason, Count: n - maxGaps})
		}
	}
}
