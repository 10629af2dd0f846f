package rules_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestWellIsWell checks that no check finds anything in the base cluster of the cases.
func TestWellIsWell(t *testing.T) {
	w := rulestest.Well()
	w.Asked()
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
		rulestest.Named("index-failed"), rulestest.Named("index-stuck"), rulestest.Named("index-missing"), rulestest.Named("index-too-new"), rulestest.Named("index-metric-mismatch"), rulestest.Named("index-unfit"), rulestest.Named("collection-unindexed"), rulestest.Named("layout-rollback"), rulestest.Named("layout-older"), rulestest.Named("mixed-versions"), rulestest.Named("etcd-no-leader"), rulestest.Named("etcd-alarm"),
		rulestest.Named("etcd-size"), rulestest.Named("watch-livelock"), rulestest.Named("clock-regression"), rulestest.Named("undecoded-records"), rulestest.Named("queue-unreachable"), rulestest.Named("timetick-lag"), rulestest.Named("channel-unwatched"), rulestest.Named("channel-watched-twice"), rulestest.Named("channel-watch-state"), rulestest.Named("checkpoint-lag"),
		rulestest.Named("checkpoint-missing"), rulestest.Named("checkpoint-stale-dropped"), rulestest.Named("queue-lag"), rulestest.Named("quota-denied"), rulestest.Named("small-segments"), rulestest.Named("delete-heavy"), rulestest.Named("l0-backlog"), rulestest.Named("segments-invisible"), rulestest.Named("dropped-not-collected"), rulestest.Named("task-stuck"),
		rulestest.Named("task-failed"), rulestest.Named("config-drift"), rulestest.Named("bad-switches"), rulestest.Named("shard-skew"), rulestest.Named("partition-key-skew"), rulestest.Named("resource-group-short"), rulestest.Named("near-limit"), rulestest.Named("orphan-records"), rulestest.Named("records-missing"),
	}
}

// TestDamageIsNotWell checks that a file with an unreadable page yields no OK result and no missing objects, because
// any record may be missing.
func TestDamageIsNotWell(t *testing.T) {
	w := rulestest.Well()
	w.Asked()
	rulestest.Members(3, nil)(w)
	w.Etcd.Activity = &model.EtcdActivity{Over: time.Minute}
	w.Gaps = []model.Gap{{Where: "page 17", Reason: "no key-value records", Count: 1, Damage: true}}
	w.Aliases = []*model.Alias{{Name: "gone", Collection: 77}}
	w.LoadStates = append(w.LoadStates, &model.LoadState{Collection: 77, Status: "Loaded"})
	w.Segment(0).Indexes, w.Segment(1).Collection, w.VChannels[0].Checkpoint, w.VChannels[1].Watched = nil, 77, model.Checkpoint{}, false
	for _, result := range check.Run(w.Build(), w.Now, metadataChecks()).Results {
		if result.Status != check.Skipped || !strings.Contains(result.Reason, "page 17") {
			switch result.Check {
			case rulestest.Named("queue-unreachable"), rulestest.Named("queue-lag"), rulestest.Named("timetick-lag"), rulestest.Named("quota-denied"): // skipped for another reason
			case rulestest.Named("etcd-no-leader"): // reads no metadata
			default:
				t.Errorf("%s: %s %s", result.Check.ID, result.Status, result.Reason)
			}
		}
	}
	w.Gaps[0].Damage = false
	if r := check.Run(w.Build(), w.Now, []*check.Check{rulestest.Named("records-missing")}).Results[0]; r.Status != check.Found {
		t.Errorf("keys that may not be read are no damage: %s %s", r.Status, r.Reason)
	}
}
