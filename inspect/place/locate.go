package place

import (
	"cmp"
	"math"
	"slices"

	"kitescope/inspect/impact"
)

// locate finds the component where requests of a kind break.
func (l *analysis) locate(k *impact.Kind) Place {
	p := Place{Request: k.Request}
	seen := map[Kind]bool{}
	for _, s := range l.steps(k.Request) {
		parts := l.components(s.kind)
		// Only the proxies where requests break.
		if s.kind == proxy && len(p.Path) == 0 && len(k.Proxies) > 0 {
			parts = slices.DeleteFunc(slices.Clone(parts), func(part *part) bool {
				return !slices.Contains(k.Proxies, part.Component.Ref())
			})
		}
		p.Path = append(p.Path, Hop{Work: s.work, Kind: s.kind, Worst: worst(parts)})
		seen[s.kind] = true
	}
	for _, s := range l.steps(k.Request) {
		for _, d := range l.dependencies(s.kind) {
			if !seen[d] {
				seen[d] = true
				p.Path = append(p.Path, Hop{
					Work: "needed by " + string(s.kind), Kind: d, Dependent: s.kind, Worst: worst(l.components(d)),
				})
			}
		}
	}
	var list []candidate
	add := func(c candidate) {
		if c.setWeight(k); !slices.ContainsFunc(list, func(had candidate) bool { return had.status == c.status }) {
			list = append(list, c)
		}
	}
	for i := range p.Path {
		h := &p.Path[i]
		if h.State() == Unknown && !slices.Contains(p.Unknown, h.Kind) {
			p.Unknown = append(p.Unknown, h.Kind)
		}
		if h.State().Bad() {
			add(candidate{status: l.rootCause(h.Worst), passed: l.countFine(h.Kind)})
		}
		if k.State != impact.Slow {
			continue
		}
		// If a host lacks CPU, all processes are a little late and no process stands out.
		for _, part := range l.components(h.Kind) {
			if host := l.overloadedHost(part); host != nil {
				add(candidate{status: &host.Status})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.passed, b.passed))
	})
	for i, c := range list {
		if i == 0 {
			p.Status, p.Equal = c.status, c.equal
			continue
		}
		p.Others = append(p.Others, c.status)
	}
	return p
}

// candidate is a bad component on the path of a request.
type candidate struct {
	status *Status
	// equal is true if about as many operations failed there as requests. passed is the number of kinds of
	// requests that pass the component and are fine.
	equal  bool
	passed int
	weight int
}

// setWeight grades a component as the explanation for a kind of request. A component where as many operations
// failed weighs most. Then stronger evidence counts. For failures, a component that refuses, fails, hangs or
// is gone weighs more than a slow one.
func (c *candidate) setWeight(k *impact.Kind) {
	for i := range c.status.Evidence {
		n := c.status.Evidence[i].Failed
		if n >= minFailed && math.Abs(n-k.Failed-k.Refused) <= 0.1*n {
			c.equal = true
		}
	}
	c.weight = 2 * int(c.status.Strength)
	if c.equal {
		c.weight += 10
	}
	if k.State == impact.Slow || c.status.State >= Refusing {
		c.weight++
	}
}

// countFine counts the kinds of requests that pass a kind of component and are fine.
func (l *analysis) countFine(kind Kind) int {
	n := 0
	for i := range l.impact.Kinds {
		k := &l.impact.Kinds[i]
		if k.State == impact.Fine && k.Succeeded > 0 &&
			slices.ContainsFunc(l.steps(k.Request), func(s step) bool { return s.kind == kind }) {
			n++
		}
	}
	return n
}

// rootCause returns the component that makes a bad component bad, or the component itself. It is a bad
// dependency with at least as strong evidence, at least one piece of which is from another witness, or the
// host of a slow or starved component. A hanging etcd with strong evidence comes first.
func (l *analysis) rootCause(s *Status) *Status {
	p := l.partOf(s)
	if p == nil {
		return s
	}
	// Each process keeps its session in etcd.
	if e := l.role[Etcd][0]; e.State >= Hanging && e.Strength == Strong && p != e && s.State >= Hanging {
		return &e.Status
	}
	for _, kind := range p.roles {
		for _, d := range l.dependencies(kind) {
			next := worst(l.components(d))
			if next != nil && next != s && next.State.Bad() && next.Strength >= s.Strength && next.State >= Slow &&
				slices.ContainsFunc(next.Evidence, func(e Evidence) bool {
					return e.State.Bad() && e.Source != s.Component.Name
				}) {
				return l.rootCause(next)
			}
		}
	}
	if host := l.overloadedHost(p); host != nil && host.Strength >= s.Strength &&
		(s.State == Slow || s.State == Starved) {
		return &host.Status
	}
	return s
}

// worst returns the component in the worst state, or nil if there are none. Bad components rank first, by
// strength, then unknown ones.
func worst(parts []*part) *Status {
	var w *Status
	rank := func(s *Status) int {
		switch {
		case s.State.Bad():
			return 10*int(s.Strength) + int(s.State)
		case s.State == Unknown:
			return 1
		}
		return 0
	}
	for _, p := range parts {
		if w == nil || rank(&p.Status) > rank(w) {
			w = &p.Status
		}
	}
	return w
}
