package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/history"
	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
)

// startFakesOf starts a cluster of a version for which no capture exists. All of its processes respond.
func startFakesOf(t *testing.T, version string, opts livetest.Options) *fakes {
	t.Helper()
	return startFakes(t, metatest.Cluster(version), func(c *model.Cluster) []live.Record {
		return livetest.Responses(c, opts)
	}, recorded.Options{Cluster: "by-dev"})
}

// TestClustersWithoutCapture runs commands on clusters with the layout of 2.6 (one mixcoord with a standby,
// streaming nodes with an embedded query node, renamed RPCs) and of 2.5. A bundle of the 2.6 cluster must show
// the same.
func TestClustersWithoutCapture(t *testing.T) {
	for _, version := range []string{"2.5", "2.6"} {
		t.Run(version, func(t *testing.T) {
			f := startFakesOf(t, version, livetest.Options{})
			t.Run("nodes", func(t *testing.T) { checkNodes(t, f, version) })
			t.Run("calls", func(t *testing.T) { checkCalls(t, f, version) })
			t.Run("balance", func(t *testing.T) { checkBalance(t, f, version) })
			t.Run("diagnose", func(t *testing.T) { checkDiagnosis(t, f, version) })
			if version == "2.6" {
				t.Run("bundle", func(t *testing.T) { compareBundle(t, f) })
			}
		})
	}
}

// listItems runs a get command and returns its items by the value of key.
func listItems(t *testing.T, key string, args ...string) map[string]map[string]any {
	t.Helper()
	var list struct{ Items []map[string]any }
	decodeJSON(t, kitescope(t, cli.ExitOK, append([]string{"get", "-o", "json"}, args...)...).stdout, &list)
	items := map[string]map[string]any{}
	for _, item := range list.Items {
		items[str(item[key])] = item
	}
	return items
}

func decodeJSON(t *testing.T, text string, to any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Fatalf("%v:\n%s", err, head(text))
	}
}

func checkNodes(t *testing.T, f *fakes, version string) {
	t.Helper()
	nodes := listItems(t, "name", "nodes", "--live", "--window", "0", "--from", f.from)
	want := map[string]string{
		"mixcoord-1": "Healthy", "mixcoord-9": "StandBy", "streamingnode-7": "Healthy", "streamingnode-8": "Healthy",
		"querynode-7": "Healthy", "querynode-8": "Healthy",
	}
	serving := map[string]string{
		"querynode-4": "1 0 0 0", "querynode-5": "0 0 0 0", "querynode-7": "0 0 0 1", "querynode-8": "0 1 321 1",
	}
	if version == "2.5" {
		want = map[string]string{
			"rootcoord-1": "Healthy", "rootcoord-9": "StandBy", "datacoord-1": "Healthy", "querycoord-1": "Healthy",
			"indexnode-6": "Healthy",
		}
		serving = map[string]string{"querynode-4": "1 1 321 2", "querynode-5": "0 0 0 0"}
	}
	maps.Copy(want, map[string]string{
		"proxy-2": "Healthy", "datanode-3": "Healthy", "querynode-4": "Healthy", "querynode-5": "Stopping",
	})
	health, served := map[string]string{}, map[string]string{}
	for name, n := range nodes {
		health[name] = str(n["health"])
		if n["answer"] != "answered" {
			t.Errorf("%s: %v (%v)", name, n["answer"], n["answer_reason"])
		}
		if n["role"] == "querynode" {
			served[name] = fmt.Sprint(n["sealed_segments"], " ", n["growing_segments"], " ", n["growing_rows"], " ",
				n["leads"])
		} else if n["sealed_segments"] != nil {
			t.Errorf("%s is no query node and serves %v segments", name, n["sealed_segments"])
		}
	}
	same(t, "health by node", health, want)
	same(t, "sealed, growing, growing rows and led shards by query node", served, serving)
}

