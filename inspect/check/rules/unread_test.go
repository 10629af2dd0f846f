//go:build !race

package rules_test

import (
	"maps"
	"slices"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
)

// unreadIsNotJudged takes each part of the metadata away from a case in turn, and then all settings: a check that comes to another
// result by what was taken says that it could not look at it. Which settings a check reads, the test does not know: it is whatever
// changes its result if every setting has another value.
func unreadIsNotJudged() property {
	values := []string{"1", "0.01", "1000000000", "true", "false"}
	silent := told(func(p *model.RuntimeParts) {
		for _, n := range p.Nodes {
			for _, f := range toldBySessions() {
				if f.needs == check.NeedConfig && f.had(n) {
					f.take(p, n)
				}
			}
		}
	})
	blind := edited(func(p *model.Parts) { p.Config, p.Loaded = nil, p.Loaded&^model.PartConfig })
	var keys []string
	return property{"what is not read is not judged", func(t *testing.T, c *faulttest.Case, r *check.Report) {
		t.Helper()
		for _, part := range partNames() {
			without := edited(func(p *model.Parts) {
				p.Loaded &^= part.part
				part.take(p)
			})(r.Cluster)
			heldToSay(t, "without "+part.name, r, check.Run(without, r.Now, rules.All()))
		}
		for _, a := range answers() {
			if r.Cluster.Runtime != nil {
				heldToSay(t, "without "+a.name, r, check.Run(told(a.take)(r.Cluster), r.Now, rules.All()))
			}
		}
		keys = append(keys, settingKeys(r.Cluster)...)
		slices.Sort(keys)
		keys = slices.Compact(keys)
		without := blind(r.Cluster)
		if without.Runtime != nil {
			without = silent(without)
		}
		unknown := check.Run(without, r.Now, rules.All())
		for _, value := range values {
			set := edited(func(p *model.Parts) {
				p.Loaded |= model.PartConfig
				for _, key := range keys {
					p.Config = append(p.Config, &model.ConfigEntry{Name: key, Value: value})
				}
			})(without)
			heldToSay(t, "were all settings "+value, check.Run(set, r.Now, rules.All()), unknown)
		}
	}, nil}
}

// heldToSay compares what checks make of facts with what they make of less: where that is another result, it is said what was unseen.
func heldToSay(t *testing.T, what string, full, less *check.Report) {
	t.Helper()
	for i, was := range full.Results {
		is := less.Results[i]
		if is.Status == check.Skipped || len(is.Unseen) > len(was.Unseen) || maps.Equal(severities(was), severities(is)) {
			continue
		}
		t.Errorf("%s: %s finds %v, else %v, and does not say why", what, is.Check.ID, severities(is), severities(was))
	}
}

// severities are what a check found: how bad each finding is, by its key.
func severities(r *check.Result) map[string]check.Severity {
	found := make(map[string]check.Severity, len(r.Findings))
	for _, f := range r.Findings {
		found[f.Key()] = f.Severity
	}
	return found
}

// settingKeys are the names of settings that processes tell, and of some that they do not.
func settingKeys(c *model.Cluster) []string {
	names := []string{"indexCoord.segment.minSegmentNumRowsToEnableIndex", "rootCoord.maxGeneralCapacity", "queryCoord.balancer"}
	if c.Runtime == nil {
		return names
	}
	for _, n := range c.Runtime.Nodes {
		if n.Config != nil {
			for key := range n.Config.Values {
				names = append(names, n.Config.Name(key))
			}
		}
	}
	return names
}
