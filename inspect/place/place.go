// Package place finds the component where requests break: a process, a host, etcd, the message queue or the storage.
// Find takes a Cluster and its impact.Impact, and returns Places.
//
//  1. Each component gets a state, e.g. hanging, and a strength, from evidence in the Cluster: counters of its
//     callers, calls, probes, processor time (evidence.go, callers.go, pace.go). Findings of checks are not evidence.
//  2. graph.go lists the components that each kind of request passes, and those that they depend on, by release.
//  3. For a kind of request that clients notice or that is doubtful, the bad components on its path are candidates. A
//     bad dependency with at least as strong evidence replaces the component that depends on it (walk.go).
//  4. The Place is the candidate where about as many operations failed as requests did, else the one with the
//     strongest evidence. The others are kept as Others.
//
// Package check makes the finding about that component the cause of the finding about the requests.
package place

import (
	"cmp"
	"slices"

	"kitescope/inspect/impact"
	"kitescope/inspect/model"
)

// State is the condition of a component.
type State uint8

// The states, in ascending order of severity.
const (
	Unknown State = iota
	Fine
	Starved // of CPU or memory
	Slow
	Refusing
	Failing
	Hanging
	Gone
)

func (s State) String() string {
	return [...]string{"unknown", "fine", "starved", "slow", "refusing", "failing", "hanging", "gone"}[min(s, Gone)]
}

// Bad reports whether a component in the state harms requests.
func (s State) Bad() bool { return s > Fine }

// Strength is the confidence in a state.
type Strength uint8

// The strengths: no evidence, a hint, one good measurement, and measurements that agree or have no other
// explanation.
const (
	None Strength = iota
	Weak
	Medium
	Strong
)

func (s Strength) String() string {
	return [...]string{"none", "weak", "medium", "strong"}[min(s, Strong)]
}

// Component is a Milvus process or a dependency of processes.
type Component struct {
	// Kind is the role of the process, or one of Etcd, Queue, Storage and Host.
	Kind Kind
	// Name is the name of the session, e.g. "datacoord-22", or of the host. It is "" for other components and
	// for roles without processes.
	Name string
}

// Ref returns the session of a process, or the zero Ref for other components.
func (c Component) Ref() model.Ref {
	if c.Kind == "" || !c.Kind.Process() || c.Name == "" {
		return model.Ref{}
	}
	return model.Ref{Resource: "nodes", ID: c.Name, Name: c.Name}
}

// Evidence is one observation of a component.
type Evidence struct {
	State    State
	Strength Strength
	// Text is a clause for messages, e.g. "3 of 7 calls timed out (GetMetrics, GetRecoveryInfoV2)".
	Text string
	// Source is the source of the measurement: the session of a caller, "consumers", or "kitescope" for
	// reads of etcd. It is "" for the component itself and other measurements of kitescope.
	Source string
	// Probed is true if the evidence is from probes, calls for the state of a process.
	Probed bool
	// Failed is the number of operations that failed, or 0 if the evidence is about something else.
	Failed float64
}

// Status is the state of a component with all evidence.
type Status struct {
	Component Component
	State     State
	Strength  Strength
	// Evidence begins with the piece that determines the state.
	Evidence []Evidence
}

// Texts returns the texts of the evidence that agrees with the state, bad or not.
func (s *Status) Texts() []string {
	var list []string
	for i := range s.Evidence {
		if s.Evidence[i].State.Bad() == s.State.Bad() {
			list = append(list, s.Evidence[i].Text)
		}
	}
	return list
}

// Hop is one component on the path of a request.
type Hop struct {
	// Work is the work of the component for the request, e.g. "timestamps, schemas" or "keeps messages".
	Work string
	Kind Kind
	// Dependent is the kind of component that depends on this one, or "" if the request passes it.
	Dependent Kind
	// Worst is the component of the kind in the worst state, or nil if there is none.
	Worst *Status
}

// State returns the state of the hop.
func (h *Hop) State() State {
	if h.Worst == nil {
		return Unknown
	}
	return h.Worst.State
}

// Place is the location where requests of a kind break.
type Place struct {
	Request impact.Request
	// Status is the likeliest of the bad components on the path and their dependencies. nil is unknown.
	Status *Status
	// Others are the other bad components on the path, the likeliest first.
	Others []*Status
	Path   []Hop
	// Unknown are the kinds of components on the path whose state is unknown.
	Unknown []Kind
	// Equal is true if about as many operations failed at the component as requests failed.
	Equal bool
}

// Places holds the states of all components, and the places where requests break. It is immutable.
type Places struct {
	// Components are all components, the worst first.
	Components []*Status
	// ByRequest has an entry for each kind of request that is felt or doubtful, in the order of impact.Requests.
	ByRequest []Place
}

// For returns the place where a kind of request breaks, or nil if the kind is neither felt nor doubtful.
func (p *Places) For(r impact.Request) *Place {
	if p == nil {
		return nil
	}
	for i := range p.ByRequest {
		if p.ByRequest[i].Request == r {
			return &p.ByRequest[i]
		}
	}
	return nil
}

// Find judges the components of a cluster and finds where the requests of an impact break.
func Find(c *model.Cluster, x *impact.Impact) *Places {
	l := newAnalysis(c)
	l.impact = x
	l.observe()
	p := &Places{}
	for _, part := range l.parts {
		p.Components = append(p.Components, &part.Status)
	}
	for i := range x.Kinds {
		if k := &x.Kinds[i]; k.State.AffectsClients() || k.Doubtful() {
			p.ByRequest = append(p.ByRequest, l.locate(k))
		}
	}
	slices.SortStableFunc(p.Components, func(a, b *Status) int {
		return cmp.Or(cmp.Compare(b.grade(), a.grade()), cmp.Compare(b.State, a.State))
	})
	return p
}

// grade returns the strength of a bad state, or None for other states.
func (s *Status) grade() Strength {
	if s.State.Bad() {
		return s.Strength
	}
	return None
}

// fold sets the state and strength from the evidence. The strongest evidence decides, and the worst state if
// several are equally strong. Two medium observations by different witnesses are strong together.
func (s *Status) fold() {
	medium := map[string]bool{}
	for i := range s.Evidence {
		if e := &s.Evidence[i]; e.State.Bad() && e.Strength == Medium {
			medium[e.Source] = true
		}
	}
	slices.SortStableFunc(s.Evidence, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(b.State, a.State))
	})
	s.State, s.Strength = Unknown, None
	if len(s.Evidence) == 0 {
		return
	}
	s.State, s.Strength = s.Evidence[0].State, s.Evidence[0].Strength
	if s.State.Bad() && s.Strength == Medium && len(medium) > 1 {
		s.Strength = Strong
	}
}
