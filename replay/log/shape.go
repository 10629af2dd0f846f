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

// Shape is how requests come, without what they ask.
type Shape struct {
	// Lines were read; Searches are the requests of the log.
	Lines, Searches int
	// Methods and Statuses count all that the access log has, searches or not; of other logs they are nil.
	Methods, Statuses map[string]int
	// Span is from the first request with a time to the last, Timed how many have one.
	Span  time.Duration
	Timed int
	// PerSecond is the mean rate over the span; 0 if it is unknown. Peak is the most requests in any second, which begins at
	// PeakAt.
	PerSecond float64
	Peak      int
	PeakAt    time.Duration
	// Width is the length of each of Buckets, in which so many requests came; at most 240.
	Width   time.Duration
	Buckets []int
	// Took is of requests that were answered, FailedTook of those that failed.
	Took, FailedTook Percentiles
	Failed           int
	// Queries is how many vectors were asked for, by the requests that tell; UnknownNQ counts the others.
	Queries, UnknownNQ int
}

// Percentiles are of durations, each of which was measured: P99 is the smallest of which 99% are no longer.
type Percentiles struct {
	Count                                    int // those that are known
	Mean, Min, Max, P50, P90, P95, P99, P999 time.Duration
}

// maxBuckets is how many parts a Shape has.
const maxBuckets = 240

// log makes a Log and its Shape of what was read.
func (c *capture) log(name string) (*Log, *Shape, error) {
	name = cmp.Or(name, "access log")
	l := &Log{Name: name, Format: "access", Requests: c.requests, Digest: hex.EncodeToString(c.sum.Sum(nil))}
	if len(l.Requests) == 0 {
		return nil, nil, c.none(name)
	}
	l.Notes = append(l.setTimes(c.moments), c.tally.notes()...)
	if len(c.others) > 0 {
		l.Notes = append(l.Notes, "skipped methods that are not searches: "+c.others.list())
	}
	if c.exprs > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("%d searches had a filter expression: it cannot be replayed without vectors and fields", c.exprs))
	}
	if c.hybrids > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("%d searches are hybrid: they count as one search with the vectors of all their parts", c.hybrids))
	}
	s := l.Shape()
	s.Lines, s.Methods, s.Statuses = c.lines, c.methods, c.statuses
	if s.UnknownNQ > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("the log has no vector count for %d searches", s.UnknownNQ))
	}
	return l, s, nil
}

// none says why there is no search.
func (c *capture) none(name string) error {
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

// Shape is how the requests of a log come.
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

// percentiles sorts durations; 0 is unknown.
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
