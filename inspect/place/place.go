// Package place finds where in a cluster requests break: it holds the graph of what each kind of request passes and depends on, judges
// each component by generic evidence, and walks from a kind of request that clients feel to the first component
// that is bad and whose own dependencies are good.
package place

import (
	"cmp"
	"slices"

	"kitescope/inspect/impact"
	"kitescope/inspect/model"
)

// State is how a component does its work.
type State uint8

// The states, the worst last.
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

// Bad reports whether requests suffer from a component in the state.
func (s State) Bad() bool { return s > Fine }

// Strength is how sure a state is.
type Strength uint8

// The strengths: none, a hint, one good measurement, measurements that agree or that have no other explanation.
const (
	None Strength = iota
	Weak
	Medium
	Strong
)

func (s Strength) String() string {
	return [...]string{"none", "weak", "medium", "strong"}[min(s, Strong)]
}

// Component is a process of Milvus, or what its processes depend on.
type Component struct {
	// Kind is the role of the process, or one of Etcd, Queue, Storage and Host.
	Kind Kind
	// Name is that of the session, "datacoord-22", of a host, or "".
	Name string
}

// Ref returns the session of a process, the zero Ref of others.
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
	// Text is a clause for people: "3 of 7 calls timed out (GetMetrics, GetRecoveryInfoV2)".
	Text string
	// Witness is who measured it: the session of a caller; "" for kitescope and the component itself.
	Witness string
	// Probed reports that probes showed it, calls for the state of a process.
	Probed bool
	// Failed is the number of operations that failed, 0 where the evidence is something else.
	Failed float64
}

// Status is the state of a component with all evidence.
type Status struct {
	Component Component
	State     State
	Strength  Strength
	// Evidence has what the state is judged by first.
	Evidence []Evidence
}

// Texts returns the evidence for the state in words.
func (s *Status) Texts() []string {
	var list []string
	for i := range s.Evidence {
		if s.Evidence[i].State.Bad() == s.State.Bad() {
			list = append(list, s.Evidence[i].Text)
		}
	}
	return list
}

// Hop is a step of the path of a request.
type Hop struct {
	// Does is what the component does for the request: "timestamps, schemas", "keeps messages".
	Does string
	Kind Kind
	// For is the component that depends on this one, "" where the request passes it.
	For Kind
	// Worst is the component of the kind that is in the worst state, nil if there is none or nothing is known.
	Worst *Status
}

// State returns the state of the hop.
func (h *Hop) State() State {
	if h.Worst == nil {
		return Unknown
	}
	return h.Worst.State
}

// Place is where requests of a kind break.
type Place struct {
	Request impact.Request
	// At is the first component that is bad and whose dependencies are good; nil: unknown.
	At *Status
	// Also are other bad components on the path, the likeliest first.
	Also []*Status
	Path []Hop
	// Unknown are the kinds of components on the path about which nothing is known.
	Unknown []Kind
	// Equal reports that as many operations failed there as requests.
	Equal bool
}

// Places are the states of all components, and where requests break. It is immutable.
type Places struct {
	// Components are all, the worst first.
	Components []*Status
	// Of has an entry for each kind of request that is felt or doubtful, in the order of impact.Requests.
	Of []Place
}

// For returns the place where a kind of request breaks, nil if it is neither felt nor doubtful.
func (p *Places) For(r impact.Request) *Place {
	if p == nil {
		return nil
	}
	for i := range p.Of {
		if p.Of[i].Request == r {
			return &p.Of[i]
		}
	}
	return nil
}

// Of judges the components of a cluster and finds where the requests of an impact break.
func Of(c *model.Cluster, x *impact.Impact) *Places {
	l := newLook(c)
	l.impact = x
	l.observe()
	p := &Places{}
	for _, part := range l.parts {
		p.Components = append(p.Components, &part.Status)
	}
	for i := range x.Kinds {
		if k := &x.Kinds[i]; k.State.Felt() || k.Doubtful() {
			p.Of = append(p.Of, l.walk(k))
		}
	}
	slices.SortStableFunc(p.Components, func(a, b *Status) int {
		return cmp.Or(cmp.Compare(b.grade(), a.grade()), cmp.Compare(b.State, a.State))
	})
	return p
}

// grade orders states of components: bad ones by strength, then fine, then unknown.
func (s *Status) grade() Strength {
	if s.State.Bad() {
		return s.Strength
	}
	return None
}

// fold judges a component by its evidence: the strongest decides, the worst of equally strong. Two medium observations by different
// witnesses are strong together.
func (s *Status) fold() {
	medium := map[string]bool{}
	for i := range s.Evidence {
		if e := &s.Evidence[i]; e.State.Bad() && e.Strength == Medium {
			medium[e.Witness] = true
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
