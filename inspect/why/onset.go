package why

import (
	"cmp"
	"context"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// Onset is the time at which a finding began.
type Onset struct {
	Finding *check.Finding
	// Revision is the first revision since which the finding exists without a break until the report, 0 if it is
	// unknown.
	Revision int64
	// Began is the time of Revision, with an error of at most Error. Error is below 0 (UnknownError) if only
	// one end of the interval is known. Began is zero if no time is known.
	Began time.Time
	Error time.Duration
	// MaybeOlder reports whether the finding may be older than Revision and Began. Both then belong to the oldest
	// judged moment with the finding, or to the start of the process whose settings the finding is about. OlderReason
	// is the reason, e.g. "start of the history".
	MaybeOlder  bool
	OlderReason string
	// Unknown is the reason why the onset is unknown, "" if it is known.
	Unknown string
	// Before holds the events that may have caused the finding, the likeliest first.
	Before []history.Event
}

// notChecked is the OlderReason of a finding whose presence before its onset is unknown.
const notChecked = "not checked before"

// settings is the resource of findings about the configuration of a process.
const settings = "settings"

// UnknownError is the Error of a time that is bounded on one side only.
const UnknownError = time.Duration(-1)

// Survey calls visit with the state of the cluster near each given revision. Revisions must be in ascending
// order. session.Past.Survey is a Survey.
type Survey func(ctx context.Context, revisions []int64, visit func(*model.Cluster) error) error

// Options limits a search.
type Options struct {
	// Checks holds the checks that produced the report.
	Checks []*check.Check
	// From is the revision of the first evenly spaced moment, or 0 for the oldest of the history. Events before
	// it count too.
	From int64
	// Moments is the number of evenly spaced moments, or 0 for DefaultMoments.
	Moments int
	// Before is the maximum length of Onset.Before.
	Before int
}

const (
	// DefaultMoments is the default of Options.Moments. As many events are judged in addition, at most.
	DefaultMoments = 24
	// maxSegments limits the total number of segments over all moments, so large clusters get fewer moments.
	maxSegments = 6_000_000
	minMoments  = 6
)

// track holds the presence of a finding at each judged moment.
type track struct {
	onset  *Onset
	starts []int // positions of events that may have started the finding, the likeliest first
	last   int   // position of the last event about its object, or -1 without such an event
	seen   []presence
	after  int64 // the last revision known to be without the finding, else the revision of its onset
}

// presence is the state of a finding at a moment.
type presence uint8

const (
	unseen presence = iota
	absent
	present
)

// moment is a judged state of the cluster.
type moment struct {
	revision int64
	at       time.Time
}

// Find returns the onsets of the findings of a report, in the order of the findings. h is the history up to the
// report. It returns an error if survey fails.
func Find(ctx context.Context, survey Survey, h *history.History, r *check.Report, o Options) ([]Onset, error) {
	f := &finder{history: h, report: r, options: o, from: max(h.From, o.From)}
	for i := range h.Len() {
		f.events = append(f.events, h.Event(i))
	}
	onsets := make([]Onset, len(r.Findings))
	for i, x := range r.Findings {
		onsets[i].Finding = x
		f.tracks = append(f.tracks, f.trackOf(&onsets[i]))
	}
	if err := f.runChecks(ctx, survey); err != nil {
		return nil, err
	}
	for i := range f.tracks {
		t := &f.tracks[i]
		f.findOnset(t)
		onsets[i].Before = f.before(t, o.Before)
	}
	return onsets, nil
}

// finder dates the findings of a report.
type finder struct {
	history       *history.History
	events        []history.Event // without their messages
	report        *check.Report
	options       Options
	from          int64
	tracks        []track
	moments       []moment
	unseenReasons map[*check.Finding]string // reason why a check could not look at the last moment
}

// runChecks runs the checks of the report's findings at the judged moments, in ascending order.
func (f *finder) runChecks(ctx context.Context, survey Survey) error {
	revisions := f.revisions()
	if len(revisions) == 0 || len(f.tracks) == 0 {
		return nil
	}
	var checks []*check.Check
	for _, x := range f.options.Checks {
		if slices.ContainsFunc(f.report.Findings, func(y *check.Finding) bool { return y.Check == x.ID }) {
			checks = append(checks, x)
		}
	}
	judge := &check.Judge{}
	return survey(ctx, revisions, func(c *model.Cluster) error {
		report := judge.Run(c, c.Origin.Taken, checks)
		f.moments = append(f.moments, moment{c.Origin.Revision, c.Origin.Taken})
		f.unseenReasons = map[*check.Finding]string{}
		found := map[*check.Finding]presence{}
		for _, x := range check.Since(report, f.report).Changes {
			switch {
			case x.After == nil:
			case x.Before != nil:
				found[x.After] = present
			case x.Kind == check.Unsure && !sameMissingData(report, f.report, x.After.Check):
				found[x.After], f.unseenReasons[x.After] = unseen, x.Why
				if c.Runtime == nil && f.report.Cluster.Runtime != nil {
					f.unseenReasons[x.After] = "no node data from that time"
				}
			default:
				found[x.After] = absent
			}
		}
		for i := range f.tracks {
			t := &f.tracks[i]
			t.seen = append(t.seen, found[t.onset.Finding])
		}
		return ctx.Err()
	})
}

// revisions returns the revisions to judge, in ascending order: evenly spaced moments, and the revisions before
// and at events that may have started a finding.
func (f *finder) revisions() []int64 {
	end := f.report.Cluster.Origin.Revision
	most := f.options.Moments
	if most == 0 {
		most = DefaultMoments
	}
	most = max(minMoments, min(most, maxSegments/(len(f.report.Cluster.Segments)+1)))
	x := history.NewAxis(f.history)
	from, to := x.Position(f.from), x.Position(end)
	list := []int64{f.from}
	for i := range most {
		list = append(list, x.Revision(from+int64(float64(to-from)*float64(i)/float64(most))))
	}
	events := map[int]bool{}
	for i := range f.tracks {
		for _, at := range f.tracks[i].starts {
			if len(events) == most {
				break
			}
			if !events[at] {
				events[at] = true
				list = append(list, f.events[at].Revision-1, f.events[at].Revision)
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(r int64) bool { return r < f.history.From || r >= end })
}

// sameMissingData reports whether a check lacked data in a report, but only data that it also lacked in a later
// report. The later report has findings of the check despite the missing data, so the missing data does not
// explain their earlier absence.
func sameMissingData(r, after *check.Report, id string) bool {
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

// findOnset sets the onset of a finding.
func (f *finder) findOnset(t *track) {
	run := len(t.seen) // the first moment since which the finding is present until the end
	for run > 0 && t.seen[run-1] == present {
		run--
	}
	for _, at := range t.starts {
		e := &f.events[at]
		switch before := f.seenBefore(t, e.Revision); {
		case before == present:
			continue
		case before == unseen && e.Kind == "node_joined" && t.onset.Finding.Object.Resource == settings:
			// The configuration of the previous process is unknown.
			t.onset.MaybeOlder, t.onset.OlderReason = true, notChecked
		}
		f.setOnset(t, e)
		return
	}
	switch {
	case run < len(t.seen):
		m := f.moments[run]
		o := t.onset
		o.Revision, o.Began, o.Error, t.after = m.revision, m.at, UnknownError, m.revision
		if run > 0 {
			t.after = f.moments[run-1].revision
		}
		o.MaybeOlder = run == 0 || t.seen[run-1] == unseen
		switch {
		case run == 0 && m.revision == f.history.From:
			o.OlderReason = "start of the history"
		case o.MaybeOlder:
			o.OlderReason = notChecked
		case !m.at.IsZero() && !f.moments[run-1].at.IsZero():
			o.Error = m.at.Sub(f.moments[run-1].at)
		}
	case len(t.seen) > 0 && t.seen[len(t.seen)-1] == absent: // it began after the last moment
		o, c := t.onset, f.report.Cluster
		o.Revision, o.Began, o.Error = c.Origin.Revision, c.Origin.Taken, UnknownError
		t.after = f.moments[len(f.moments)-1].revision
		if before := f.moments[len(f.moments)-1].at; !before.IsZero() && !o.Began.IsZero() {
			o.Error = o.Began.Sub(before)
		}
	case t.last >= 0 && f.events[t.last].Revision >= f.from:
		f.setOnset(t, &f.events[t.last])
	default:
		t.onset.Unknown = cmp.Or(f.unseenReasons[t.onset.Finding], "no event gives its time")
	}
}

// seenBefore returns the presence of a finding at the last judged moment before a revision, or unseen without
// such a moment.
func (f *finder) seenBefore(t *track, revision int64) presence {
	for i, m := range slices.Backward(f.moments) {
		if m.revision < revision {
			return t.seen[i]
		}
	}
	return unseen
}

func (f *finder) setOnset(t *track, e *history.Event) {
	o := t.onset
	t.after = e.Revision - 1
	o.Revision, o.Began, o.Error = e.Revision, e.Time, e.Error
	if e.Time.IsZero() {
		o.Error = UnknownError
	}
}

// ByFinding returns a map from findings to their onsets. The onsets point into list.
func ByFinding(list []Onset) map[*check.Finding]*Onset {
	found := make(map[*check.Finding]*Onset, len(list))
	for i := range list {
		found[list[i].Finding] = &list[i]
	}
	return found
}
