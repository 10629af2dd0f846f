package check

import "math"

// ChangeKind is the kind of change of a finding between two reports.
type ChangeKind uint8

// The kinds of changes.
const (
	Same ChangeKind = iota
	New
	Worse
	Better
	// Gone: the check saw everything, and the finding is no longer there.
	Gone
	// Unsure: the finding is there now. It may have been there before, when the check could not look.
	Unsure
	// Lost: the finding was there before. It may still be there, but the check cannot look now.
	Lost
)

func (k ChangeKind) String() string {
	return [...]string{"same", "new", "worse", "better", "gone", "unsure", "lost"}[min(k, Lost)]
}

// Change is the change of one finding between two reports.
type Change struct {
	Kind ChangeKind
	// Before is nil for New and Unsure, After for Gone and Lost.
	Before, After *Finding
	// Why is the reason why the check could not look, for Unsure and Lost.
	Why string
}

// Finding returns the newer of the two findings.
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

// Comparison holds the differences between two reports.
type Comparison struct {
	Before *Report
	// Changes holds the changes of the newer report's findings, in their order, then of those that are no
	// longer there.
	Changes []Change
}

// Since compares a report with an older one. Findings match if they are of the same check and object. Objects
// are compared as by a Baseline.
func Since(before, after *Report) *Comparison {
	old := earlierState{report: before, findings: before.Findings, judged: before.Judged, changeKind: changeKind}
	return &Comparison{before, old.compare(after)}
}

// ChangeOf returns the change of a finding of the newer report, or nil.
func (c *Comparison) ChangeOf(f *Finding) *Change {
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

// Judged reports whether a check saw everything. If not, why is the reason.
func (r *Report) Judged(id string) (all bool, why string) {
	for _, x := range r.Results {
		if x.Check.ID != id {
			continue
		}
		switch {
		case x.Status == Skipped || x.Status == Broken:
			return false, x.Reason
		case len(x.Unseen) > 0:
			return false, incompletePrefix + summary(x.Unseen)
		}
		return true, ""
	}
	return false, "the check did not run"
}

// earlierState holds an older state for comparison.
type earlierState struct {
	report     *Report
	findings   []*Finding
	judged     func(check string) (bool, string)
	changeKind func(before, after *Finding) ChangeKind
}

func (m *earlierState) compare(after *Report) []Change {
	changes := make([]Change, 0, len(after.Findings))
	matched := m.match(after)
	had := make(map[*Finding]bool)
	for _, f := range after.Findings {
		before := matched[f]
		had[before] = true
		c := Change{Kind: New, Before: before, After: f}
		switch all, why := m.judged(f.Check); {
		case before != nil:
			c.Kind = m.changeKind(before, f)
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
		} else if after.changedDuringQuery(f) {
			c.Kind, c.Why = Lost, "it changed while the processes were queried"
		}
		changes = append(changes, c)
	}
	return changes
}

// match returns the older finding of each newer one: first by id, then by other names of the object.
func (m *earlierState) match(after *Report) map[*Finding]*Finding {
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
			take(f, ids[f.Check+" "+key]) // a segment that was compacted since then
		}
	}
	return matched
}

// Minimum changes for a finding to be worse or better. Values of a cluster under load differ in each report.
const (
	costStep  = 0.02 // share of all query work
	shareStep = 0.1  // share of the larger value
)

// changeKind compares a finding with an older one: by severity, then by cost, then by the number of objects.
func changeKind(before, after *Finding) ChangeKind {
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

// minCostGrowth is the minimum growth of a tracked finding's cost that counts as a change.
const minCostGrowth = 0.1

// trackedChangeKind is like changeKind for a tracked finding. before is the finding as it was last reported. Only a
// doubling counts as a change, so values that rise and fall are not reported each time.
func trackedChangeKind(before, after *Finding) ChangeKind {
	m, n := len(before.Objects), len(after.Objects)
	switch {
	case before.Severity != after.Severity:
		return direction(after.Severity > before.Severity)
	case after.Cost >= 2*before.Cost && after.Cost-before.Cost >= minCostGrowth, m > 0 && n >= 2*m:
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

// Tracker tracks changes between the reports of one cluster, after a Hold. A finding is New only once: it is
// not New again after its check could not look for a while. It is Gone only if the check looked.
type Tracker struct {
	last       *Report
	known      []*Finding
	judged     map[string]bool
	incomplete map[string]string
}

// CoverageChange is a check that can no longer see everything, or can again.
type CoverageChange struct {
	Check *Check
	// Why is the reason, "" if the check can see everything again.
	Why string
}

// Next returns the changes since the last report. In the first report everything is New. It omits Same, and
// also Lost because the CoverageChange of the check covers it.
func (t *Tracker) Next(r *Report) (changes []Change, blind []CoverageChange) {
	if t.last == nil {
		t.last, t.judged, t.incomplete = &Report{Cluster: r.Cluster}, make(map[string]bool), make(map[string]string)
	}
	first := t.last.Results == nil
	old := earlierState{report: t.last, findings: t.known, judged: func(id string) (bool, string) {
		return first || t.judged[id], "it was not checked before"
	}, changeKind: trackedChangeKind}
	t.last, t.known = r, nil
	for _, c := range old.compare(r) {
		switch c.Kind {
		case Same: // keep the reported values, so many small steps add up
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
		if why != t.incomplete[x.Check.ID] {
			blind = append(blind, CoverageChange{x.Check, why})
		}
		t.incomplete[x.Check.ID] = why
	}
	return changes, blind
}
