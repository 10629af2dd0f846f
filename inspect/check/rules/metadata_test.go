package rules_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestHealthyCluster checks that no check finds anything in the base cluster of the cases.
func TestHealthyCluster(t *testing.T) {
	w := rulestest.Healthy()
	w.AddResponses()
	r := check.Run(w.Build(), w.Now, metadataChecks())
	for _, f := range r.Findings {
		t.Errorf("%s: %s", f.Check, f.Message)
	}
	for _, x := range r.Results {
		if x.Status == check.Broken {
			t.Errorf("%s broke: %s", x.Check.ID, x.Reason)
		}
	}
}

// metadataChecks returns the checks under test.
func metadataChecks() []*check.Check {
	return []*check.Check{
		rulestest.ByID("index-failed"), rulestest.ByID("index-stuck"), rulestest.ByID("index-missing"),
		rulestest.ByID("index-too-new"), rulestest.ByID("index-metric-mismatch"), rulestest.ByID("index-unfit"),
		rulestest.ByID("collection-unindexed"), rulestest.ByID("layout-rollback"), rulestest.ByID("layout-older"),
		rulestest.ByID("mixed-versions"), rulestest.ByID("etcd-no-leader"), rulestest.ByID("etcd-alarm"),
		rulestest.ByID("etcd-size"), rulestest.ByID("watch-livelock"), rulestest.ByID("clock-regression"),
		rulestest.ByID("undecoded-records"), rulestest.ByID("queue-unreachable"), rulestest.ByID("timetick-lag"),
		rulestest.ByID("channel-unwatched"), rulestest.ByID("channel-watched-twice"),
		rulestest.ByID("channel-watch-state"), rulestest.ByID("checkpoint-lag"),
		rulestest.ByID("checkpoint-missing"), rulestest.ByID("checkpoint-stale-dropped"), rulestest.ByID("queue-lag"),
		rulestest.ByID("quota-denied"), rulestest.ByID("small-segments"), rulestest.ByID("delete-heavy"),
		rulestest.ByID("l0-backlog"), rulestest.ByID("segments-invisible"), rulestest.ByID("dropped-not-collected"),
		rulestest.ByID("task-stuck"),
		rulestest.ByID("task-failed"), rulestest.ByID("config-drift"), rulestest.ByID("bad-switches"),
		rulestest.ByID("shard-skew"), rulestest.ByID("partition-key-skew"), rulestest.ByID("resource-group-short"),
		rulestest.ByID("near-limit"), rulestest.ByID("orphan-records"), rulestest.ByID("records-missing"),
	}
}

// TestDamageNotOK checks that a file with an unreadable page yields no OK result and no missing objects, because
// any record may be missing.
func TestDamageNotOK(t *testing.T) {
	w := rulestest.Healthy()
	w.AddResponses()
	rulestest.Members(3, nil)(w)
	w.Etcd.Activity = &model.EtcdActivity{Over: time.Minute}
	w.Gaps = []model.Gap{{Where: "page 17", Reason: "no key-value records", Count: 1, Damage: true}}
	w.Aliases = []*model.Alias{{Name: "gone", Collection: 77}}
	w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: 77, Status: "Loaded"})
	w.Segment(0).Indexes, w.Segment(1).Collection, w.VChannels[0].Checkpoint, w.VChannels[1].Watched = nil, 77,
		model.Checkpoint{}, false
	for _, result := range check.Run(w.Build(), w.Now, metadataChecks()).Results {
		if result.Status != check.Skipped || !strings.Contains(result.Reason, "page 17") {
			switch result.Check {
			case rulestest.ByID("queue-unreachable"), rulestest.ByID("queue-lag"), rulestest.ByID("timetick-lag"),
				rulestest.ByID("quota-denied"):
				// skipped for another reason
			case rulestest.ByID("etcd-no-leader"): // reads no metadata
			default:
				t.Errorf("%s: %s %s", result.Check.ID, result.Status, result.Reason)
			}
		}
	}
	w.Gaps[0].Damage = false
	if r := check.Run(w.Build(), w.Now, []*check.Check{rulestest.ByID("records-missing")}).Results[0]; r.Status !=
		check.Found {
		t.Errorf("keys that may not be read are no damage: %s %s", r.Status, r.Reason)
	}
}
