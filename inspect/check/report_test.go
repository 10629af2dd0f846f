package check

import (
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// fake is a check that reports what it is given.
func fake(id string, findings ...Finding) *Check {
	return &Check{ID: id, Title: id, Run: func(p *Pass) {
		for _, f := range findings {
			p.Report(f)
		}
	}}
}

// broken is a check that cannot work, blind one that does not see everything, unable one without its facts.
func broken(id string) *Check {
	return &Check{ID: id, Run: func(*Pass) { panic("no such luck") }}
}

func blind(id string, findings ...Finding) *Check {
	x := fake(id, findings...)
	run := x.Run
	x.Run = func(p *Pass) {
		p.Unseen("querynode-7: timed out")
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

// about is a finding on an object.
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
