package log

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// setTimes sets the times of requests since the first one and sorts them by arrival, because an access log is
// written when requests end. If any time is absolute, it ignores relative times. It returns notes about anomalies.
func (l *Log) setTimes(list []moment) (notes []string) {
	absolute := slices.ContainsFunc(list, func(m moment) bool { return m.absolute })
	first, untimed := int64(math.MaxInt64), 0
	for _, m := range list {
		if m.known && m.absolute == absolute {
			first = min(first, m.at)
		} else {
			untimed++
		}
	}
	if untimed == len(list) {
		return nil
	}
	if absolute {
		l.Start = time.Unix(0, first).UTC()
	}
	for i, m := range list {
		if r := &l.Requests[i]; m.known && m.absolute == absolute {
			r.Timed, r.At = true, time.Duration(m.at-first)
		}
	}
	if untimed > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d requests have no time", untimed, len(l.Requests)))
	}
	if moved := l.sortByTime(); moved > 0 {
		notes = append(notes, fmt.Sprintf("%d requests were out of time order: sorted", moved))
	}
	return notes
}

// sortByTime sorts requests by their times, and returns the number of requests that are earlier than a request
// before them in the log. Requests without a time stay behind their predecessor.
func (l *Log) sortByTime() (moved int) {
	type keyed struct {
		at      time.Duration
		request Request
	}
	list := make([]keyed, len(l.Requests))
	at, last := time.Duration(0), time.Duration(0)
	for i, r := range l.Requests {
		if r.Timed {
			if at = r.At; at < last {
				moved++
			}
			last = max(last, at)
		}
		list[i] = keyed{at, r}
	}
	if moved == 0 {
		return 0
	}
	slices.SortStableFunc(list, func(a, b keyed) int { return cmp.Compare(a.at, b.at) })
	for i := range list {
		l.Requests[i] = list[i].request
	}
	return moved
}

// Shuffle returns a log with the same vectors and truth, but with its requests in a random order drawn from seed.
// The times of arrival stay in place: a different request starts at each time. The digest is unchanged; a note has
// the seed.
func (l *Log) Shuffle(seed uint64) *Log {
	out := *l
	out.Requests = slices.Clone(l.Requests)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(out.Requests), func(x, y int) {
		out.Requests[x], out.Requests[y] = out.Requests[y], out.Requests[x]
	})
	for i := range out.Requests {
		out.Requests[i].At, out.Requests[i].Timed = l.Requests[i].At, l.Requests[i].Timed
	}
	out.Notes = append(slices.Clone(l.Notes), fmt.Sprintf("the requests were shuffled, with seed %d", seed))
	return &out
}
