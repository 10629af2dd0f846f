package rules_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// reportContent holds the comparable content of a report.
type reportContent struct {
	Results  []check.Result
	Findings []*check.Finding
	Shares   []balance.Share
	Spreads  []balance.Spread
	Impact   []string
}

func contentOf(r *check.Report) reportContent {
	s := reportContent{Findings: r.Findings, Impact: []string{fmt.Sprint(*r.Impact)}}
	for _, x := range r.Places.Components {
		s.Impact = append(s.Impact, fmt.Sprint(x.Component, x.State, x.Evidence))
	}
	for _, x := range r.Results {
		x := *x
		x.Took = 0
		s.Results = append(s.Results, x)
	}
	for _, g := range r.Balance.Groups {
		s.Spreads = append(s.Spreads, g.Spread)
		for _, x := range g.Shares {
			s.Shares = append(s.Shares, *x)
		}
	}
	for _, x := range r.Balance.Nodes {
		s.Shares = append(s.Shares, *x)
	}
	return s
}

// TestJudgeIsNeverStale runs one Judge on a cluster through changes of every kind. It checks that each report
// equals the report of a new Judge.
func TestJudgeIsNeverStale(t *testing.T) {
	for seed := range uint64(3) {
		var judge check.Judge
		s := modeltest.NewChangingCluster(seed)
		judge.Run(s.Cluster(), s.Now, rules.All())
		for i := range 30 {
			what := s.Step()
			c := s.Cluster()
			want, got := contentOf(check.Run(c, s.Now, rules.All())), contentOf(judge.Run(c, s.Now, rules.All()))
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("seed %d, step %d: %s: the report is not that of a fresh judge:\n%s", seed, i, what,
					cmp.Diff(want.Results, got.Results, cmp.Comparer(func(a, b *check.Check) bool { return a == b })))
			}
		}
	}
}

// TestJudgeSeesSessionsGo checks that a Judge notices a session that is no longer registered while the
// responses of processes are unchanged.
func TestJudgeSeesSessionsGo(t *testing.T) {
	var judge check.Judge
	before := modeltest.Served()
	judge.Run(before, modeltest.Now, rules.All())
	p := before.Parts
	p.Loaded &^= model.PartRuntime
	p.Runtime = nil
	p.Sessions = slices.DeleteFunc(slices.Clone(p.Sessions), func(s *model.Session) bool { return s.Role == "proxy" })
	c := before.WithRuntime(nil).Update(p).WithRuntime(before.Runtime)
	want, got := contentOf(check.Run(c, modeltest.Now, rules.All())),
		contentOf(judge.Run(c, modeltest.Now, rules.All()))
	if diff := cmp.Diff(want.Impact, got.Impact); diff != "" {
		t.Error(diff)
	}
}
