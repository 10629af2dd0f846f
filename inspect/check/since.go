package check

import "math"

// ChangeKind says what has become of a finding.
type ChangeKind uint8

// The kinds of changes.
const (
	Same ChangeKind = iota
	New
	Worse
	Better
	// Gone: the check looked at everything, and it is no longer there.
	Gone
	// Unsure: it is there, and it may have been before: then the check could not look.
	Unsure
	// Lost: it was there, and it may still be: now the check cannot look.
	Lost
)

func (k ChangeKind) String() string {
	return [...]string{"same", "new", "worse", "better", "gone", "unsure", "lost"}[min(k, Lost)]
}

// Change is one finding in two reports.
type Change struct {
	Kind ChangeKind
	// Before is nil for New and Unsure, After for Gone and Lost.
	Before, After *Finding
	// Why says of Unsure and Lost what kept the check from looking.
	Why string
}

// Finding is the newer of the two.
func (c *Change) Finding() *Finding {
	if c.After != nil {
		return c.After
	}
	return c.Before
}

// Worst returns the greater severity of the two.
func (c *Change) Worst() Severity {
	if c.Before != nil {
		return max(c.Before.Severity, c.Finding().Severity)
	}
	return c.After.Severity
}

// Comparison is what two reports differ in.
type Comparison struct {
	Before *Report
	// Changes are those of the newer report's findings, in their order, then what is no longer there.
	Changes []Change
}

// Since compares a report with an older one. Findings are matched by check and object; objects as a
// Baseline does.
func Since(before, after *Report) *Comparison {
	old := memory{report: before, findings: before.Findings, judged: before.Judged, develop: develop}
	return &Comparison{before, old.compare(after)}
}

// Of is the change of a finding of the newer report, nil if it is not one of those.
func (c *Comparison) Of(f *Finding) *Change {
	if c == nil {
		return nil
	}
	for i := range c.Changes {
		if c.Changes[i].After == f {
			return &c.Changes[i]
		}
	}
	return nil
}

// Judged reports whether a check looked at everything; why says what it did not see.
func (r *Report) Judged(id string) (all bool, why string) {
	for _, x := range r.Results {
		if x.Check.ID != id {
			continue
		}
		switch {
		case x.Status == Skipped || x.Status == Broken:
			return false, x.Reason
		case len(x.Unseen) > 0:
			return false, notFully + summary(x.Unseen)
		}
		return true, ""
	}
	return false, "the check did not run"
}

// memory is what is known of an older state.
type memory struct {
	report   *Report
	findings []*Finding
	judged   func(check string) (bool, string)
	develop  func(before, after *Finding) ChangeKind
}

func (m *memory) compare(after *Report) []Change {
	changes := make([]Change, 0, len(after.Findings))
	matched := m.match(after)
	had := make(map[*Finding]bool)
	for _, f := range after.Findings {
		before := matched[f]
		had[before] = true
		c := Change{Kind: New, Before: before, After: f}
		switch all, why := m.judged(f.Check); {
		case before != nil:
			c.Kind = m.develop(before, f)
		case !all:
			c.Kind, c.Why = Unsure, why
		}
		changes = append(changes, c)
	}
	for _, f := range m.findings {
		if had[f] {
			continue
		}
		c := Change{Kind: Gone, Before: f}
		if all, why := after.Judged(f.Check); !all {
			c.Kind, c.Why = Lost, why
		} else if after.unsettled(f) {
			c.Kind, c.Why = Lost, "it changed while the processes were asked"
		}
		changes = append(changes, c)
	}
	return changes
}

