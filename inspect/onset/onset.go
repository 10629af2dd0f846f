// Package onset says when findings began, and what changed before. What enters is a report of checks, the past of its cluster as a Film,
// and the History of what happened; what leaves is an Onset for each finding.
//
//  1. Find judges the cluster as it was, from the report's moment back to the beginning: only by the checks that found something, and
//     only until each finding was not there yet. A finding is followed over moments as check.Since follows it.
//  2. Between a moment at which a finding was there and one at which it was not, the first revision that has it is searched by halves;
//     one that came with time alone, as what becomes too old, is searched in time.
//  3. What could not be looked at then is unknown, and what was there at the oldest moment began then or before.
//  4. Before ranks the events shortly before by whether such can be its cause (causes.go), by the objects that both are about, and
//     by time.
package onset

import (
	"context"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
)

// Film is a cluster as it was, as meta.Film has it.
type Film interface {
	// From and To are the first and the last revision.
	From() int64
	To() int64
	At(revision int64) (*model.Cluster, error)
	// Moment is when a revision was written; known is false where nothing dates it.
	Moment(revision int64) (m meta.Moment, known bool)
	// Ticks are the revisions behind From whose time is known best, Revisions all that changed something behind one revision and
	// up to another; both rise.
	Ticks() []int64
	Revisions(from, to int64) []int64
}

// Onset is when a finding began.
type Onset struct {
	Finding *check.Finding
	// Revision is the first at which it is there without a break until the report; 0 where that is unknown.
	Revision int64
	// Began is when that was, wrong by Error at most, which is below 0 where only one side is known; zero where nothing dates it.
	Began time.Time
	Error time.Duration
	// AtLeast is that it was there already at the oldest moment that could be looked at, which Revision and Began are of.
	AtLeast bool
	// Unknown is why it is not known when it began, "" if it is.
	Unknown string
	// Before are events that can be its cause, the likeliest first; Past.Explain finds them.
	Before []history.Event
}

// UnknownError is the Error of a time of which one side is known alone.
const UnknownError = time.Duration(-1)

// Options bound a search.
type Options struct {
	// Most is how many moments are judged on the way back, 0: MostMoments; fewer of a large cluster, of which each takes long. Where there
	// are more, some are passed over: a finding that was away for less than lies between two is taken as one that lasted.
	Most int
	// Checks are those that the report was made by.
	Checks []*check.Check
}

// MostMoments are judged where nobody says how many.
const MostMoments = 300

// What a moment takes about, of processor time, and how much of it the way back may take. That is by the size of the cluster and not
// by a clock, so that the same is found on any machine.
const (
	eachSegment  = 450 * time.Nanosecond
	eachProcess  = 5 * time.Millisecond // what it said is put together, and read
	mayTake      = 12 * time.Second
	leastMoments = 12
)

// affordable is how many moments of a cluster are judged at most.
func affordable(c *model.Cluster, most int) int {
	takes := time.Duration(len(c.Segments)) * eachSegment
	if c.Runtime != nil {
		takes += time.Duration(len(c.Runtime.Nodes)) * eachProcess
	}
	if takes*time.Duration(most) <= mayTake {
		return most
	}
	return min(most, max(leastMoments, int(mayTake/takes)))
}

// trail is a finding on the way back.
type trail struct {
	onset *Onset
	// at is what it was at the earliest moment so far.
	at *check.Finding
}

// stretch is where findings begin: they are in after, the report of revision high, and not yet at low.
type stretch struct {
	low, high int64
	after     *check.Report
	trails    []trail
}

// finder judges moments.
type finder struct {
	film   Film
	judge  check.Judge
	checks []*check.Check
}

