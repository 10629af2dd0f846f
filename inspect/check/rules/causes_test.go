package rules_test

import (
	"slices"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// TestCausesWithoutARule checks that a finding about one log, collection or node explains others only through a
// rule. Only findings about the whole cluster, or about something that all share, explain everything.
func TestCausesWithoutARule(t *testing.T) {
	shared := []string{
		"queue-unreachable", "etcd-alarm", "etcd-no-leader", "layout-older", "auto-balance-off", "balancing-suspended",
		"quota-denied",
	}
	// all requests go through proxies; there is one storage
	pairs := []string{"proxy-queue <- proxy-starved", "storage-slow <- storage-failing"}
	ruled := 0
	for _, x := range rules.All() {
		for _, cause := range x.FollowsFrom {
			pair := x.ID + " <- " + cause.Check
			switch {
			case cause.Applies != nil:
				ruled++
			case !slices.Contains(shared, cause.Check) && !slices.Contains(pairs, pair):
				t.Errorf("%s, whatever the two are about", pair)
			}
		}
	}
	if ruled < 50 {
		t.Errorf("only %d causes with a rule", ruled)
	}
}

// TestCausesOfOthers checks that a finding about one log, collection or node does not follow from a finding about
// another.
func TestCausesOfOthers(t *testing.T) {
	ref := func(resource, id string) model.Ref { return model.Ref{Resource: resource, ID: id} }
	processes := []*model.Process{{Address: "a"}, {Address: "b"}}
	c := model.Build(model.Parts{
		Replicas: []*model.Replica{
			{ID: 1, Collection: 10, Nodes: []model.NodeID{4}}, {ID: 2, Collection: 20, Nodes: []model.NodeID{5}},
		},
		VChannels: []*model.VChannel{
			{Name: "dml_0_10v0", PChannel: "dml_0", Collection: 10, Watched: true, Watcher: 6},
			{Name: "dml_1_20v0", PChannel: "dml_1", Collection: 20, Watched: true, Watcher: 7},
		},
	}).WithRuntime(model.BuildRuntime(model.RuntimeParts{Processes: processes, Nodes: []*model.LiveNode{
		{Role: "querynode", Node: 4, Process: processes[0]},
		{Role: "streamingnode", Node: 30, Process: processes[0]},
		{Role: "proxy", Node: 9, Process: processes[0]},
		{Role: "querynode", Node: 5, Process: processes[1]},
		{Role: "streamingnode", Node: 31, Process: processes[1]},
	}}))
	log := []model.Ref{ref("pchannels", "dml_0"), ref("pchannels", "dml_1")}
	collection := []model.Ref{ref("collections", "10"), ref("collections", "20")}
	queryNode := []model.Ref{ref("nodes", "querynode-4"), ref("nodes", "querynode-5")}
	dataNode := []model.Ref{ref("nodes", "datanode-6"), ref("nodes", "datanode-7")}
	streaming := []model.Ref{ref("nodes", "streamingnode-30"), ref("nodes", "streamingnode-31")}
	vchannel := []model.Ref{ref("vchannels", "dml_0_10v0"), ref("vchannels", "dml_1_20v0")}
	proxy := []model.Ref{ref("nodes", "proxy-9"), ref("nodes", "querynode-5")}
	for _, x := range []struct {
		effect, cause string
		of, by        []model.Ref // the first element of one list belongs to the first of the other
	}{
		{"wal-recovery-stuck", "wal-damaged", log, log},
		{"wal-backlog", "wal-recovery-stuck", log, log},
		{"wal-not-truncated", "wal-recovery-stuck", log, log},
		{"ddl-stuck", "wal-not-open", log, log},
		{"ddl-stuck", "wal-flush-lag", log, log},
		{"ddl-stuck", "wal-recovery-stuck", log, log},
		{"ddl-stuck", "channel-unwatched", vchannel, vchannel},
		{"wal-open-twice", "stale-session", streaming, streaming},
		{"cache-thrashing", "replica-short", queryNode, collection},
		{"cache-loads-failing", "files-missing", queryNode, collection},
		{"load-stuck", "cache-loads-failing", collection, queryNode},
		{"profile-brute-force-share", "brute-force-share", queryNode, collection},
		{"profile-brute-force-share", "brute-force-share", queryNode, queryNode},
		{"profile-brute-force-share", "index-missing", queryNode, collection},
		{"dropped-not-collected", "checkpoint-lag", vchannel, vchannel},
		{"dropped-not-collected", "checkpoint-missing", vchannel, vchannel},
		{"index-missing", "layout-rollback", collection, collection},
		{"checkpoint-lag", "timetick-lag", vchannel, dataNode},
		{"consistency-wait", "timetick-lag", []model.Ref{{}, {}}, []model.Ref{{}, dataNode[0]}},
		{"proxy-starved", "gc-pause", []model.Ref{{}, {}}, proxy},
	} {
		i := slices.IndexFunc(rulestest.ByID(x.effect).FollowsFrom, func(c check.Cause) bool {
			return c.Check == x.cause
		})
		if i < 0 {
			t.Errorf("%s does not follow from %s at all", x.effect, x.cause)
			continue
		}
		follows := func(effect, cause model.Ref) bool {
			of := rulestest.ByID(x.effect).FollowsFrom[i].Applies
			return of == nil ||
				of(c, &check.Finding{Severity: check.Warning, Objects: []model.Ref{effect}}, &check.Finding{
					Severity: check.Warning, Object: cause,
				})
		}
		if !follows(x.of[0], x.by[0]) {
			t.Errorf("%s of %v does not follow from %s of %v", x.effect, x.of[0], x.cause, x.by[0])
		}
		if follows(x.of[0], x.by[1]) || x.of[0] != x.of[1] && follows(x.of[1], x.by[0]) {
			t.Errorf("%s of %v follows from %s of %v, or the other way", x.effect, x.of[0], x.cause, x.by[1])
		}
	}
}
