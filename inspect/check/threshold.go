package check

import "slices"

// Threshold decides which findings make a run fail. The zero Threshold fails on all findings.
type Threshold struct {
	// FailOn is the lowest severity that fails the run. If Never is true, no finding fails it.
	FailOn Severity
	Never  bool
}

// Fails reports whether a finding makes the run fail: it is at least as severe as FailOn and, if there is an
// older report, new, worse or unsure. since is nil if there is no older report.
func (b Threshold) Fails(f *Finding, since *Comparison) bool {
	if b.Never || f.Severity < b.FailOn {
		return false
	}
	c := since.ChangeOf(f)
	return c == nil || c.Kind == New || c.Kind == Worse || c.Kind == Unsure
}

// Failing reports whether any finding of a report makes the run fail.
func (b Threshold) Failing(r *Report, since *Comparison) bool {
	return slices.ContainsFunc(r.Findings, func(f *Finding) bool { return b.Fails(f, since) })
}
