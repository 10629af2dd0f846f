package check

import "slices"

// Bar says which findings make a run fail. The zero Bar is that of all findings.
type Bar struct {
	// FailOn is the severity from which one does; Never says that none does.
	FailOn Severity
	Never  bool
}

// Fails reports whether a finding makes the run fail: it is as bad as FailOn, and where there is an
// older state, it is not as it was. since is nil where there is none.
func (b Bar) Fails(f *Finding, since *Comparison) bool {
	if b.Never || f.Severity < b.FailOn {
		return false
	}
	c := since.Of(f)
	return c == nil || c.Kind == New || c.Kind == Worse || c.Kind == Unsure
}

// Failing reports whether any finding of a report does.
func (b Bar) Failing(r *Report, since *Comparison) bool {
	return slices.ContainsFunc(r.Findings, func(f *Finding) bool { return b.Fails(f, since) })
}