func checkCalls(t *testing.T, f *fakes, version string) {
	t.Helper()
	var list struct{ Items []map[string]any }
	decodeJSON(t, kitescope(t, cli.ExitOK, "get", "calls", "-o", "json", "--window", "0", "--from", f.from).stdout,
		&list)
	outcomes := map[string]map[string]bool{} // outcomes by method
	for _, c := range list.Items {
		m := str(c["method"])
		if outcomes[m] == nil {
			outcomes[m] = map[string]bool{}
		}
		outcomes[m][str(c["outcome"])] = true
		if str(c["address"]) == "" || str(c["node"]) == "" {
			t.Errorf("nobody was asked for %s: %v", m, c)
		}
	}
	want := map[string]string{
		"GetDataDistribution": "answered", "GetMetrics": "answered", "ShowConfigurations": "answered",
		"GetRecoveryInfoV2": "answered", "GetShardLeaders": "answered",
		"GetReplicas": "answered", "GET /metrics": "answered", "GET /healthz": "answered",
		"ShowLoadCollections": "answered", "CheckBalanceStatus": "answered",
		"ListCheckers": "answered",
	}
	if version == "2.5" { // the fakes have the old names, and only RPCs that every 2.5 has
		delete(want, "ShowLoadCollections")
		want["ShowCollections"], want["CheckBalanceStatus"], want["ListCheckers"] = "answered", "unimplemented",
			"unimplemented"
	}
	for method, outcome := range want {
		if got := outcomes[method]; len(got) != 1 || !got[outcome] {
			t.Errorf("%s: %v, want all %s", method, got, outcome)
		}
	}
	for method := range outcomes {
		if version == "2.6" && method == "ShowCollections" || version == "2.5" && method == "ShowLoadCollections" {
			t.Errorf("%s is no call of %s", method, version)
		}
	}
}

func checkBalance(t *testing.T, f *fakes, version string) {
	t.Helper()
	var b struct {
		Asked        bool
		UnknownNodes []any          `json:"unknown_nodes"`
		AutoBalance  map[string]any `json:"auto_balance"`
		Nodes        []map[string]any
		Items        []map[string]any // replicas
	}
	decodeJSON(t, kitescope(t, cli.ExitOK, "balance", "-o", "json", "--window", "0", "--from", f.from).stdout, &b)
	if !b.Asked || len(b.UnknownNodes) > 0 || b.AutoBalance["known"] != true {
		t.Errorf("asked %v, unknown %v, auto-balance %v", b.Asked, b.UnknownNodes, b.AutoBalance)
	}
	states, rows := map[string]string{}, 0
	for _, n := range b.Nodes {
		states[str(n["node"])] = str(n["state"])
		for _, column := range []string{"sealed_rows", "growing_rows"} {
			var count int
			_, _ = fmt.Sscan(str(n[column]), &count)
			rows += count
		}
	}
	want := map[string]string{"4": "", "5": "stopping"}
	if version == "2.6" {
		want["7"], want["8"] = "streaming", "read-only" // from the replica's record
	}
	same(t, "states of nodes", states, want)
	same(t, "rows served", rows, 1321)
	same(t, "replicas", len(b.Items), 1)
	containsAll(t, kitescope(t, cli.ExitOK, "balance", "docs", "--plan", "--window", "0", "--from", f.from).stdout,
		"docs  replica 455000000000000150", "ALL REPLICAS")
}

// diagnosis1 is the part of the output of diagnose -o json that the tests read.
type diagnosis1 struct {
	Runtime map[string]any
	Summary map[string]any
	Items   []finding1
	Checks  []struct{ Check, Status, Reason string }
}

type finding1 struct {
	Check, Severity, Message string
	Object                   object1
	Objects                  []object1
	Cause                    *struct{ Check string }
}

type object1 struct{ Resource, ID string }

