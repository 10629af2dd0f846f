package load

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// arrivals generates the start times of requests of an open loop. They depend only on the plan: no response shifts
// them, and requests that wait for a session take no memory.
type arrivals struct {
	order []int // of the log's requests by time; nil keeps their order
	// after returns the next time. It is called once for each number from 1 on.
	after func(n int64) time.Duration

	mu   sync.Mutex
	n    int64
	next time.Duration // of number n
}

func (p *Plan) open() bool { return p.Rate > 0 || p.Timed }

// newArrivals returns arrivals from the given time of the run on, or nil in a closed loop. With Poisson, rounds that
// are separate phases draw different gaps.
func newArrivals(p Plan, requests []*Request, begin time.Duration, round int) *arrivals {
	switch {
	case p.Timed:
		return timedArrivals(requests, begin, p.Speed)
	case p.Rate > 0 && p.Poisson:
		random := rand.New(rand.NewPCG(p.Seed, uint64(round+1)))
		seconds := random.ExpFloat64() / p.Rate
		at := func() time.Duration { return addClamped(begin, seconds*float64(time.Second)) }
		return &arrivals{next: at(), after: func(int64) time.Duration {
			seconds += random.ExpFloat64() / p.Rate
			return at()
		}}
	case p.Rate > 0:
		return &arrivals{next: begin, after: func(n int64) time.Duration {
			return addClamped(begin, float64(n)/p.Rate*float64(time.Second))
		}}
	}
	return nil
}

// timedArrivals returns the log's own times. After the last request it repeats the log, one mean gap later.
func timedArrivals(requests []*Request, begin time.Duration, speed float64) *arrivals {
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(requests[i].At, requests[j].At) })
	first, length := float64(requests[order[0]].At), span(requests)
	return &arrivals{order: order, next: begin, after: func(n int64) time.Duration {
		again, i := n/int64(len(order)), n%int64(len(order))
		return addClamped(begin, (float64(requests[order[i]].At)-first+float64(again)*length)/speed)
	}}
}

// addClamped adds nanoseconds to a time. It returns the maximum time on overflow.
func addClamped(begin time.Duration, after float64) time.Duration {
	if after >= math.MaxInt64/2 {
		return math.MaxInt64
	}
	return begin + time.Duration(math.Round(after))
}

// span returns the length of the log by the recorded times of its requests, in nanoseconds: from the first to the
// last, plus the mean gap before it is repeated.
func span(requests []*Request) float64 {
	first, last := requests[0].At, requests[0].At
	for _, r := range requests {
		first, last = min(first, r.At), max(last, r.At)
	}
	return (float64(last) - float64(first)) * float64(len(requests)) / float64(max(1, len(requests)-1))
}

// checkTimes returns an error if requests cannot be sent at their own times.
func checkTimes(requests []*Request, speed float64) error {
	length := span(requests)
	if length == 0 {
		return errors.New("the log's requests have no times, or all the same one: cannot replay at the log's own times")
	}
	if rate := float64(len(requests)) / length * float64(time.Second) * speed; rate > maxRate {
		return fmt.Errorf("the log at %v times its speed has %.0f requests per second: the maximum is %d", speed, rate,
			int(maxRate))
	}
	return nil
}

// take returns the next request and its time.
func (a *arrivals) take(limit int64, end time.Duration) (n int64, at time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n >= limit || a.next >= end {
		return 0, 0, false
	}
	n, at = a.n, a.next
	a.step()
	return n, at, true
}

func (a *arrivals) step() {
	a.n++
	a.next = a.after(a.n)
}

func (a *arrivals) count() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n
}

// unsent counts the requests before the end that no session took. Their number is at most the rate times the waiting
// time of the last request taken.
func (a *arrivals) unsent(end time.Duration) (n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for ; a.next < end; n++ {
		a.step()
	}
	return n
}

// request returns the request with number n.
func (a *arrivals) request(requests []*Request, n int64) *Request {
	i := int(n % int64(len(requests)))
	if a.order != nil {
		i = a.order[i]
	}
	return requests[i]
}
