package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/profile/pull"
)

// TestProfileTargets checks that ProfileTargets finds the processes of sessions.
func TestProfileTargets(t *testing.T) {
	at := func(address string) *model.Process { return &model.Process{Address: address} }
	alone, coord, node := at("10.0.0.1:9091"), at("10.0.0.2:9091"), at("10.0.0.3:9091")
	live := func(role string, id model.NodeID, p *model.Process) *model.LiveNode {
		return &model.LiveNode{Role: role, Node: id, Process: p, Outcome: model.Answered}
	}
	var nodes []*model.LiveNode
	for _, role := range []string{"rootcoord", "datacoord", "querycoord", "proxy", "querynode"} {
		nodes = append(nodes, live(role, 3, alone))
	}
	gone := live("querynode", 9, nil)
	gone.Outcome, gone.Reason = model.TimedOut, "no response within 5s"
	nodes = append(nodes, live("indexcoord", 4, coord), live("datacoord", 4, coord), live("querynode", 5, node),
		live("proxy", 6, nil), gone)
	runtime := model.BuildRuntime(model.RuntimeParts{
		Kind: "live", Nodes: nodes, Processes: []*model.Process{alone, coord, node},
		Skipped: []model.Skipped{{What: "metrics of proxy-6", Reason: "metrics port unknown: name the port"}},
	})
	c := model.Build(
		model.Parts{Sessions: []*model.Session{{Node: 5, Role: "querynode", Version: "2.3.5"}}},
	).WithRuntime(runtime)
	got := map[string]pull.Target{}
	for _, target := range session.ProfileTargets(c) {
		got[target.Node] = target
	}
	want := map[string]pull.Target{
		"standalone-3": {
			Node: "standalone-3", Roles: []string{"datacoord", "proxy", "querycoord", "querynode", "rootcoord"},
			NodeIDs: []string{"3"}, URL: pull.Process("", "10.0.0.1:9091").URL,
		},
		"datacoord-4": {
			Node: "datacoord-4", Roles: []string{"datacoord", "indexcoord"}, NodeIDs: []string{"4"},
			URL: pull.Process("", "10.0.0.2:9091").URL,
		},
		"querynode-5": {
			Node: "querynode-5", Roles: []string{"querynode"}, NodeIDs: []string{"5"}, Version: "2.3.5",
			URL: pull.Process("", "10.0.0.3:9091").URL,
		},
		"proxy-6": {
			Node: "proxy-6", Roles: []string{"proxy"}, NodeIDs: []string{"6"},
			Unknown: "metrics port unknown: pass --metrics-port, or its URL",
		},
		"querynode-9": {
			Node: "querynode-9", Roles: []string{"querynode"}, NodeIDs: []string{"9"},
			Unknown: "the process did not report the address of its HTTP server: timed out (no response within 5s)",
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(pull.Target{})); diff != "" {
		t.Error(diff)
	}
}

// TestNamedURLReplacesTarget checks that a URL given for a process with an unknown address replaces its
// target, so the process is not also listed as not profiled.
func TestNamedURLReplacesTarget(t *testing.T) {
	live := func(role string, id model.NodeID, p *model.Process) *model.LiveNode {
		return &model.LiveNode{Role: role, Node: id, Process: p, Outcome: model.Answered}
	}
	node := &model.Process{Address: "10.0.0.3:9091"}
	runtime := model.BuildRuntime(model.RuntimeParts{
		Kind: "live", Processes: []*model.Process{node},
		Nodes: []*model.LiveNode{
			live("querynode", 5, node), live("proxy", 6, nil), live("proxy", 7, nil), live("datanode", 8, nil),
		},
	})
	registered := func(role string, id model.NodeID, address string) *model.Session {
		return &model.Session{Node: id, Role: role, Address: address, Version: "2.3.5"}
	}
	c := model.Build(model.Parts{Sessions: []*model.Session{
		registered("querynode", 5, "10.0.0.3:21123"), registered("proxy", 6, "10.0.0.6:19530"),
		registered("proxy", 7, "10.0.0.7:19530"), registered("datanode", 8, "10.0.0.7:21124"),
	}}).WithRuntime(runtime)
	of := session.ProfileTargets(c)
	for word, want := range map[string]struct {
		node, roles string
		count       int
	}{
		"http://10.0.0.6:9100/debug/pprof":        {"proxy-6", "proxy", 4},         // at its host
		"front=http://10.0.0.6:9100":              {"front", "", 5},                // an additional named service
		"proxy-7=http://lb.local:9100":            {"proxy-7", "proxy", 4},         // by its name
		"datanode=http://lb.local:9100":           {"datanode", "datanode", 4},     // by its role
		"http://10.0.0.3:9091":                    {"querynode-5", "querynode", 4}, // profiled once
		"http://10.0.0.3:9091/debug/pprof/heap":   {"querynode-5", "querynode", 5}, // an additional profile
		"http://10.0.0.7:9100":                    {"10.0.0.7:9100", "", 5},        // ambiguous: two processes there
		"proxy=http://lb.local:9100":              {"proxy", "", 5},                // ambiguous: two proxies
		"indexer=http://10.9.9.9:6060":            {"indexer", "", 5},              // of no known process
		"http://10.0.0.6:9100/debug/pprof/allocs": {"proxy-6", "proxy", 4},
	} {
		n, err := pull.ParseTarget(word, "")
		if err != nil {
			t.Fatal(err)
		}
		list := session.WithNamed(c, of, []pull.Target{n})
		var got *pull.Target
		for i := range list {
			if list[i].URL != nil && list[i].URL.String() == n.URL.String() {
				got = &list[i]
			}
		}
		if got == nil || got.Node != want.node || strings.Join(got.Roles, " ") != want.roles ||
			len(list) != want.count || got.Unknown != "" {
			t.Errorf("%s: %+v of %d targets, want %+v", word, got, len(list), want)
		}
	}
	if len(of) != 4 || of[1].Unknown == "" {
		t.Errorf("what was given is changed: %+v", of)
	}
}
