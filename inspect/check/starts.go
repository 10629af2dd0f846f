package check

import (
	"slices"
	"strings"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// Starts holds the events that start a problem. A finding began with the newest event of First that is about
// its object, or about an owner of its object (package onset).
type Starts struct {
	// First holds the events that usually start it, Others the events that can.
	First, Others []EventFilter
	// MaxDelay is the longest additional time between such an event and a finding: the delay of the check
	// itself.
	MaxDelay time.Duration
}

// EventFilter matches events of a kind. If Subject is set, it matches only those of some nodes or settings.
type EventFilter struct {
	Kind    history.Kind
	Subject string
}

// ParseStarts parses Check.Starts: kinds of events, First before "|" and Others after it. A role or a setting
// after a colon restricts a kind. A duration sets MaxDelay: "1h segment_created node_lost:datanode |
// config_changed:segment".
func ParseStarts(text string) (s Starts) {
	list := &s.First
	for word := range strings.FieldsSeq(text) {
		if word == "|" {
			list = &s.Others
			continue
		}
		if d, err := time.ParseDuration(word); err == nil {
			s.MaxDelay = d
			continue
		}
		kind, of, _ := strings.Cut(word, ":")
		*list = append(*list, EventFilter{history.Kind(kind), of})
	}
	return s
}

// EventKinds returns the kinds of events that can start the problem of x: the usual ones and the others, each
// sorted.
func (x *Check) EventKinds() (first, others []history.Kind) {
	s := ParseStarts(x.Starts)
	kinds := func(list []EventFilter) (kinds []history.Kind) {
		for _, f := range list {
			kinds = append(kinds, f.Kind)
		}
		slices.Sort(kinds)
		return slices.Compact(kinds)
	}
	return kinds(s.First), kinds(s.Others)
}

// Matches reports whether the filter matches an event.
func (f *EventFilter) Matches(e *history.Event) bool {
	if f.Kind != e.Kind {
		return false
	}
	if f.Subject == "" {
		return true
	}
	if e.Object.Resource == "config" {
		return strings.Contains(model.FoldConfigKey(e.Object.ID), model.FoldConfigKey(f.Subject))
	}
	// A standalone process has all roles, MixCoord those of all coordinators.
	role, _, _ := strings.Cut(e.Object.ID, "-")
	return role == f.Subject || role == "standalone" || role == "mixcoord" && strings.HasSuffix(f.Subject, "coord")
}
