package log

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/internal/words"
)

// SlowestOptions selects the requests to keep from access logs.
type SlowestOptions struct {
	// Formats and Strict are as in CaptureOptions.
	Formats []string
	Strict  bool
	// Collection selects the requests of a collection, e.g. "docs" or "shop.orders". Requests that name no collection
	// are kept.
	Collection string
	// From is the minimum duration of a request. Limit is the maximum number of requests to keep, the slowest.
	From  time.Duration
	Limit int
}

// Slowest holds the slowest requests of access logs, the slowest first.
type Slowest struct {
	Requests []AccessEntry
	// Total is the number of requests of all kinds in the logs.
	Total int
	Notes []string
}

// AccessEntry is a request of any kind in an access log. Fields that the log's format lacks are zero.
type AccessEntry struct {
	EndedAt                                   time.Time
	Took                                      time.Duration
	Method, Status, Database, Collection, SDK string
	Trace, Consistency                        string
	Partitions                                []string
	// Expr is the expression as sent by the client, with its values; HasExpr reports whether the log's format has it.
	Expr    string
	HasExpr bool
	// NQ and K are as in Request. For a query, K is its limit.
	NQ, K int
}

// SlowestFiles reads access logs like CaptureFiles, and keeps the slowest requests of all kinds.
func SlowestFiles(ctx context.Context, paths []string, o SlowestOptions) (*Slowest, error) {
	c, err := newCapture(CaptureOptions{Formats: o.Formats, Strict: o.Strict})
	if err != nil {
		return nil, err
	}
	s := &slowest{o: o}
	c.handle = s.take
	if err := c.files(ctx, paths); err != nil {
		return nil, err
	}
	name := strings.Join(paths, ", ")
	if s.total == 0 {
		return nil, c.emptyError(name)
	}
	s.cut(o.Limit)
	notes := c.tally.notes()
	if s.untimed > 0 {
		notes = append(notes, words.Count(s.untimed, "request", "requests")+" skipped: no duration in the log")
	}
	if left := s.matched - len(s.list); left > 0 {
		notes = append(notes,
			fmt.Sprintf("kept the %s slowest of %s requests in the access log", words.Number(len(s.list)),
				words.Number(s.matched)))
	}
	return &Slowest{Requests: s.list, Total: s.total, Notes: notes}, nil
}

// slowest collects the slowest requests of a stream.
type slowest struct {
	o                       SlowestOptions
	list                    []AccessEntry
	total, matched, untimed int
	// minTook is a lower bound of the durations to keep: requests that are not slower can be skipped.
	minTook time.Duration
}

func (s *slowest) take(a *accessFields, r *accessRequest) {
	s.total++
	if s.o.Collection != "" && r.Collection != "" && r.Collection != s.o.Collection && a.collection != s.o.Collection {
		return
	}
	if r.Took < s.o.From {
		return
	}
	if r.Took == 0 {
		s.untimed++
		return
	}
	if s.matched++; r.Took <= s.minTook {
		return
	}
	s.list = append(s.list, newAccessEntry(a, r))
	if len(s.list) >= 2*s.o.Limit {
		s.cut(s.o.Limit)
		s.minTook = s.list[len(s.list)-1].Took
	}
}

// cut sorts the list and keeps the slowest requests.
func (s *slowest) cut(limit int) {
	slices.SortStableFunc(s.list, func(a, b AccessEntry) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), b.EndedAt.Compare(a.EndedAt))
	})
	s.list = slices.Delete(s.list, min(limit, len(s.list)), len(s.list))
}

// maxExpr is the maximum length of a stored expression, which is shown truncated.
const maxExpr = 16 << 10

// newAccessEntry copies a request, so that it does not keep the memory of the line.
func newAccessEntry(a *accessFields, r *accessRequest) AccessEntry {
	l := AccessEntry{
		Took: r.Took, Method: strings.Clone(methodName(r.method)), Status: strings.Clone(r.statusName()),
		Database:   strings.Clone(a.database),
		Collection: strings.Clone(a.collection), SDK: strings.Clone(a.sdk), Trace: strings.Clone(a.trace),
		Consistency: strings.Clone(a.consistency),
		HasExpr:     a.hasExpr, NQ: r.NQ, K: r.K,
	}
	if r.start.known {
		l.EndedAt = time.Unix(0, r.start.at).UTC().Add(r.Took)
	}
	if r.expr {
		l.Expr = strings.Clone(a.expr[:min(len(a.expr), maxExpr)])
	}
	for name := range strings.FieldsSeq(strings.Trim(a.partitions, "[]")) {
		if len(l.Partitions) < 32 {
			l.Partitions = append(l.Partitions, strings.Clone(strings.Trim(name, `",`)))
		}
	}
	return l
}
