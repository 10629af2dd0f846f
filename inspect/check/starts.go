package check

import (
	"slices"
	"strings"
	"time"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// Starts are the events that start what a check finds. A finding began with the newest of First that is about its object, or about what
// its object belongs to (package onset).
type Starts struct {
	// First are those that start it as a rule, Others those that can.
	First, Others []EventFilter
	// Waits is the longest time between such an event and a finding, beyond the usual: what the check itself waits for.
	Waits time.Duration
}

// EventFilter matches events of a kind, of some nodes or settings only where Of is set.
type EventFilter struct {
	Kind history.Kind
	Of   string
}

// ParseStarts parses Check.Starts: kinds of events, the rule before "|", the others after it; of nodes of one role, or of one setting, with
// that after a colon; in front a duration, which is Waits. "1h segment_created node_lost:datanode | config_changed:segment".
func ParseStarts(text string) (s Starts) {
	list := &s.First
	for word := range strings.FieldsSeq(text) {
		if word == "|" {
			list = &s.Others
			continue
		}
		if d, err := time.ParseDuration(word); err == nil {
			s.Waits = d
			continue
		}
		kind, of, _ := strings.Cut(word, ":")
		*list = append(*list, EventFilter{history.Kind(kind), of})
	}
	return s
}

// EventKinds returns the kinds of events that can be the cause of what x finds: those that start it, and the others.
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

// Matches reports whether an event is one that is meant.
func (f *EventFilter) Matches(e *history.Event) bool {
	if f.Kind != e.Kind {
		return false
	}
	if f.Of == "" {
		return true
	}
	if e.Object.Resource == "config" {
		return strings.Contains(model.FoldConfigKey(e.Object.ID), model.FoldConfigKey(f.Of))
	}
	// All of them in one process, and all coordinators.
	role, _, _ := strings.Cut(e.Object.ID, "-")
	return role == f.Of || role == "standalone" || role == "mixcoord" && strings.HasSuffix(f.Of, "coord")
}
