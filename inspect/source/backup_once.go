package source

import (
	"bytes"
	"fmt"
)

// onceKeys tells which keys of a pass came before. While each is larger than the one before, as birdwatcher and etcd
// write them, that is a list; the set is made when one is not.
type onceKeys struct {
	hasher keyHasher
	last   []byte
	sorted []keyHash
	seen   *seenKeys
}

// add reports whether a key is new.
func (o *onceKeys) add(key []byte) bool {
	sum := o.hasher.sum(key)
	if o.seen == nil {
		if len(o.sorted) == 0 || bytes.Compare(key, o.last) > 0 {
			o.last, o.sorted = append(o.last[:0], key...), append(o.sorted, sum)
			return true
		}
		o.seen = new(seenKeys)
		for _, h := range o.sorted {
			o.seen.add(h)
		}
		o.sorted = nil
	}
	return o.seen.add(sum)
}

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
