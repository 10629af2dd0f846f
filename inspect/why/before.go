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
	// reach is how far back causes are looked for, beyond what a check waits for itself; fades is after which time an event counts half.
	reach = 10 * time.Minute
	fades = time.Minute
	// verySame is what the revisions count at which a finding can have begun.
	verySame = 2.0
	// leastScore keeps out what has neither kind, nor object, nor time in common with a finding.
	leastScore = 0.06
	// mostEvents are looked at for one finding: those nearest to it.
	mostEvents = 4000
)

// scored is the position of an event and how likely it is the cause.
type scored struct {
	at    int
	score float64
}

// How likely an event is a cause, by its kind.
const (
	likelyStart = 1.0
	likelyOther = 0.5
	likelyNone  = 0.1
)

func likely(s *check.Starts, e *history.Event) float64 {
	matches := func(f check.EventFilter) bool { return f.Matches(e) }
	switch {
	case slices.ContainsFunc(s.First, matches):
		return likelyStart
	case slices.ContainsFunc(s.Others, matches):
		return likelyOther
	}
	return likelyNone
}

// startsOf returns the events that start a finding, none if its check is not among the options'.
func (f *finder) startsOf(finding *check.Finding) check.Starts {
	if x := check.Find(f.options.Checks, finding.Check); x != nil {
		return check.ParseStarts(x.Starts)
	}
	return check.Starts{}
}

// mostStarts is how many events are looked at for the start of one finding.
const mostStarts = 3

// trackOf finds the events that may have started a finding: of those that its check names, the ones that have most in common with it,
// the newest first; of settings and nodes that are named themselves, also those that concern all.
func (f *finder) trackOf(o *Onset) track {
	t := track{onset: o, last: -1}
	c := f.report.Cluster
	row, subject := f.startsOf(o.Finding), subjectOf(c, o.Finding)
	object := bare(o.Finding.Object)
	var list []scored
	for i := len(f.events) - 1; i >= 0; i-- {
		e := &f.events[i]
		if e.Revision > c.Origin.Revision {
			continue
		}
		of := object.ID != "" && bare(e.Object) == object
		if t.last < 0 && of {
			t.last = i
		}
		at := slices.IndexFunc(row.First, func(x check.EventFilter) bool { return x.Matches(e) })
		if at < 0 {
			continue
		}
		shares := subject.shares(e)
		if of {
			shares += sharesObject
		}
		if shares >= sharesCollection || shares >= sharesCluster && row.First[at].Of != "" {
			list = append(list, scored{i, shares})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	for _, x := range list[:min(mostStarts, len(list))] {
		t.starts = append(t.starts, x.at)
	}
	return t
}

// before returns the events before a finding began that are most likely its cause, the likeliest first, at most so many. Where it is not
// known when it began, it is those before the report; where it is older than the history, none.
func (f *finder) before(t *track, most int) []history.Event {
	o := t.onset
	if o.AtLeast {
		return nil
	}
	c := f.report.Cluster
	revision, at := o.Revision, o.Began
	if o.Unknown != "" {
		revision, at = c.Origin.Revision, c.Origin.Taken
	}
	row, subject := f.startsOf(o.Finding), subjectOf(c, o.Finding)
	end := sort.Search(len(f.events), func(i int) bool { return f.events[i].Revision > revision })
	var list []scored
	for i := end - 1; i >= max(0, end-mostEvents); i-- {
		e := &f.events[i]
		ago := time.Duration(0)
		if !at.IsZero() && !e.Time.IsZero() {
			ago = max(0, at.Sub(e.Time))
		}
		if ago > reach+row.Waits {
			break
		}
		likely := likely(&row, e)
		if o.Unknown != "" && likely < likelyOther {
			continue // nothing says that it was near
		}
		weight := 1.0
		if e.Revision > t.after && o.Unknown == "" { // it may be the very change that the check sees, whatever it is
			likely, weight = max(likely, likelyOther), verySame
		}
		score := weight * likely * subject.shares(e) * (1 - nearness(ago, row.Waits))
		if score >= leastScore {
			list = append(list, scored{i, score})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	events := make([]history.Event, 0, most)
	for _, s := range list[:min(most, len(list))] {
		events = append(events, f.history.Event(s.at))
	}
	return events
}

// nearness is by how much less an event counts that was so long ago: nothing within what the check waits for.
func nearness(ago, waits time.Duration) float64 {
	over := float64(max(0, ago-waits))
	return over / (over + float64(fades))
}

// subject is what a finding is about, and what that belongs to.
type subject struct {
	cluster     *model.Cluster
	direct      map[model.Ref]bool
	owners      map[model.Ref]bool
	collections map[string]bool
	nodes       map[model.NodeID]bool
	lacks       string
}

func subjectOf(c *model.Cluster, f *check.Finding) *subject {
	s := &subject{
		cluster: c, direct: map[model.Ref]bool{}, owners: map[model.Ref]bool{}, collections: map[string]bool{}, nodes: map[model.NodeID]bool{}, lacks: f.Lacks,
	}
	for _, r := range slices.Concat([]model.Ref{f.Object}, f.Objects) {
		s.direct[bare(r)] = true
		s.own(r)
	}
	return s
}

// bare is a Ref without its name, which changes.
func bare(r model.Ref) model.Ref { return model.Ref{Resource: r.Resource, ID: r.ID} }

// How much an event has in common with a finding.
const (
	sharesObject     = 1.0
	sharesOwner      = 0.85
	sharesCollection = 0.7
	sharesCluster    = 0.6 // what concerns all: nodes, settings, resource groups
	sharesNothing    = 0.3
)

func (s *subject) shares(e *history.Event) float64 {
	switch {
	case s.direct[bare(e.Object)], s.lacks != "" && isOfRole(e.Object, s.lacks):
		return sharesObject
	case s.owners[bare(e.Object)], s.touches(e):
		return sharesOwner
	case s.collections[e.Collection.ID] || e.Object.Resource == "collections" && s.collections[e.Object.ID]:
		return sharesCollection
	}
	switch e.Object.Resource {
	case "nodes", "config", "resource-groups":
		return sharesCluster
	}
	if len(s.collections) == 0 && s.direct[model.Ref{}] { // about the whole cluster
		return sharesCluster
	}
	return sharesNothing
}
