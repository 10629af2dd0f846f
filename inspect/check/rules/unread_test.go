package rules_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
)

// unreadNotJudged removes each part of the metadata from a case in turn, and finally all settings. A check with a
// different result must note the removed data as unseen. The test does not know which settings a check reads. It counts
// a setting as read if the result changes when every setting has another value. It leaves out runs that cannot give a
// different result: clusters without the removed data, and for other settings the checks that are skipped when all
// settings are unknown, because nothing is required of skipped checks. Each check runs on the first case that expects a
// finding of it, and all checks run on the first case of each base.
func unreadNotJudged() property {
	values := []string{"1", "0.01", "1000000000", "true", "false"}
	silent := editedRuntime(func(p *model.RuntimeParts) {
		for _, n := range p.Nodes {
			for _, f := range sessionFacts() {
				if f.needs == check.NeedConfig && f.had(n) {
					f.take(p, n)
				}
			}
		}
	})
	blind := edited(func(p *model.Parts) { p.Config, p.Loaded = nil, p.Loaded&^model.PartConfig })
	var keys []string
	taken, had, tried, bases := 0, 0, map[string]bool{}, map[string]bool{}
	return property{"what is not read is not judged", func(t *testing.T, c *faulttest.Case, r *check.Report) {
		t.Helper()
		wanted := slices.DeleteFunc(wantedChecks(c), func(x *check.Check) bool { return tried[x.ID] })
		if len(wanted) == 0 {
			return
		}
		for _, x := range wanted {
			tried[x.ID] = true
		}
		if !bases[c.Base] {
			bases[c.Base], wanted = true, rules.All()
		}
		r = onlyChecks(r, wanted)
		for _, part := range partNames() {
			take := func(p *model.Parts) {
				p.Loaded &^= part.part
				part.take(p)
			}
			if taken++; hadParts(r.Cluster, take) {
				had++
				requireUnseen(t, "without "+part.name, r, check.Run(edited(take)(r.Cluster), r.Now, wanted))
			}
		}
		for _, a := range responses() {
			if taken++; hadResponse(r.Cluster, a.take) {
				had++
				requireUnseen(t, "without "+a.name, r, check.Run(editedRuntime(a.take)(r.Cluster), r.Now, wanted))
			}
		}
		keys = append(keys, settingKeys(r.Cluster)...)
		slices.Sort(keys)
		keys = slices.Compact(keys)
		without := blind(r.Cluster)
		if without.Runtime != nil {
			without = silent(without)
		}
		unknown := withoutSkipped(check.Run(without, r.Now, wanted))
		for _, value := range values {
			set := edited(func(p *model.Parts) {
				p.Loaded |= model.PartConfig
				for _, key := range keys {
					p.Config = append(p.Config, &model.ConfigEntry{Name: key, Value: value})
				}
			})(without)
			requireUnseen(t, "were all settings "+value, check.Run(set, r.Now, checksOf(unknown)), unknown)
		}
	}, func(t *testing.T) {
		t.Helper()
		t.Logf("of %d facts that were to be taken away %d were there", taken, had)
		if had*4 < taken {
			t.Errorf("of %d facts that were to be taken away only %d were there", taken, had)
		}
	}}
}

// hadParts reports whether take changes the metadata of a cluster, or the parts that are marked as loaded.
func hadParts(c *model.Cluster, take func(*model.Parts)) bool {
	p := c.Parts
	take(&p)
	return p.Loaded != c.Loaded || !reflect.DeepEqual(p, c.Parts)
}

// hadResponse reports whether take removes an answer of processes. The data of single nodes is not considered.
func hadResponse(c *model.Cluster, take func(*model.RuntimeParts)) bool {
	if c.Runtime == nil {
		return false
	}
	p := c.Runtime.RuntimeParts
	take(&p)
	return !reflect.DeepEqual(p, c.Runtime.RuntimeParts)
}

// withoutSkipped returns a report without the skipped checks, because requireUnseen requires nothing of them.
func withoutSkipped(r *check.Report) *check.Report {
	some := *r
	some.Results = slices.DeleteFunc(slices.Clone(r.Results), func(x *check.Result) bool {
		return x.Status == check.Skipped
	})
	return &some
}

// onlyChecks returns a report with the results of some checks only.
func onlyChecks(r *check.Report, checks []*check.Check) *check.Report {
	some := *r
	some.Results = slices.DeleteFunc(slices.Clone(r.Results), func(x *check.Result) bool {
		return !slices.Contains(checks, x.Check)
	})
	return &some
}

func checksOf(r *check.Report) []*check.Check {
	list := make([]*check.Check, len(r.Results))
	for i, x := range r.Results {
		list[i] = x.Check
	}
	return list
}

// requireUnseen compares the results of checks with full and with less data. A check with another result must note more
// unseen data or be skipped.
func requireUnseen(t *testing.T, what string, full, less *check.Report) {
	t.Helper()
	for i, was := range full.Results {
		is := less.Results[i]
		if is.Status == check.Skipped || len(is.Unseen) > len(was.Unseen) ||
			maps.Equal(severities(was), severities(is)) {
			continue
		}
		t.Errorf("%s: %s finds %v, else %v, and does not say why", what, is.Check.ID, severities(is), severities(was))
	}
}

// severities returns the severity of each finding of a check, by key. The report lowers the severity of findings that
// follow from a starved host, so those count as warnings. If the host was not seen, its check notes that.
func severities(r *check.Result) map[string]check.Severity {
	found := make(map[string]check.Severity, len(r.Findings))
	for _, f := range r.Findings {
		found[f.Key()] = f.Severity
		if strings.HasPrefix(f.Cause, check.HostStarved+" ") {
			found[f.Key()] = check.Warning
		}
	}
	return found
}

// settingKeys returns the names of the settings that processes report, and of some that they do not report.
func settingKeys(c *model.Cluster) []string {
	names := []string{
		"indexCoord.segment.minSegmentNumRowsToEnableIndex", "rootCoord.maxGeneralCapacity", "queryCoord.balancer",
	}
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