// Find says when each finding of a report began, in their order.
func Find(ctx context.Context, film Film, r *check.Report, o Options) ([]Onset, error) {
	if o.Most < 2 {
		o.Most = MostMoments
	}
	o.Most = affordable(r.Cluster, o.Most)
	f := &finder{film: film, checks: o.Checks}
	onsets := make([]Onset, len(r.Findings))
	trails := make([]trail, len(onsets))
	for i, x := range r.Findings {
		onsets[i].Finding = x
		trails[i] = trail{&onsets[i], x}
	}
	last := min(max(r.Cluster.Origin.Revision, film.From()), film.To())
	before, now, err := f.step(last, r, trails)
	if err != nil {
		return nil, err
	}
	for _, t := range slices.Concat(before.absent, before.unseen) {
		*t.onset = Onset{Finding: t.onset.Finding, Unknown: before.why[t.onset]}
	}
	stretches, err := f.walk(ctx, last, now, before.present, o.Most)
	if err != nil {
		return nil, err
	}
	for _, s := range stretches {
		if err := f.narrow(ctx, s); err != nil {
			return nil, err
		}
	}
	return onsets, nil
}

// sorted are trails by what a moment has of them.
type sorted struct {
	present, absent, unseen []trail
	why                     map[*Onset]string // of absent and unseen
}

// step judges a moment, and looks which of some findings of a later report are there.
func (f *finder) step(revision int64, after *check.Report, trails []trail) (s sorted, r *check.Report, err error) {
	c, err := f.film.At(revision)
	if err != nil {
		return s, nil, err
	}
	s, r = f.look(c, after, trails)
	return s, r, nil
}

// look judges a cluster at its time.
func (f *finder) look(c *model.Cluster, after *check.Report, trails []trail) (s sorted, r *check.Report) {
	wanted := make(map[string]bool)
	for _, t := range trails {
		wanted[t.at.Check] = true
	}
	var checks []*check.Check
	for _, x := range f.checks {
		if wanted[x.ID] {
			checks = append(checks, x)
		}
	}
	r = f.judge.Run(c, c.Origin.Taken, checks)
	changes := make(map[*check.Finding]check.Change)
	for _, c := range check.Since(r, after).Changes {
		if c.After != nil {
			changes[c.After] = c
		}
	}
	s.why = make(map[*Onset]string)
	for _, t := range trails {
		switch c := changes[t.at]; {
		case c.Before != nil:
			s.present = append(s.present, trail{t.onset, c.Before})
		case c.Kind == check.Unsure && !sameBlindness(r, after, t.at.Check):
			s.unseen, s.why[t.onset] = append(s.unseen, t), c.Why
		default:
			s.absent, s.why[t.onset] = append(s.absent, t), "not in etcd alone"
		}
	}
	return s, r
}

// sameBlindness reports whether a check that found nothing missed no more than in a later report, where it found something all the same.
func sameBlindness(r, after *check.Report, id string) bool {
	then, now := resultOf(r, id), resultOf(after, id)
	if then == nil || now == nil || len(then.Unseen) == 0 {
		return false
	}
	return !slices.ContainsFunc(then.Unseen, func(what string) bool { return !slices.Contains(now.Unseen, what) })
}

func resultOf(r *check.Report, id string) *check.Result {
	i := slices.IndexFunc(r.Results, func(x *check.Result) bool { return x.Check.ID == id })
	if i < 0 {
		return nil
	}
	return r.Results[i]
}

// walk goes back from a report of revision high, and stops where all findings have begun.
func (f *finder) walk(ctx context.Context, high int64, after *check.Report, trails []trail, most int) ([]stretch, error) {
	var found []stretch
	for _, revision := range slices.Backward(thinned(f.moments(high), most)) {
		if len(trails) == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, r, err := f.step(revision, after, trails)
		if err != nil {
			return nil, err
		}
		for _, t := range s.unseen {
			f.lasts(t.onset, high)
		}
		if len(s.absent) > 0 {
			found = append(found, stretch{revision, high, after, s.absent})
		}
		trails, after, high = s.present, r, revision
	}
	for _, t := range trails {
		f.lasts(t.onset, high)
	}
	return found, nil
}

// moments are the revisions to judge before one: those of which the time is known, where there are any.
func (f *finder) moments(high int64) []int64 {
	from := f.film.From()
	list := f.film.Ticks()
	if len(list) == 0 {
		list = f.film.Revisions(from, high)
	}
	end, _ := slices.BinarySearch(list, high)
	if list = list[:end]; len(list) > 0 && list[0] == from {
		return list
	}
	if from < high {
		list = slices.Insert(slices.Clone(list), 0, from)
	}
	return list
}

