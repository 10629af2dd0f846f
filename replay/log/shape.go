package log

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"kitescope/internal/hints"
)

// Shape describes the arrival of requests without their content.
type Shape struct {
	// Lines is the number of lines read, and Searches the number of requests of the log.
	Lines, Searches int
	// Methods and Statuses count all requests of an access log, including those that are not searches. They are nil
	// for other logs.
	Methods, Statuses map[string]int
	// Span is the time from the first to the last timed request, and Timed the number of timed requests.
	Span  time.Duration
	Timed int
	// PerSecond is the mean rate over Span; 0 if unknown. Peak is the maximum number of requests in any second,
	// which begins at PeakAt.
	PerSecond float64
	Peak      int
	PeakAt    time.Duration
	// Width is the duration of each of Buckets, which hold the number of requests in it; at most 240.
	Width   time.Duration
	Buckets []int
	// Took is for successful requests, FailedTook for failed ones.
	Took, FailedTook Percentiles
	Failed           int
	// Queries is the number of vectors of requests with a known number. UnknownNQ counts the other requests.
	Queries, UnknownNQ int
}

// Percentiles holds percentiles of durations. Each is a measured value: P99 is the smallest measured duration that
// is at least as long as 99% of all durations.
type Percentiles struct {
	Count                                    int // of known durations
	Mean, Min, Max, P50, P90, P95, P99, P999 time.Duration
}

// maxBuckets is the maximum number of buckets of a Shape.
const maxBuckets = 240

// log returns the captured Log and its Shape.
func (c *capture) log(name string) (*Log, *Shape, error) {
	name = cmp.Or(name, "access log")
	l := &Log{Name: name, Format: "access", Requests: c.requests, Digest: hex.EncodeToString(c.sum.Sum(nil))}
	if len(l.Requests) == 0 {
		return nil, nil, c.emptyError(name)
	}
	l.Notes = append(l.setTimes(c.moments), c.tally.notes()...)
	if len(c.others) > 0 {
		l.Notes = append(l.Notes, "skipped methods that are not searches: "+c.others.list())
	}
	if c.exprs > 0 {
		l.Notes = append(l.Notes,
			fmt.Sprintf("%d searches had a filter expression: it cannot be replayed without vectors and fields",
				c.exprs))
	}
	if c.hybrids > 0 {
		l.Notes = append(l.Notes,
			fmt.Sprintf("%d searches are hybrid: they count as one search with the vectors of all their parts",
				c.hybrids))
	}
	s := l.Shape()
	s.Lines, s.Methods, s.Statuses = c.lines, c.methods, c.statuses
	if s.UnknownNQ > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("the log has no vector count for %d searches", s.UnknownNQ))
	}
	return l, s, nil
}

// emptyError returns the reason why there are no searches.
func (c *capture) emptyError(name string) error {
	switch notes := c.tally.notes(); {
	case c.lines == 0:
		return fmt.Errorf("read %s: %w", name, errors.New("the file is empty"))
	case len(c.methods) == 0:
		return hints.Errorf("give the format that proxy.accessLog.formatters of milvus.yaml has",
			"read %s: no line of %d is in an access log format", name, c.lines)
	case len(c.others) > 0 && len(notes) == 0:
		return fmt.Errorf("read %s: no search in it; it has %s", name, c.others.list())
	default:
		return fmt.Errorf("read %s: no selected search in it: %s", name, notes[0])
	}
}

// Shape returns the shape of the requests of a log.
func (l *Log) Shape() *Shape {
	s := &Shape{Searches: len(l.Requests)}
	var times, took, failedTook []time.Duration
	for i := range l.Requests {
		r := &l.Requests[i]
		if r.Timed {
			times = append(times, r.At)
		}
		switch {
		case r.Failed:
			s.Failed++
			failedTook = append(failedTook, r.Took)
		default:
			took = append(took, r.Took)
		}
		s.Queries += r.NQ
		if r.NQ == 0 {
			s.UnknownNQ++
		}
	}
	s.Took, s.FailedTook = percentiles(took), percentiles(failedTook)
	s.Timed = len(times)
	s.arrivals(times)
	return s
}

// arrivals counts requests over time.
func (s *Shape) arrivals(times []time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	first := times[0]
	s.Span = times[len(times)-1] - first
	if s.Span > 0 {
		s.PerSecond = float64(len(times)-1) / s.Span.Seconds()
	}
	begin := 0
	for i, t := range times {
		for t-times[begin] >= time.Second {
			begin++
		}
		if n := i - begin + 1; n > s.Peak {
			s.Peak, s.PeakAt = n, times[begin]
		}
	}
	s.Width = time.Second * (s.Span/time.Second/maxBuckets + 1)
	s.Buckets = make([]int, s.Span/s.Width+1)
	for _, t := range times {
		s.Buckets[(t-first)/s.Width]++
	}
}

// percentiles computes percentiles of durations. It ignores durations of 0, which are unknown.
func percentiles(list []time.Duration) (p Percentiles) {
	list = slices.DeleteFunc(list, func(d time.Duration) bool { return d == 0 })
	if len(list) == 0 {
		return p
	}
	slices.Sort(list)
	sum := 0.0
	for _, d := range list {
		sum += float64(d)
	}
	at := func(thousandths int) time.Duration { return list[(len(list)*thousandths+999)/1000-1] }
	return Percentiles{
		Count: len(list), Mean: time.Duration(sum / float64(len(list))), Min: list[0], Max: list[len(list)-1],
		P50: at(500), P90: at(900), P95: at(950), P99: at(990), P999: at(999),
	}
}
