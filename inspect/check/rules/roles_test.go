package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// without takes the sessions of some roles away, and says of which version the others are.
func without(version string, roles ...string) func(*world) {
	return func(w *world) {
		w.Version.Text = version
		w.Sessions = slices.DeleteFunc(w.Sessions, func(s *model.Session) bool { return slices.Contains(roles, s.Role) })
	}
}

// later is a cluster of 2.6: one process is all coordinators, and streaming nodes have a query node inside.
func later(roles ...string) func(*world) {
	return func(w *world) {
		w.Version.Text, w.Sessions = "2.6.2", nil
		for i, role := range roles {
			s := &model.Session{Node: model.NodeID(i + 1), Role: role, Address: "10.0.0." + model.NodeID(i+1).String() + ":1", Version: "2.6.2"}
			if role == "embedded" {
				s.Role, s.Labels = "querynode", []model.Pair{{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"}}
			}
			w.Sessions = append(w.Sessions, s)
		}
	}
}

// TestRoleMissing: what a cluster needs goes by its version, and how bad it is by what is asked of it.
func TestRoleMissing(t *testing.T) {
	unloaded := func(f func(*world)) func(*world) {
		return func(w *world) { f(w); w.LoadStates, w.Replicas = nil, nil }
	}
	live := func(w *world) { w.Origin.Kind, w.Sessions = "etcd", nil }
	hold(t, named("role-missing"), []verdict{
		{"all there", func(*world) {}, nil, ""},
		{"no RootCoord", without("2.4.5", "rootcoord"), []string{"error nodes/rootcoord no RootCoord is registered"}, ""},
		{"no QueryCoord", without("2.3.5", "querycoord"), []string{"error nodes/querycoord no QueryCoord is registered"}, ""},
		{"no QueryCoord, nothing loaded", unloaded(without("2.3.5", "querycoord")), []string{"warning nodes/querycoord"}, ""},
		{"no proxy and no data node", without("2.3.5", "proxy", "datanode"), []string{"error nodes/proxy no proxy is registered", "error nodes/datanode no data node"}, ""},
		{"no query node", without("2.3.5", "querynode"), []string{"error nodes/querynode no query node is registered"}, ""},
		{"no query node, nothing loaded", unloaded(without("2.3.5", "querynode")), []string{"warning nodes/querynode"}, ""},
		{"no index node, nothing waits", without("2.3.5", "indexnode"), []string{"warning nodes/indexnode no index node is registered"}, ""},
		{"no index node, a segment waits", func(w *world) {
			without("2.3.5", "indexnode")(w)
			w.index(0).State = model.IndexUnissued
		}, []string{"error nodes/indexnode no index node is registered"}, ""},
		{"no index node, no index", func(w *world) {
			without("2.3.5", "indexnode")(w)
			w.Indexes = nil
		}, []string{"info nodes/indexnode"}, ""},
		{"IndexCoord before 2.3", without("2.2.16"), []string{"error nodes/indexcoord no IndexCoord is registered"}, ""},
		{"2.1 says no version of itself", func(w *world) { w.Version = model.Version{Text: "2.1", From: "key layout"} }, []string{"error nodes/indexcoord"}, ""},
		{"an unknown version", func(w *world) { without("", "querycoord")(w) }, []string{"error nodes/querycoord"}, ""},
		{"2.6", later("mixcoord", "proxy", "querynode", "streamingnode", "embedded", "datanode"), nil, ""},
		{"2.6 without MixCoord", later("proxy", "querynode", "streamingnode", "embedded", "datanode"), []string{"error nodes/mixcoord no MixCoord is registered"}, ""},
		{"2.6, only query nodes inside of streaming nodes", later("mixcoord", "proxy", "streamingnode", "embedded", "datanode"), []string{"error nodes/querynode"}, ""},
		{"2.6 without streaming nodes", later("mixcoord", "proxy", "querynode", "datanode"), []string{"error nodes/streamingnode"}, ""},
		{"2.6 without data nodes", later("mixcoord", "proxy", "querynode", "streamingnode"), []string{"warning nodes/datanode no data node is registered"}, ""},
		{"an upgrade to 2.6 has begun", func(w *world) {
			without("2.5.20", "rootcoord", "querycoord", "datacoord", "indexnode")(w)
			w.another("mixcoord", 40)
		}, nil, ""},
		{"a standby alone", func(w *world) {
			w.another("rootcoord", 40).Role = "rootcoord"
			w.Sessions[len(w.Sessions)-1].Standby = true
			w.Sessions = slices.DeleteFunc(w.Sessions, func(s *model.Session) bool { return s.Role == "rootcoord" && !s.Standby })
		}, []string{"warning nodes/rootcoord no RootCoord is active; in standby: rootcoord-40"}, ""},
		{"nobody, in etcd", live, []string{"error / no process is registered: the whole cluster is down"}, ""},
		{"nobody, in a bundle of etcd", func(w *world) { live(w); w.Origin.Kind, w.Origin.ByClock = "bundle", true }, []string{"error / the whole cluster is down"}, ""},
		{"nobody, in a file", func(w *world) { w.Sessions = nil }, nil, "no process is registered"},
		{"sessions not read", func(w *world) { w.Sessions, w.Loaded = nil, w.Loaded&^model.PartSessions }, nil, "could not be read"},
	})
}

// TestWhoTakesOver: only a process of which there is another is said to be taken over from.
func TestWhoTakesOver(t *testing.T) {
	dead := func(role string, more ...model.NodeID) *check.Finding {
		r := judged(t, named("node-unreachable"), func(w *world) {
			w.serve()
			for _, id := range more {
				w.another(role, id)
			}
			w.live(role).Outcome = model.Refused
		})
		return r.Findings[0]
	}
	for _, x := range []struct {
		role         string
		others       []model.NodeID
		hint, impact string
		lacks        string
	}{
		{"querycoord", nil, "there is no other QueryCoord to take over", "", "querycoord"},
		{"proxy", nil, "there is no other proxy", "Every request fails", "proxy"},
		{"proxy", []model.NodeID{40}, "point its clients to proxy-40", "those of proxy-40 are not affected", ""},
		{"querynode", nil, "querynode-8 takes over", "none of which has another", ""},
		{"datanode", nil, "there is no other data node", "nothing is written to storage", "datanode"},
		{"indexnode", nil, "there is no other index node", "No index is built", "indexnode"},
		{"indexnode", []model.NodeID{40, 41}, "indexnode-40 and indexnode-41 take over", "until they are assigned to another", ""},
	} {
		f := dead(x.role, x.others...)
		if !strings.Contains(f.Advice(), x.hint) || !strings.Contains(f.Impact, x.impact) || f.Lacks != x.lacks {
			t.Errorf("%s beside %v: %q, %q, lacks %q", x.role, x.others, f.Advice(), f.Impact, f.Lacks)
		}
	}
}

// TestOneProcessOneDeath: what is registered as DataCoord and IndexCoord at one address is one finding.
func TestOneProcessOneDeath(t *testing.T) {
	for outcome, check := range map[model.Outcome]*check.Check{model.Refused: named("node-unreachable"), model.Stale: named("stale-session")} {
		r := judged(t, check, func(w *world) {
			w.serve()
			also := w.another("indexcoord", 2)
			at := w.live("datacoord")
			also.Address, also.Outcome, at.Outcome = at.Address, outcome, outcome
			w.Sessions[len(w.Sessions)-1].Address = at.Address
		})
		if len(r.Findings) != 1 || r.Findings[0].Object.ID != "datacoord-2" || !r.Findings[0].Mentions(facts.RefNode("indexcoord", 2)) {
			t.Errorf("%s: %d findings, the first of %v beside %v", check.ID, len(r.Findings), r.Findings[0].Object, r.Findings[0].Objects)
		}
	}
}

// TestTwoAtOneAddress: query nodes with the same address are two processes, and both are named.
func TestTwoAtOneAddress(t *testing.T) {
	r := judged(t, named("node-unreachable"), func(w *world) {
		w.serve()
		also, at := w.another("querynode", 24), w.live("querynode")
		also.Address, also.Outcome, at.Outcome = at.Address, model.Refused, model.Refused
		w.Sessions[len(w.Sessions)-1].Address = at.Address
	})
	if len(r.Findings) != 2 {
		t.Errorf("%d findings, want one for each", len(r.Findings))
	}
}

// TestSkewIsNotTheLead: if no process answers at all, a clock that stands still is what comes of it.
func TestSkewIsNotTheLead(t *testing.T) {
	w := well()
	w.serve()
	w.silenceAll(model.Refused)
	w.Origin.Kind, w.Allocators[0].At = "etcd", w.now.Add(-10*time.Minute)
	r := check.Run(model.Build(w.Parts).WithRuntime(model.BuildRuntime(*w.runtime)), w.now, []*check.Check{named("node-unreachable"), named("clock-regression")})
	i := slices.IndexFunc(r.Findings, func(f *check.Finding) bool { return f.Severity == check.Warning && f.Check == "clock-regression" })
	if i < 0 || r.Findings[i].Cause != "node-unreachable /" {
		for _, f := range r.Findings {
			t.Errorf("%s %s <- %q", f.Check, f.Message, f.Cause)
		}
	}
}