// thinned keeps so many of a list, the first and the last of them, and as many between any two.
func thinned(list []int64, most int) []int64 {
	if len(list) <= most {
		return list
	}
	kept := make([]int64, 0, most)
	for i := range most {
		kept = append(kept, list[i*(len(list)-1)/(most-1)])
	}
	return kept
}

// lasts says that a finding was there at the oldest moment that could be looked at.
func (f *finder) lasts(o *Onset, revision int64) {
	f.begins(o, revision)
	o.AtLeast = true
}

func (f *finder) begins(o *Onset, revision int64) {
	o.Revision = revision
	m, known := f.film.Moment(revision)
	switch {
	case !known:
		o.Error = UnknownError
	case m.Open:
		o.Began, o.Error = m.Time, UnknownError
	default:
		o.Began, o.Error = m.Time, m.Error
	}
}

// narrow finds the revision at which findings begin.
func (f *finder) narrow(ctx context.Context, s stretch) error {
	revisions := f.film.Revisions(s.low, s.high)
	if n := len(revisions); n == 0 || revisions[n-1] < s.high {
		revisions = append(slices.Clone(revisions), s.high)
	}
	return f.halve(ctx, s, revisions)
}

// halve looks in the middle of the revisions that findings can begin at.
func (f *finder) halve(ctx context.Context, s stretch, revisions []int64) error {
	if err := ctx.Err(); err != nil || len(s.trails) == 0 {
		return err
	}
	if len(revisions) == 1 {
		return f.settle(s)
	}
	middle := (len(revisions) - 1) / 2
	found, r, err := f.step(revisions[middle], s.after, s.trails)
	if err != nil {
		return err
	}
	for _, t := range found.unseen {
		f.lasts(t.onset, s.high)
	}
	if err := f.halve(ctx, stretch{s.low, revisions[middle], r, found.present}, revisions[:middle+1]); err != nil {
		return err
	}
	return f.halve(ctx, stretch{revisions[middle], s.high, s.after, found.absent}, revisions[middle+1:])
}

// quiet is how long nothing is written before it is looked whether a finding came with time: Milvus writes every three seconds.
const quiet = 5 * time.Second

// settle has findings begin at high, but for those that were there before it, when nothing but the time had changed.
func (f *finder) settle(s stretch) error {
	then, dated := f.film.Moment(s.low)
	now, known := f.film.Moment(s.high)
	left := s.trails
	if dated && known && now.Time.Sub(then.Time) > quiet {
		c, err := f.film.At(s.low)
		if err != nil {
			return err
		}
		found, r := f.look(c.At(s.low, now.Time), s.after, s.trails)
		f.age(c, then.Time, now.Time, r, found.present)
		left = slices.Concat(found.absent, found.unseen)
	}
	for _, t := range left {
		f.begins(t.onset, s.high)
	}
	return nil
}

// age finds the second between two times at which findings begin of which after is the report.
func (f *finder) age(c *model.Cluster, from, to time.Time, after *check.Report, trails []trail) {
	if len(trails) == 0 {
		return
	}
	if to.Sub(from) <= time.Second {
		for _, t := range trails {
			f.begins(t.onset, c.Origin.Revision)
			t.onset.Began, t.onset.Error = to, max(t.onset.Error, time.Second)
		}
		return
	}
	middle := from.Add(to.Sub(from) / 2)
	found, r := f.look(c.At(c.Origin.Revision, middle), after, trails)
	f.age(c, from, middle, r, found.present)
	f.age(c, middle, to, after, slices.Concat(found.absent, found.unseen))
}

// ByFinding are onsets by their findings.
func ByFinding(list []Onset) map[*check.Finding]*Onset {
	found := make(map[*check.Finding]*Onset, len(list))
	for i := range list {
		found[list[i].Finding] = &list[i]
	}
	return found
}