// match finds the older finding of each newer one: first by id, then by what else names an object.
func (m *memory) match(after *Report) map[*Finding]*Finding {
	ids, others := make(map[string]*Finding), make(map[string]*Finding)
	for _, f := range m.findings {
		keys := identities(m.report.Cluster, f.Object)
		ids[f.Check+" "+keys[0]] = f
		for _, key := range keys[1:] {
			others[f.Check+" "+key] = f
		}
	}
	matched, taken := make(map[*Finding]*Finding), make(map[*Finding]bool)
	take := func(f, before *Finding) {
		if before != nil && !taken[before] && matched[f] == nil {
			matched[f], taken[before] = before, true
		}
	}
	for _, f := range after.Findings {
		take(f, ids[f.Check+" "+identities(after.Cluster, f.Object)[0]])
	}
	for _, f := range after.Findings {
		for _, key := range identities(after.Cluster, f.Object)[1:] {
			take(f, others[f.Check+" "+key])
			take(f, ids[f.Check+" "+key]) // a segment that was compacted since
		}
	}
	return matched
}

// What must have changed before a finding is called worse or better: figures of a cluster under
// load are never the same twice.
const (
	costStep  = 0.02 // of all query work
	shareStep = 0.1  // of the larger figure
)

// develop compares one finding with how it was: by severity, by cost, then by the number of objects.
func develop(before, after *Finding) ChangeKind {
	if before.Severity != after.Severity {
		return direction(after.Severity > before.Severity)
	}
	a, b := before.Cost, after.Cost
	if d := math.Abs(a - b); d >= costStep && d >= shareStep*max(a, b) {
		return direction(b > a)
	}
	m, n := float64(len(before.Objects)), float64(len(after.Objects))
	if d := math.Abs(m - n); d >= 1 && d >= shareStep*max(m, n) {
		return direction(n > m)
	}
	return Same
}

// leap is how much the cost of a finding that is followed must grow to be worth a change of its own.
const leap = 0.1

// developWatched is develop of a finding that is followed, of which before is the worst that was reported: figures that
// rise and fall must not count each time, so only a doubling does.
func developWatched(before, after *Finding) ChangeKind {
	m, n := len(before.Objects), len(after.Objects)
	switch {
	case before.Severity != after.Severity:
		return direction(after.Severity > before.Severity)
	case after.Cost >= 2*before.Cost && after.Cost-before.Cost >= leap, m > 0 && n >= 2*m:
		return Worse
	}
	return Same
}

func direction(worse bool) ChangeKind {
	if worse {
		return Worse
	}
	return Better
}

// Tracker follows the reports of one cluster, which a Hold has steadied. A finding is new once: that a check could not look for
// a while does not make it new again, and nothing is gone before somebody looked.
type Tracker struct {
	last   *Report
	known  []*Finding
	judged map[string]bool
	blind  map[string]string
}

// Blindness is a check that can no longer look, or can again.
type Blindness struct {
	Check *Check
	// Why is what keeps it from looking, "" if nothing does any more.
	Why string
}

// Next tells what has changed since the report before: of the first report everything is New. Same is
// left out, and so is Lost, for which there is the Blindness of its check.
func (t *Tracker) Next(r *Report) (changes []Change, blind []Blindness) {
	if t.last == nil {
		t.last, t.judged, t.blind = &Report{Cluster: r.Cluster}, make(map[string]bool), make(map[string]string)
	}
	first := t.last.Results == nil
	old := memory{report: t.last, findings: t.known, judged: func(id string) (bool, string) {
		return first || t.judged[id], "it was not checked before"
	}, develop: developWatched}
	t.last, t.known = r, nil
	for _, c := range old.compare(r) {
		switch c.Kind {
		case Same: // as it was when it was reported: many small steps are a large one
			still := *c.After
			still.Severity, still.Cost, still.Objects = c.Before.Severity, c.Before.Cost, c.Before.Objects
			t.known = append(t.known, &still)
		case Lost:
			t.known = append(t.known, c.Before)
		case Gone:
			changes = append(changes, c)
		case New, Worse, Better, Unsure:
			t.known = append(t.known, c.After)
			changes = append(changes, c)
		}
	}
	for _, x := range r.Results {
		all, why := r.Judged(x.Check.ID)
		t.judged[x.Check.ID] = t.judged[x.Check.ID] || all
		if why != t.blind[x.Check.ID] {
			blind = append(blind, Blindness{x.Check, why})
		}
		t.blind[x.Check.ID] = why
	}
	return changes, blind
}
