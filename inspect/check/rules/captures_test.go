package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
)

// TestCaptures runs the checks on the metadata of captured clusters. Healthy clusters have no finding of severity
// warning or above, and after an upgrade or rollback the finding about the layout comes first. Checks that need
// more than metadata must not be ok.
func TestCaptures(t *testing.T) {
	stale := "info / of collections that are dropped"
	blind := []*check.Check{
		rulestest.ByID("etcd-alarm"), rulestest.ByID("etcd-no-leader"), rulestest.ByID("etcd-size"),
		rulestest.ByID("queue-unreachable"), rulestest.ByID("timetick-lag"), rulestest.ByID("queue-lag"),
		rulestest.ByID("quota-denied"), rulestest.ByID("config-drift"), rulestest.ByID("bad-switches"),
		rulestest.ByID("near-limit"), rulestest.ByID("dropped-not-collected"),
	}
	for _, x := range []struct {
		name    string
		want    []string
		unknown []*check.Check
	}{
		{
			"standalone-2.1.0", nil,
			[]*check.Check{
				rulestest.ByID("checkpoint-lag"), rulestest.ByID("checkpoint-missing"),
				rulestest.ByID("mixed-versions"), rulestest.ByID("resource-group-short"),
				rulestest.ByID("index-too-new"),
			},
		},
		{"standalone-2.2.16", []string{stale}, []*check.Check{rulestest.ByID("index-too-new")}},
		{"standalone-2.3.5", []string{stale}, nil},
		{"cluster-2.3.5-t1", []string{stale}, []*check.Check{rulestest.ByID("small-segments")}},
		{"cluster-2.3.5-t7", []string{stale}, []*check.Check{rulestest.ByID("small-segments")}},
		{
			"upgrade-2.2.16",
			[]string{
				"error / Milvus 2.2.16 runs on unmigrated metadata of 2.1 and does not see 4 index definitions and " +
					"the load states of 6 collections",
			},
			[]*check.Check{rulestest.ByID("index-too-new")},
		},
		{
			"rollback-2.1.0",
			[]string{
				"error collections/470590612869480449 1 segment of hnsw_sim, 3,000 rows, was rewritten by a newer " +
					"Milvus",
				"warning / keys of Milvus 2.2 or later exist, but 2.1 is running",
			},
			[]*check.Check{
				rulestest.ByID("checkpoint-lag"), rulestest.ByID("checkpoint-missing"),
				rulestest.ByID("mixed-versions"), rulestest.ByID("resource-group-short"),
				rulestest.ByID("index-too-new"),
			},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := rulestest.Capture(t, x.name)
			r := check.Run(c, c.Origin.Taken, metadataChecks())
			all := &check.Result{Status: check.Found, Findings: r.Findings}
			if len(r.Findings) == 0 {
				all.Status = check.OK
			}
			rulestest.CompareFindings(t, &check.Check{ID: x.name, Severity: check.Error}, all, x.want)
			for _, result := range r.Results {
				wanted := false
				for _, u := range append(blind, x.unknown...) {
					wanted = wanted || u == result.Check
				}
				if wanted != (result.Status == check.Skipped) {
					t.Errorf("%s: %s %s", result.Check.ID, result.Status, result.Reason)
				}
			}
		})
	}
}

// TestWatchTimesOfCapture checks that the time of a watch, which decides how old a checkpoint may be, is read from
// Milvus's own records.
func TestWatchTimesOfCapture(t *testing.T) {
	c := rulestest.Capture(t, "cluster-2.3.5-t7")
	watched := 0
	for _, v := range c.VChannels {
		if !v.Watched {
			continue
		}
		watched++
		if age := c.Origin.Taken.Sub(v.WatchedAt); age < time.Minute || age > 2*time.Minute {
			t.Errorf("%s was assigned %s before the capture; its data node had started 1 min 23 s before", v.Name, age)
		}
	}
	if watched != 14 {
		t.Errorf("%d watched channels", watched)
	}
}
