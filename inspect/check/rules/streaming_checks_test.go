package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestInfoExplainsNothing checks that an info about work in progress, which may be over in a minute, is not the
// cause of another finding.
func TestInfoExplainsNothing(t *testing.T) {
	passing := []string{"wal-not-open", "wal-flush-lag", "growing-over-watermark", "cache-loads-failing"}
	tried := 0
	for _, x := range rules.All() {
		for _, cause := range x.FollowsFrom {
			if !slices.Contains(passing, cause.Check) {
				continue
			}
			tried++
			of := func(s check.Severity) bool {
				about := check.Finding{Severity: s, Objects: []model.Ref{
					{Resource: "nodes", ID: "streamingnode-30"},
					{Resource: "pchannels", ID: rulestest.PChannel},
					{Resource: "vchannels", ID: rulestest.PChannel + "_1v0"},
				}}
				effect := about
				effect.Severity = check.Error
				return cause.Applies == nil || cause.Applies(nil, &effect, &about)
			}
			if of(check.Info) || !of(check.Warning) {
				t.Errorf("%s follows from %s: of an info %v, of a warning %v", x.ID, cause.Check, of(check.Info),
					of(check.Warning))
			}
		}
	}
	if tried < 8 {
		t.Errorf("%d causes", tried)
	}
}

// TestChannelsOfOneLog checks that a log explains its lagging vchannels, however many it has. It also checks that the
// memory of a node's process explains the problem of a log, whichever session of the process names the finding.
func TestChannelsOfOneLog(t *testing.T) {
	follows := func(c *model.Cluster, id, from string, effect, cause *check.Finding) bool {
		i := slices.IndexFunc(rulestest.ByID(id).FollowsFrom, func(x check.Cause) bool { return x.Check == from })
		return rulestest.ByID(id).FollowsFrom[i].Applies(c, effect, cause)
	}
	result := rulestest.RunCheck(t, rulestest.ByID("checkpoint-lag"), func(w *rulestest.World) {
		w.PChannels[0].Streaming = true
		w.VChannels[0].Checkpoint.At = model.TSOFromTime(rulestest.TimeAgo(time.Hour))
	})
	if len(result.Findings) != 1 {
		t.Fatalf("%d findings", len(result.Findings))
	}
	log := &check.Finding{Severity: check.Warning, Object: model.Ref{Resource: "pchannels", ID: rulestest.PChannel}}
	for _, from := range []string{"wal-not-open", "wal-flush-lag"} {
		if !follows(nil, "checkpoint-lag", from, result.Findings[0], log) {
			t.Errorf("%s: %+v", from, result.Findings[0].Objects)
		}
	}
	process := &model.Process{Address: "10.0.0.30:9091"}
	c := model.Build(model.Parts{}).WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{
		{Role: "querynode", Node: 30, Process: process},
		{Role: "streamingnode", Node: 30, Process: process},
		{Role: "querynode", Node: 4, Address: "10.0.0.4:1"},
		{Role: "querynode", Node: 5},
	}}))
	lag := &check.Finding{Severity: check.Warning, Objects: []model.Ref{{Resource: "nodes", ID: "streamingnode-30"}}}
	full := func(node string) *check.Finding {
		return &check.Finding{Severity: check.Error, Object: model.Ref{Resource: "nodes", ID: node}}
	}
	for _, id := range []string{"wal-flush-lag", "wal-throttled", "cache-loads-failing"} {
		if !follows(c, id, "memory-pressure", lag, full("querynode-30")) ||
			!follows(c, id, "memory-pressure", lag, full("streamingnode-30")) ||
			follows(c, id, "memory-pressure", lag, full("querynode-4")) ||
			follows(c, id, "memory-pressure", lag, full("querynode-5")) {
			t.Errorf("%s: of the same process, or another", id)
		}
	}
}
