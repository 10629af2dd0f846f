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

// SlowestOptions are what of access logs is kept.
type SlowestOptions struct {
	// Formats and Strict are those of CaptureOptions.
	Formats []string
	Strict  bool
	// Collection keeps the requests of one, "docs" or "shop.orders", and those that name none.
	Collection string
	// From is how long a request took that is kept; Most how many are, the slowest.
	From time.Duration
	Most int
}

// Slowest are the slowest requests of access logs, the slowest first.
type Slowest struct {
	Requests []Logged
	// Of are the requests that the logs have, of all kinds.
	Of    int
	Notes []string
}

// Logged is a request of any kind as an access log has it; what its format does not have is zero.
type Logged struct {
	EndedAt                                   time.Time
	Took                                      time.Duration
	Method, Status, Database, Collection, SDK string
	Trace, Consistency                        string
	Partitions                                []string
	// Expr is as the client sent it, with its values; Told reports whether the log's format has it.
	Expr string
	Told bool
	// NQ and K are as those of Request; of a query, K is its limit.
	NQ, K int
}

// SlowestFiles reads access logs as CaptureFiles does, and keeps the slowest requests of all kinds.
func SlowestFiles(ctx context.Context, paths []string, o SlowestOptions) (*Slowest, error) {
	c, err := newCapture(CaptureOptions{Formats: o.Formats, Strict: o.Strict})
	if err != nil {
		return nil, err
	}
	s := &slowest{o: o}
	c.taken = s.take
	if err := c.files(ctx, paths); err != nil {
		return nil, err
	}
	name := strings.Join(paths, ", ")
	if s.of == 0 {
		return nil, c.none(name)
	}
	s.cut(o.Most)
	notes := c.tally.notes()
	if s.untimed > 0 {
		notes = append(notes, words.Count(s.untimed, "request", "requests")+" skipped: no duration in the log")
	}
	if left := s.matched - len(s.list); left > 0 {
		notes = append(notes, fmt.Sprintf("kept the %s slowest of %s requests in the access log", words.Number(len(s.list)), words.Number(s.matched)))
	}
	return &Slowest{Requests: s.list, Of: s.of, Notes: notes}, nil
}

// slowest keeps the slowest requests while others come.
type slowest struct {
	o                    SlowestOptions
	list                 []Logged
	of, matched, untimed int
	// least is how long one took that was cut off: what is faster need not be looked at.
	least time.Duration
}

func (s *slowest) take(a *accessFields, r *accessRequest) {
	s.of++
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
	if s.matched++; r.Took <= s.least {
		return
	}
	s.list = append(s.list, logged(a, r))
	if len(s.list) >= 2*s.o.Most {
		s.cut(s.o.Most)
		s.least = s.list[len(s.list)-1].Took
	}
}

// cut sorts the list and keeps the first ones.
func (s *slowest) cut(most int) {
	slices.SortStableFunc(s.list, func(a, b Logged) int { return cmp.Or(cmp.Compare(b.Took, a.Took), b.EndedAt.Compare(a.EndedAt)) })
	s.list = slices.Delete(s.list, min(most, len(s.list)), len(s.list))
}

// maxLogged bounds an expression that is kept: it is shown in part.
const maxLogged = 16 << 10

// logged is a request of its own memory.
func logged(a *accessFields, r *accessRequest) Logged {
	l := Logged{
		Took: r.Took, Method: strings.Clone(methodName(r.method)), Status: strings.Clone(r.statusName()), Database: strings.Clone(a.database),
		Collection: strings.Clone(a.collection), SDK: strings.Clone(a.sdk), Trace: strings.Clone(a.trace), Consistency: strings.Clone(a.consistency),
		Told: a.told, NQ: r.NQ, K: r.K,
	}
	if r.start.known {
		l.EndedAt = time.Unix(0, r.start.at).UTC().Add(r.Took)
	}
	if r.expr {
		l.Expr = strings.Clone(a.expr[:min(len(a.expr), maxLogged)])
	}
	for name := range strings.FieldsSeq(strings.Trim(a.partitions, "[]")) {
		if len(l.Partitions) < 32 {
			l.Partitions = append(l.Partitions, strings.Clone(strings.Trim(name, `",`)))
		}
	}
	return l
}
