package log

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// timeMark tells what Request.At holds until setTimes: nothing, a time since some beginning, or nanoseconds since 1970. It
// takes a byte where a moment for each request would take a quarter of what the request takes.
type timeMark uint8

const (
	unmarked timeMark = iota
	markRelative
	markAbsolute
)

// mark puts a moment into a request, for setTimes.
func (r *Request) mark(m moment) timeMark {
	switch r.At = time.Duration(m.at); {
	case !m.known:
		return unmarked
	case m.absolute:
		return markAbsolute
	default:
		return markRelative
	}
}

// setTimes gives the requests their times since the first, and puts them in the order of their arrival: an access log is
// written when requests end. It returns what was odd.
func (l *Log) setTimes(marks []timeMark) (notes []string) {
	var count [3]int
	for _, m := range marks {
		count[m]++
	}
	want := markRelative
	if count[markAbsolute] > 0 {
		want = markAbsolute
	}
	if want == markAbsolute && count[markRelative] > 0 {
		notes = append(notes, fmt.Sprintf("%d requests have a relative time, %d a time of day: treating the relative ones as unknown",
			count[markRelative], count[markAbsolute]))
	}
	first := time.Duration(math.MaxInt64)
	for i, m := range marks {
		if m == want {
			first = min(first, l.Requests[i].At)
		}
	}
	if count[want] == 0 {
		return notes
	}
	if want == markAbsolute {
		l.Start = time.Unix(0, int64(first)).UTC()
	}
	untimed := 0
	for i := range l.Requests {
		r := &l.Requests[i]
		if r.Timed = marks[i] == want; r.Timed {
			r.At -= first
		} else {
			r.At = 0
			untimed++
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

// sortByTime puts requests in the order of their times, and returns how many came before one that they are later than.
// Those without a time stay behind the one that they follow.
func (l *Log) sortByTime() (moved int) {
	at := time.Duration(0)
	sorted := true
	last := time.Duration(0)
	for i := range l.Requests {
		r := &l.Requests[i]
		if !r.Timed {
			continue
		}
		if r.At < last {
			sorted = false
			moved++
		}
		last = max(last, r.At)
	}
	if sorted {
		return 0
	}
	type keyed struct {
		at      time.Duration
		request Request
	}
	list := make([]keyed, len(l.Requests))
	for i, r := range l.Requests {
		if r.Timed {
			at = r.At
		}
		list[i] = keyed{at, r}
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	for i := range list {
		l.Requests[i] = list[i].request
	}
	return moved
}

// Arrangement is how requests are asked in another order, or more than once.
type Arrangement struct {
	// Repeat is how often all requests are asked; 0 and 1 are once.
	Repeat int
	// Shuffle puts what is asked in an order drawn from Seed, each repetition in its own. The times of arrival stay: it is
	// what is asked at each of them that changes.
	Shuffle bool
	Seed    uint64
}

// maxRequests bounds what Repeat makes.
const maxRequests = 1 << 28

// Arrange returns a log with the same vectors and truth whose requests are repeated and shuffled. A repetition begins one
// mean gap after the last request of the one before. The digest stays that of the file: notes tell what was done to it.
func (l *Log) Arrange(a Arrangement) (*Log, error) {
	times := max(a.Repeat, 1)
	if n := len(l.Requests); n > 0 && times > maxRequests/n {
		return nil, fmt.Errorf("repeat %d requests %d times: the limit is %d in total", n, times, maxRequests)
	}
	out := *l
	out.free = nil
	out.Notes = slices.Clone(l.Notes)
	out.Requests = make([]Request, 0, times*len(l.Requests))
	period := l.period()
	for i := range times {
		order := make([]int, len(l.Requests))
		for j := range order {
			order[j] = j
		}
		if a.Shuffle {
			rng := rand.New(rand.NewPCG(a.Seed, uint64(i)))
			rng.Shuffle(len(order), func(x, y int) { order[x], order[y] = order[y], order[x] })
		}
		for j, from := range order {
			r := l.Requests[from]
			r.At, r.Timed = l.Requests[j].At, l.Requests[j].Timed
			if r.Timed {
				r.At += time.Duration(i) * period
			}
			out.Requests = append(out.Requests, r)
		}
	}
	if a.Shuffle {
		out.Notes = append(out.Notes, fmt.Sprintf("the requests were shuffled, with seed %d", a.Seed))
	}
	if times > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("the requests were repeated %d times", times))
	}
	return &out, nil
}

// period is from the first request to the last, and the mean time between two.
func (l *Log) period() time.Duration {
	var last time.Duration
	n := 0
	for i := range l.Requests {
		if l.Requests[i].Timed {
			last = max(last, l.Requests[i].At)
			n++
		}
	}
	if n < 2 {
		return last
	}
	return last + last/time.Duration(n-1)
}
