package facts

import (
	"sync"

	"kitescope/inspect/model"
)

// rule says which segments of a group are old enough to count, and what of them is added up. It is the same one as long as it is
// equal: what it says of a segment may depend on nothing else.
type rule[S any] interface {
	comparable
	// due is what the limit has to be beyond for the segment to count; ok is false if it never does.
	due(s *model.Segment) (at model.TSO, ok bool)
	// add counts a segment of a digest in.
	add(d *Digest, sum *S, s *model.Segment)
	// change is a sum without what left it and with what came; it shares nothing that changes with any of them. ok is false if
	// only all segments tell what it is: the greatest of some values may have left.
	change(sum, left, came *S) (next *S, ok bool)
}

// aged is the sum over those segments of a group that are older than a limit. Nearly all of a large cluster are, and have been
// for days: they are added up once. From one run to the next the sum is corrected by what has changed, and by what has come of age
// meanwhile, so that a run costs what happened since the one before.
//
// The sum is exact: at any time it is what rule.add makes of all segments of the group with due < limit. Those with due >= limit
// are in young, each of them and no others; a segment is in neither if it never counts. A limit moves forwards with the clock; one
// that moves back is not followed, but worked out anew.
type aged[R rule[S], S any] struct {
	mutex sync.Mutex
	rule  R
	limit model.TSO        // zero if nobody asked, or the sum could not be followed
	sum   *S               // never changed: later digests begin with it
	young []*model.Segment // by id
	next  model.TSO        // no segment of young is due before
}

// of is the sum over those segments of a digest's group that count at a limit. A limit of zero, of an unknown time, has none.
func (a *aged[R, S]) of(d *Digest, g Group, r R, limit model.TSO) *S {
	if limit == 0 {
		return new(S)
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.limit == 0 || a.rule != r || limit < a.limit {
		a.begin(d, g, r, limit)
		return a.sum
	}
	a.limit = limit
	if a.next >= limit {
		return a.sum
	}
	young, came := a.young, new(S)
	a.young, a.next = nil, model.MaxTSO
	for _, s := range young {
		a.take(d, came, s)
	}
	var ok bool
	if a.sum, ok = r.change(a.sum, new(S), came); !ok {
		a.begin(d, g, r, limit)
	}
	return a.sum
}

// begin adds up all segments.
func (a *aged[R, S]) begin(d *Digest, g Group, r R, limit model.TSO) {
	a.rule, a.limit, a.sum, a.young, a.next = r, limit, new(S), nil, model.MaxTSO
	for _, s := range d.groups[g] {
		a.take(d, a.sum, s)
	}
}

// take counts a segment in, or puts it with the young ones, whose ids have to be smaller.
func (a *aged[R, S]) take(d *Digest, sum *S, s *model.Segment) {
	switch at, ok := a.rule.due(s); {
	case !ok:
	case at < a.limit:
		a.rule.add(d, sum, s)
	default:
		a.young, a.next = append(a.young, s), min(a.next, at)
	}
}

// follow makes it what it is of digest d, which follows that of before, after some segments of the group have left and come, each
// by id. It need not have been asked for yet.
func (a *aged[R, S]) follow(d *Digest, before *aged[R, S], left, came []*model.Segment) {
	before.mutex.Lock()
	defer before.mutex.Unlock()
	if before.limit == 0 {
		return
	}
	a.rule, a.limit, a.sum, a.young, a.next = before.rule, before.limit, before.sum, before.young, before.next
	if len(left) == 0 && len(came) == 0 {
		return
	}
	// Two of the same kind gather what changed: what of it is old is added up in a sum of its own, what is young stands in its list.
	out, in := aged[R, S]{rule: a.rule, limit: a.limit, next: model.MaxTSO}, aged[R, S]{rule: a.rule, limit: a.limit, next: model.MaxTSO}
	minus, plus := new(S), new(S)
	for _, s := range left {
		out.take(d, minus, s)
	}
	for _, s := range came {
		in.take(d, plus, s)
	}
	a.young, a.next = replace(before.young, out.young, in.young), min(before.next, in.next)
	var ok bool
	if a.sum, ok = a.rule.change(before.sum, minus, plus); !ok {
		a.limit = 0
	}
}

// first are the first segments of a digest's group that count, by id, and no more than a finding names. Each that does not count is
// looked at: it is for those of which most do.
func first[S any, R rule[S]](d *Digest, g Group, r R, limit model.TSO, also func(*model.Segment) bool) []*model.Segment {
	var list []*model.Segment
	for _, s := range d.groups[g] {
		if at, ok := r.due(s); ok && at < limit && also(s) {
			if list = append(list, s); len(list) == MaxObjects {
				break
			}
		}
	}
	return list
}

// peak is the greatest of some values, and how many of them it is: when one leaves that is not the last, it is still known.
type peak struct {
	value uint64
	count int
}

func (p *peak) add(v uint64) { p.join(peak{v, 1}) }

// join adds the values of another peak.
func (p *peak) join(x peak) {
	switch {
	case x.count == 0 || p.count > 0 && x.value < p.value:
	case p.count == 0 || x.value > p.value:
		*p = x
	default:
		p.count += x.count
	}
}

// without is the peak without some of the values, of which so many are left. ok is false if it is not known: all that had the
// greatest one have gone.
func (p peak) without(left peak, rest int) (next peak, ok bool) {
	if rest == 0 {
		return peak{}, true
	}
	if left.count > 0 && left.value == p.value {
		p.count -= left.count
	}
	return p, p.count > 0
}

// low is a value of a peak that is to have the smallest of some TSOs; lowest is that one, zero if there is none.
func low(v model.TSO) uint64 { return ^uint64(v) }

func (p peak) lowest() model.TSO {
	if p.count == 0 {
		return 0
	}
	return model.TSO(^p.value)
}