// names reports whether a finding is about an object.
func (f finding1) names(id string) bool {
	return f.Object.ID == id || slices.ContainsFunc(f.Objects, func(o object1) bool { return o.ID == id })
}

// diagnose runs diagnose and returns its output. The test fails if a check failed.
func diagnose(t *testing.T, args ...string) *diagnosis1 {
	t.Helper()
	d := &diagnosis1{}
	decodeJSON(t,
		kitescope(t, cli.ExitOK, append([]string{"diagnose", "-o", "json", "--fail-on", "never"}, args...)...).stdout,
		d)
	for _, c := range d.Checks {
		if c.Status == "failed" {
			t.Errorf("%s failed: %s", c.Check, c.Reason)
		}
	}
	return d
}

// found returns the findings of a check as text.
func (d *diagnosis1) found(check string) (messages []string) {
	for _, f := range d.Items {
		if f.Check == check {
			messages = append(messages, f.Severity+" "+f.Object.Resource+"/"+f.Object.ID+" "+f.Message)
		}
	}
	return messages
}

// status returns the status of a check, followed by the reason if there is one.
func (d *diagnosis1) status(check string) string {
	for _, c := range d.Checks {
		if c.Check == check {
			return strings.TrimSpace(c.Status + " " + c.Reason)
		}
	}
	return "no such check"
}

func checkDiagnosis(t *testing.T, f *fakes, version string) {
	t.Helper()
	d := diagnose(t, "--window", "0", "--from", f.from)
	if d.Runtime["kind"] != "live" || str(d.Runtime["sessions"]) != str(d.Runtime["answered"]) {
		t.Errorf("runtime %v", d.Runtime)
	}
	for _, c := range d.Checks {
		if strings.Contains(c.Reason, "were not queried") || strings.Contains(c.Reason, "no query node reported") ||
			strings.Contains(c.Reason, "QueryCoord did not") ||
			strings.Contains(c.Reason, "DataCoord did not") {
			t.Errorf("%s looked at nothing though all answered: %s", c.Check, c.Reason)
		}
	}
	want := map[string]string{
		"node-stopping":      "info nodes/querynode-5 ",
		"segments-invisible": "warning collections/455000000000000200 ", // flushed and invisible, in the metadata
		"config-drift":       "warning config/queryCoord/autoBalance ",  // false in etcd, true in every process
	}
	if version == "2.6" {
		delete(want, "node-stopping")
		want["stopping-node-serving"] = "warning nodes/querynode-8 " // read-only in the replica, and leads a shard
	}
	for check, begins := range want {
		messages := d.found(check)
		if !slices.ContainsFunc(messages, func(m string) bool { return strings.HasPrefix(m, begins) }) {
			t.Errorf("%s: %q, want %q (%s)", check, messages, begins, d.status(check))
		}
	}
	for _, check := range []string{
		"node-unreachable", "stale-session", "no-shard-leader", "shard-not-serviceable", "segment-loaded-twice",
		"segment-not-loaded", "load-state-mismatch",
	} {
		same(t, check, d.status(check), "ok")
	}
}

// firstCluster follows a feed as the UI does and returns the first cluster with responses of the processes.
func firstCluster(t *testing.T, from string) *model.Cluster {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	loader := &session.Loader{Now: fakeNow, Timeout: 30 * time.Second}
	spec := &session.Spec{From: from, Live: true, Nodes: live.Options{Timeout: 5 * time.Second, Now: fakeNow}}
	feed, done, err := loader.Feed(spec)
	if err != nil {
		t.Fatal(err)
	}
	feed.Interval = time.Second
	defer done()
	var c *model.Cluster
	feed.Follow(ctx, func(u history.Update) {
		if u.Err != nil {
			t.Error(u.Err)
		}
		if u.Cluster != nil && u.Cluster.Runtime != nil {
			c = u.Cluster
			stop()
		}
	})
	if c == nil {
		t.Fatalf("%s: the feed never had what the processes say", from)
	}
	return c
}
