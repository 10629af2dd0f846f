package check

import "testing"

// TestThreshold checks that a run fails on findings that are severe enough and, compared with an older report, new
// or worse.
func TestThreshold(t *testing.T) {
	warning, bad := &Finding{Severity: Warning}, &Finding{Severity: Error}
	report := &Report{Findings: []*Finding{warning, bad}}
	since := func(kind ChangeKind) *Comparison { return &Comparison{Changes: []Change{{After: bad, Kind: kind}}} }
	for _, test := range []struct {
		name         string
		bar          Threshold
		since        *Comparison
		warning, bad bool
	}{
		{"all", Threshold{}, nil, true, true},
		{"errors", Threshold{FailOn: Error}, nil, false, true},
		{"never", Threshold{Never: true}, nil, false, false},
		{"new", Threshold{FailOn: Error}, since(New), false, true},
		{"worse", Threshold{FailOn: Error}, since(Worse), false, true},
		{"not seen before", Threshold{FailOn: Error}, since(Unsure), false, true},
		{"as it was", Threshold{FailOn: Error}, since(Same), false, false},
		{"better", Threshold{FailOn: Error}, since(Better), false, false},
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
