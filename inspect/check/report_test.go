package check

import (
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// fake returns a check that reports the given findings.
func fake(id string, findings ...Finding) *Check {
	return &Check{ID: id, Title: id, Run: func(p *Pass) {
		for _, f := range findings {
			p.Report(f)
		}
	}}
}

// broken returns a check that panics. blind returns one that does not see everything, unable one that lacks
// its facts.
func broken(id string) *Check {
	return &Check{ID: id, Run: func(*Pass) { panic("no such luck") }}
}

func blind(id string, findings ...Finding) *Check {
	x := fake(id, findings...)
	run := x.Run
	x.Run = func(p *Pass) {
		p.NoteUnseen("querynode-7: timed out")
		run(p)
	}
	return x
}

func unable(id string) *Check {
	x := fake(id)
	x.Needs = NeedDistribution
	return x
}

func judge(t *testing.T, c *model.Cluster, checks ...*Check) *Report {
	t.Helper()
	return Run(c, modeltest.Now, checks)
}

// about returns a finding about an object.
func about(s Severity, resource, id string) Finding {
	return Finding{Severity: s, Object: model.Ref{Resource: resource, ID: id}, Message: resource + " " + id}
}

func keysOf(list []*Finding) []string {
	keys := []string{}
	for _, f := range list {
		keys = append(keys, f.Key())
	}
	return keys
}
