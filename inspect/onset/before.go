package onset

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// Past are the events that can have caused findings.
type Past struct {
	history *history.History
	// events are without their messages, in order of revision.
	events []history.Event
}

// NewPast takes the events of a history.
func NewPast(h *history.History) *Past {
	p := &Past{history: h, events: make([]history.Event, h.Len())}
	for i := range p.events {
		p.events[i] = h.Brief(i)
	}
	return p
}

const (
	// reach is how far back causes are looked for, beyond what a check waits for itself; fades is after which time an event counts half.
	reach = 10 * time.Minute
	fades = time.Minute
	// verySame is what the revision counts at which a finding begins.
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

// Explain finds the events before each finding of a cluster, at most so many.
func (p *Past) Explain(c *model.Cluster, list []Onset, most int) {
	for i := range list {
		list[i].Before = p.before(c, &list[i], most)
	}
}

// before are the events before a finding began that are most likely its cause, the likeliest first, at most so many. c is the cluster
// that it was found in. Where it is not known when it began, it is those before that cluster; where it is older than the history, none.
func (p *Past) before(c *model.Cluster, o *Onset, most int) []history.Event {
	if o.AtLeast {
		return nil
	}
	revision, at := o.Revision, o.Began
	if o.Unknown != "" {
		revision, at = c.Origin.Revision, c.Origin.Taken
	}
	row, subject := causeOf(o.Finding.Check), subjectOf(c, o.Finding)
	end := sort.Search(len(p.events), func(i int) bool { return p.events[i].Revision > revision })
	var list []scored
	for i := end - 1; i >= max(0, end-mostEvents); i-- {
		e := &p.events[i]
		ago := time.Duration(0)
		if !at.IsZero() && !e.Time.IsZero() {
			ago = max(0, at.Sub(e.Time))
		}
		if ago > reach+row.waits {
			break
		}
		likely := row.likely(e)
		if o.Unknown != "" && likely < likelyOther {
			continue // nothing says that it was near
		}
		weight := 1.0
		if e.Revision == revision && o.Unknown == "" { // it may be the very change that the check sees, whatever it is
			likely, weight = max(likely, likelyOther), verySame
		}
		score := weight * likely * subject.shares(e) * (1 - nearness(ago, row.waits))
		if score >= leastScore {
			list = append(list, scored{i, score})
		}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	events := make([]history.Event, 0, most)
	for _, s := range list[:min(most, len(list))] {
		events = append(events, p.history.Event(s.at))
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
