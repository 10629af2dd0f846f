package check

import "testing"

// TestBar checks that a run fails on findings that are severe enough and, compared with an older report, new
// or worse.
func TestBar(t *testing.T) {
	warning, bad := &Finding{Severity: Warning}, &Finding{Severity: Error}
	report := &Report{Findings: []*Finding{warning, bad}}
	since := func(kind ChangeKind) *Comparison { return &Comparison{Changes: []Change{{After: bad, Kind: kind}}} }
	for _, test := range []struct {
		name         string
		bar          Bar
		since        *Comparison
		warning, bad bool
	}{
		{"all", Bar{}, nil, true, true},
		{"errors", Bar{FailOn: Error}, nil, false, true},
		{"never", Bar{Never: true}, nil, false, false},
		{"new", Bar{FailOn: Error}, since(New), false, true},
		{"worse", Bar{FailOn: Error}, since(Worse), false, true},
		{"not seen before", Bar{FailOn: Error}, since(Unsure), false, true},
		{"as it was", Bar{FailOn: Error}, since(Same), false, false},
		{"better", Bar{FailOn: Error}, since(Better), false, false},
	} {
		if got := test.bar.Fails(warning, test.since); got != test.warning {
			t.Errorf("%s: a warning fails: %t", test.name, got)
		}
		if got := test.bar.Fails(bad, test.since); got != test.bad {
			t.Errorf("%s: an error fails: %t", test.name, got)
		}
		if got := test.bar.Failing(report, test.since); got != (test.warning || test.bad) {
			t.Errorf("%s: the run fails: %t", test.name, got)
		}
	}
}
