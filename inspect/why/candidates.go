package why

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

const (
	// maxCauseAge is the maximum age of a possible cause, in addition to the time that the check itself waits.
	maxCauseAge = 10 * time.Minute
	// halfLife is the age, in addition to that time, at which an event counts half.
	halfLife = time.Minute
	// afterAbsentWeight is the weight of an event after the last revision that is known to be without the finding.
	afterAbsentWeight = 2.0
	// minScore is the minimum score of a possible cause. Events that match neither the kind, nor the object,
	// nor the time of a finding are below it.
	minScore = 0.06
	// maxEvents is the maximum number of events that are scored per finding, the latest before its onset.
	maxEvents = 4000
)

// candidate holds the position of an event in the history and its score as a cause.
type candidate struct {
	index int
	score float64
}

// The likelihood that an event is a cause, by its kind.
const (
	likelyStart = 1.0
	likelyOther = 0.5
	likelyNone  = 0.1
)

func likelihood(s *check.Starts, e *history.Event) float64 {
	matches := func(f check.EventFilter) bool { return f.Matches(e) }
	switch {
	case slices.ContainsFunc(s.First, matches):
		return likelyStart
	case slices.ContainsFunc(s.Others, matches):
		return likelyOther
	}
	return likelyNone
}

// startsOf returns the kinds of events that start a finding. It returns the zero Starts if its check is not in
// Options.Checks.
func (f *finder) startsOf(finding *check.Finding) check.Starts {
	if x := check.Find(f.options.Checks, finding.Check); x != nil {
		return check.ParseStarts(x.Starts)
	}
	return check.Starts{}
}

// maxStarts is the maximum number of events that are considered as the start of a finding.
const maxStarts = 3

// trackOf returns the track of a finding with the events that may have started it. Such events are named by
// the check and share at least the collection with the finding. They are sorted by similarity, and equal ones
// with the newest first. If the check names a setting or a node itself (EventFilter.Of), events that concern
// the whole cluster count, too.
func (f *finder) trackOf(o *Onset) track {
	t := track{onset: o, last: -1}
	c := f.report.Cluster
	row, subject := f.startsOf(o.Finding), subjectOf(c, o.Finding)
	object := withoutName(o.Finding.Object)
	var list []candidate
	for i := len(f.events) - 1; i >= 0; i-- {
		e := &f.events[i]
		if e.Revision > c.Origin.Revision {
			continue
		}
		of := object.ID != "" && withoutName(e.Object) == object
		if t.last < 0 && of {
			t.last = i
		}
		at := slices.IndexFunc(row.First, func(x check.EventFilter) bool { return x.Matches(e) })
		if at < 0 {
			continue
		}
		shares := subject.similarity(e)
		if of {
			shares += sharesObject
		}
		if shares >= sharesCollection || shares >= sharesCluster && row.First[at].Subject != "" {
			list = append(list, candidate{i, shares})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	for _, x := range list[:min(maxStarts, len(list))] {
		t.starts = append(t.starts, x.index)
	}
	return t
}

// before returns the events before the onset of a finding that are most likely its cause, the likeliest
// first, at most the given number. If the onset is unknown, it uses the events before the report. If the
// finding may be older than its onset (Onset.MaybeOlder), it returns nil.
func (f *finder) before(t *track, most int) []history.Event {
	o := t.onset
	if o.MaybeOlder {
		return nil
	}
	c := f.report.Cluster
	revision, at := o.Revision, o.Began
	if o.Unknown != "" {
		revision, at = c.Origin.Revision, c.Origin.Taken
	}
	row, subject := f.startsOf(o.Finding), subjectOf(c, o.Finding)
	end := sort.Search(len(f.events), func(i int) bool { return f.events[i].Revision > revision })
	var list []candidate
	for i := end - 1; i >= max(0, end-maxEvents); i-- {
		e := &f.events[i]
		ago := time.Duration(0)
		if !at.IsZero() && !e.Time.IsZero() {
			ago = max(0, at.Sub(e.Time))
		}
		if ago > maxCauseAge+row.MaxDelay {
			break
		}
		likely := likelihood(&row, e)
		if o.Unknown != "" && likely < likelyOther {
			continue // without an onset, the distance in time means nothing
		}
		weight := 1.0
		if e.Revision > t.after && o.Unknown == "" { // whatever its kind, it may be the change that the check detects
			likely, weight = max(likely, likelyOther), afterAbsentWeight
		}
		score := weight * likely * subject.similarity(e) * (1 - ageDiscount(ago, row.MaxDelay))
		if score >= minScore {
			list = append(list, candidate{i, score})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	events := make([]history.Event, 0, most)
	for _, s := range list[:min(most, len(list))] {
		events = append(events, f.history.Event(s.index))
	}
	return events
}

// ageDiscount returns the discount of an event by its age, from 0 to 1: the older, the larger. It is 0 within
// the time that the check waits and 0.5 one fades later.
func ageDiscount(ago, waits time.Duration) float64 {
	over := float64(max(0, ago-waits))
	return over / (over + float64(halfLife))
}

// subject holds the objects of a finding and their owners.
type subject struct {
	cluster     *model.Cluster
	direct      map[model.Ref]bool
	owners      map[model.Ref]bool
	collections map[string]bool
	nodes       map[model.NodeID]bool
	missingRole string
}

func subjectOf(c *model.Cluster, f *check.Finding) *subject {
	s := &subject{
		cluster: c, direct: map[model.Ref]bool{}, owners: map[model.Ref]bool{}, collections: map[string]bool{},
		nodes: map[model.NodeID]bool{}, missingRole: f.MissingRole,
	}
	for _, r := range slices.Concat([]model.Ref{f.Object}, f.Objects) {
		s.direct[withoutName(r)] = true
		s.addOwners(r)
	}
	return s
}

// withoutName returns r without its name, because names change.
func withoutName(r model.Ref) model.Ref { return model.Ref{Resource: r.Resource, ID: r.ID} }

// The similarity of an event to a finding.
const (
	sharesObject     = 1.0
	sharesOwner      = 0.85
	sharesCollection = 0.7
	sharesCluster    = 0.6 // events of the whole cluster: nodes, settings, resource groups
	sharesNothing    = 0.3
)

func (s *subject) similarity(e *history.Event) float64 {
	switch {
	case s.direct[withoutName(e.Object)], s.missingRole != "" && isOfRole(e.Object, s.missingRole):
		return sharesObject
	case s.owners[withoutName(e.Object)], s.touches(e):
		return sharesOwner
	case s.collections[e.Collection.ID] || e.Object.Resource == "collections" && s.collections[e.Object.ID]:
		return sharesCollection
	}
	switch e.Object.Resource {
	case "nodes", "config", "resource-groups":
		return sharesCluster
	}
	if len(s.collections) == 0 && s.direct[model.Ref{}] { // the finding is about the whole cluster
		return sharesCluster
	}
	return sharesNothing
}
