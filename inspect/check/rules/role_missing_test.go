package rules_test

import (
	"slices"
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

// without removes the sessions of some roles, and sets the version of the cluster.
func without(version string, roles ...string) func(*rulestest.World) {
	return func(w *rulestest.World) {
		w.Version.Text = version
		w.Sessions = slices.DeleteFunc(w.Sessions,
			func(s *model.Session) bool { return slices.Contains(roles, s.Role) })
	}
}

// streamingCluster makes a cluster of 2.6: one process for all coordinators, and streaming nodes with a query node
// inside.
func streamingCluster(roles ...string) func(*rulestest.World) {
	return func(w *rulestest.World) {
		w.Version.Text, w.Sessions = "2.6.2", nil
		for i, role := range roles {
			s := &model.Session{
				Node: model.NodeID(i + 1), Role: role, Address: "10.0.0." + model.NodeID(i+1).String() + ":1",
				Version: "2.6.2",
			}
			if role == "embedded" {
				s.Role, s.Labels = "querynode", []model.Pair{{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"}}
			}
			w.Sessions = append(w.Sessions, s)
		}
	}
}

// TestRoleMissing checks that the required roles depend on the version, and the severity on the work that needs
// the role.
func TestRoleMissing(t *testing.T) {
	unloaded := func(f func(*rulestest.World)) func(*rulestest.World) {
		return func(w *rulestest.World) { f(w); w.LoadStates, w.Replicas = nil, nil }
	}
	live := func(w *rulestest.World) { w.Origin.Kind, w.Sessions = "etcd", nil }
	rulestest.RunCases(t, rulestest.ByID("role-missing"), []rulestest.Case{
		{Name: "all there", Change: func(*rulestest.World) {}},
		{
			Name: "no RootCoord", Change: without("2.4.5", "rootcoord"),
			Want: []string{"error nodes/rootcoord no RootCoord is registered"},
		},
		{
			Name: "no QueryCoord", Change: without("2.3.5", "querycoord"),
			Want: []string{"error nodes/querycoord no QueryCoord is registered"},
		},
		{
			Name: "no QueryCoord, nothing loaded", Change: unloaded(without("2.3.5", "querycoord")),
			Want: []string{"warning nodes/querycoord"},
		},
		{
			Name: "no proxy and no data node", Change: without("2.3.5", "proxy", "datanode"),
			Want: []string{"error nodes/proxy no proxy is registered", "error nodes/datanode no data node"},
		},
		{
			Name: "no query node", Change: without("2.3.5", "querynode"),
			Want: []string{"error nodes/querynode no query node is registered"},
		},
		{
			Name: "no query node, nothing loaded", Change: unloaded(without("2.3.5", "querynode")),
			Want: []string{"warning nodes/querynode"},
		},
		{
			Name: "no index node, nothing waits", Change: without("2.3.5", "indexnode"),
			Want: []string{"warning nodes/indexnode no index node is registered"},
		},
		{Name: "no index node, a segment waits", Change: func(w *rulestest.World) {
			without("2.3.5", "indexnode")(w)
			w.Index(0).State = model.IndexUnissued
		}, Want: []string{"error nodes/indexnode no index node is registered"}},
		{Name: "no index node, no index", Change: func(w *rulestest.World) {
			without("2.3.5", "indexnode")(w)
			w.Indexes = nil
		}, Want: []string{"info nodes/indexnode"}},
		{
			Name: "IndexCoord before 2.3", Change: without("2.2.16"),
			Want: []string{"error nodes/indexcoord no IndexCoord is registered"},
		},
		{
			Name:   "2.1 says no version of itself",
			Change: func(w *rulestest.World) { w.Version = model.Version{Text: "2.1", From: "key layout"} },
			Want:   []string{"error nodes/indexcoord"},
		},
		{
			Name: "an unknown version", Change: func(w *rulestest.World) { without("", "querycoord")(w) },
			Want: []string{"error nodes/querycoord"},
		},
		{
			Name:   "2.6",
			Change: streamingCluster("mixcoord", "proxy", "querynode", "streamingnode", "embedded", "datanode"),
		},
		{
			Name:   "2.6 without MixCoord",
			Change: streamingCluster("proxy", "querynode", "streamingnode", "embedded", "datanode"),
			Want:   []string{"error nodes/mixcoord no MixCoord is registered"},
		},
		{
			Name:   "2.6, only query nodes inside of streaming nodes",
			Change: streamingCluster("mixcoord", "proxy", "streamingnode", "embedded", "datanode"),
			Want:   []string{"error nodes/querynode"},
		},
		{
			Name: "2.6 without streaming nodes", Change: streamingCluster("mixcoord", "proxy", "querynode", "datanode"),
			Want: []string{"error nodes/streamingnode"},
		},
		{
			Name: "2.6 without data nodes", Change: streamingCluster("mixcoord", "proxy", "querynode", "streamingnode"),
			Want: []string{"warning nodes/datanode no data node is registered"},
		},
		{Name: "an upgrade to 2.6 has begun", Change: func(w *rulestest.World) {
			without("2.5.20", "rootcoord", "querycoord", "datacoord", "indexnode")(w)
			w.Another("mixcoord", 40)
		}},
		{Name: "a standby alone", Change: func(w *rulestest.World) {
			w.Another("rootcoord", 40).Role = "rootcoord"
			w.Sessions[len(w.Sessions)-1].Standby = true
			w.Sessions = slices.DeleteFunc(w.Sessions, func(s *model.Session) bool {
				return s.Role == "rootcoord" && !s.Standby
			})
		}, Want: []string{"warning nodes/rootcoord no RootCoord is active; in standby: rootcoord-40"}},
		{
			Name: "nobody, in etcd", Change: live,
			Want: []string{"error / no process is registered: the whole cluster is down"},
		},
		{
			Name:   "nobody, in a bundle of etcd",
			Change: func(w *rulestest.World) { live(w); w.Origin.Kind, w.Origin.ByClock = "bundle", true },
			Want:   []string{"error / the whole cluster is down"},
		},
		{
			Name: "nobody, in a file", Change: func(w *rulestest.World) { w.Sessions = nil },
			Skipped: "no process is registered",
		},
		{
			Name:    "sessions not read",
			Change:  func(w *rulestest.World) { w.Sessions, w.Loaded = nil, w.Loaded&^model.PartSessions },
			Skipped: "could not be read",
		},
	})
}
