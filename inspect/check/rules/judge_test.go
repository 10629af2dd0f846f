package rules_test

import (
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

// testimony is all that a report says.
type testimony struct {
	Results  []check.Result
	Findings []*check.Finding
	Shares   []balance.Share
	Spreads  []balance.Spread
}

func whatItSays(r *check.Report) testimony {
	s := testimony{Findings: r.Findings}
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

// TestJudgeSeesTheSchemaChange: which indexes have to be loaded depends on the fields, and those on the collection's record
// alone.
func TestJudgeSeesTheSchemaChange(t *testing.T) {
	s := modeltest.NewShifting(0)
	i := slices.IndexFunc(s.Metadata.Collections, func(x *model.Collection) bool { return x.Name == "docs_5" })
	retype := func(to string) {
		p := s.Metadata.Parts
		p.Collections = slices.Clone(p.Collections)
		x := *p.Collections[i]
		x.Fields = slices.Clone(x.Fields)
		for k, f := range x.Fields {
			if changed := *f; f.ID == 101 {
				changed.Type = to
				x.Fields[k] = &changed
			}
		}
		p.Collections[i] = &x
		s.Metadata = s.Metadata.Update(p)
	}
	var judge check.Judge
	for _, x := range []struct {
		to   string
		want check.Status
	}{{"Int64", check.OK}, {"FloatVector", check.Found}, {"Int64", check.OK}} {
		retype(x.to)
		if got := judge.Run(s.Cluster(), s.Now, []*check.Check{named("index-not-loaded")}).Results[0]; got.Status != x.want {
			t.Errorf("with the field a %s: %s, want %s", x.to, got.Status, x.want)
		}
	}
}

// TestJudgeIsNeverStale lets one Judge follow a cluster through changes of every kind: each of its reports has to be the one
// of a judge who has never seen the cluster before.
func TestJudgeIsNeverStale(t *testing.T) {
	for seed := range uint64(3) {
		var judge check.Judge
		s := modeltest.NewShifting(seed)
		judge.Run(s.Cluster(), s.Now, rules.All())
		for i := range 50 {
			what := s.Step()
			c := s.Cluster()
			want, got := whatItSays(check.Run(c, s.Now, rules.All())), whatItSays(judge.Run(c, s.Now, rules.All()))
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("seed %d, step %d: %s: the report is not that of a fresh judge:\n%s", seed, i, what, cmp.Diff(want.Results, got.Results, cmp.Comparer(func(a, b *check.Check) bool { return a == b })))
			}
		}
	}
}
