package rules_test

import (
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// servingChecks are those that these tests are about.
func servingChecks() []*check.Check {
	return []*check.Check{
		rulestest.Named("node-unreachable"), rulestest.Named("stale-session"), rulestest.Named("stopping-node-serving"), rulestest.Named("node-stopping"), rulestest.Named("replica-dead-node"), rulestest.Named("replica-short"), rulestest.Named("no-shard-leader"), rulestest.Named("shard-not-serviceable"), rulestest.Named("leader-channel-split"), rulestest.Named("load-stuck"), rulestest.Named("load-state-mismatch"),
		rulestest.Named("target-behind"), rulestest.Named("segment-not-loaded"), rulestest.Named("segment-loaded-dropped"), rulestest.Named("segment-loaded-twice"), rulestest.Named("index-not-loaded"), rulestest.Named("growing-flushed"), rulestest.Named("growing-too-old"), rulestest.Named("growing-too-large"), rulestest.Named("brute-force-share"),
	}
}

// TestServedIsWell: nothing is found in the cluster that the cases begin with, and nothing is unknown.
func TestServedIsWell(t *testing.T) {
	for _, x := range servingChecks() {
		rulestest.Hold(t, x, []rulestest.Verdict{{Name: "well", Change: (*rulestest.World).Serve}})
	}
}

// TestServingUnread: without the metadata, or without a single answer, no check is ok.
func TestServingUnread(t *testing.T) {
	for _, x := range servingChecks() {
		w := rulestest.Well()
		w.Serve()
		w.Loaded = 0
		if r := check.Run(w.Build(), w.Now, []*check.Check{x}).Results[0]; r.Status != check.Skipped {
			t.Errorf("%s without metadata: %s", x.ID, r.Status)
		}
		if x.Needs == 0 {
			continue
		}
		w = rulestest.Well()
		if r := check.Run(w.Build(), w.Now, []*check.Check{x}).Results[0]; r.Status != check.Skipped {
			t.Errorf("%s without answers: %s", x.ID, r.Status)
		}
	}
}

// TestServingBlind: one query node that does not answer leaves nothing ok of what depends on its word.
func TestServingBlind(t *testing.T) {
	for _, x := range servingChecks() {
		if x.Needs&check.NeedDistribution == 0 {
			continue
		}
		t.Run(x.ID, func(t *testing.T) {
			r := rulestest.Judged(t, x, func(w *rulestest.World) {
				w.Serve()
				w.Silence(rulestest.NodeB, model.Unreachable)
			})
			if r.Status == check.OK || len(r.Unseen) == 0 {
				t.Errorf("%s, unseen %v", r.Status, r.Unseen)
			}
		})
	}
}
