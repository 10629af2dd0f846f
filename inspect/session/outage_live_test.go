package session_test

import (
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// hangingCluster starts an etcd behind a proxy. Its registered coordinator and node accept connections and never
// respond.
func hangingCluster(t *testing.T) (*sourcetest.Proxy, *session.Loader, *session.Spec) {
	t.Helper()
	server := sourcetest.StartEtcd(t, nil)
	kvs := []source.KV{{Key: []byte("by-dev/meta/session/id"), Value: []byte("3")}}
	for name, record := range map[string]string{
		"datacoord":   `{"ServerID":1,"ServerName":"datacoord","Address":"` + livetest.Silent(t) + `"}`,
		"querynode-2": `{"ServerID":2,"ServerName":"querynode","Address":"` + livetest.Silent(t) + `"}`,
	} {
		kvs = append(kvs, source.KV{Key: []byte("by-dev/meta/session/" + name), Value: []byte(record)})
	}
	server.Load(t, kvs)
	proxy := sourcetest.StartProxy(t, server.Address)
	return proxy, &session.Loader{Now: time.Now, Timeout: time.Second}, &session.Spec{
		From: "etcd://" + proxy.Address + "/by-dev", Want: meta.Want{Parts: model.PartAll}, Live: true, Recent: true,
		Reread: true, Outage: true,
		Nodes: live.Options{Timeout: 4 * time.Second, Window: 500 * time.Millisecond},
	}
}

// TestAllHang checks that one deadline applies if etcd, a coordinator and a node hang during the queries, and that
// each is reported to hang.
func TestAllHang(t *testing.T) {
	t.Parallel()
	proxy, loader, spec := hangingCluster(t)
	punctual := livetest.Punctual(t)
	src, err := loader.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	loader.OnRead = func(s source.Snapshot) (source.Snapshot, func()) { return s, proxy.Freeze }
	begun := time.Now()
	c, err := loader.Read(t.Context(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > spec.Nodes.Timeout+time.Second && punctual() {
		t.Errorf("took %s with a deadline of %s", took, spec.Nodes.Timeout)
	}
	if !c.Etcd.Unresponsive() {
		t.Errorf("etcd %+v", c.Etcd)
	}
	for role, id := range map[string]model.NodeID{"datacoord": 1, "querynode": 2} {
		if n := c.Runtime.LiveNode(role, id); n == nil || n.Outcome != model.TimedOut {
			t.Errorf("%s: %+v", role, n)
		}
	}
}

// TestOutage checks that a hanging etcd gives a cluster if Outage is set, and that the processes of an earlier load
// are queried.
func TestOutage(t *testing.T) {
	t.Parallel()
	proxy, loader, spec := hangingCluster(t)
	known, err := loader.Load(t.Context(), &session.Spec{From: spec.From, Want: spec.Want})
	if err != nil {
		t.Fatal(err)
	}
	proxy.CloseConnections()
	proxy.Freeze()
	spec.Nodes.Timeout = time.Second
	c, err := loader.Load(t.Context(), spec)
	if err != nil || !c.Etcd.Unresponsive() || c.Loaded != 0 || c.Runtime != nil || len(c.Gaps) == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	spec.Fallback = known
	if c, err = loader.Load(t.Context(), spec); err != nil || !c.Etcd.Unresponsive() || c.Runtime == nil ||
		c.Runtime.LiveNode("querynode", 2) == nil {
		t.Errorf("%+v, %v", c, err)
	}
	spec.Outage = false
	if _, err = loader.Load(t.Context(), spec); err == nil {
		t.Error("no error")
	}
}
