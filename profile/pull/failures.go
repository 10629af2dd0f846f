package pull

import (
	"fmt"
	"slices"
	"strings"
)

// Failure is a reason for missing profiles, with the affected nodes and kinds.
type Failure struct {
	Outcome      Outcome
	Reason, Hint string
	Nodes, Kinds []string
}

// Failures returns the distinct reasons of failed profiles.
func (m *Manifest) Failures() []*Failure {
	var list []*Failure
	for i := range m.Profiles {
		e := &m.Profiles[i]
		if e.Outcome == OK {
			continue
		}
		at := slices.IndexFunc(list, func(f *Failure) bool { return f.Outcome == e.Outcome && f.Reason == e.Error })
		if at < 0 {
			at = len(list)
			list = append(list, &Failure{Outcome: e.Outcome, Reason: e.Error, Hint: e.Hint})
		}
		f := list[at]
		if !slices.Contains(f.Nodes, e.Node) {
			f.Nodes = append(f.Nodes, e.Node)
		}
		if kind := string(e.Kind); !slices.Contains(f.Kinds, kind) {
			f.Kinds = append(f.Kinds, kind)
		}
	}
	return list
}

// String returns one line, e.g. "no mutex profile of querynode-3 and 2 others: not found: 404".
func (f *Failure) String() string {
	whom := f.Nodes[0]
	if n := len(f.Nodes) - 1; n > 0 {
		whom += fmt.Sprintf(" and %d others", n)
	}
	text := fmt.Sprintf("no %s profile of %s: %s: %s", strings.Join(f.Kinds, ", "), whom, f.Outcome, f.Reason)
	if f.Hint != "" {
		text += " (" + f.Hint + ")"
	}
	return text
}
