package live_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// capturedRecords returns the recording of the real cluster, and its /metrics by address.
func capturedRecords(t *testing.T) (records []live.Record, metrics map[string][]byte) {
	t.Helper()
	for _, path := range []string{capture("t7", "runtime.jsonl.gz"), capture("t7", "metrics")} {
		if warnings, err := live.ReadFile(path, func(r live.Record) { records = append(records, r) }); err != nil ||
			len(warnings) > 0 {
			t.Fatalf("read %s: %v, %q", path, err, warnings)
		}
	}
	metrics = map[string][]byte{}
	for _, m := range records {
		at := slices.IndexFunc(records, func(r live.Record) bool {
			return r.Role == m.Role && r.Node == m.Node && r.Address != ""
		})
		if m.Address == "" && at >= 0 {
			metrics[records[at].Address] = m.Response
		}
	}
	return records, metrics
}

func loadCluster(t *testing.T, snap source.Snapshot) *model.Cluster {
	t.Helper()
	c, err := meta.Load(t.Context(), snap, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRecordedCluster queries servers that replay the recording of the real cluster, and checks that the
// Runtime is that of the recording.
func TestRecordedCluster(t *testing.T) {
	src, err := source.Open(t.Context(), capture("t7", "etcd_snapshot.db.gz"), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	records, metrics := capturedRecords(t)
	servers, err := recorded.Start(records, recorded.Options{Metrics: metrics, Cluster: "by-dev"})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	back := map[string]string{} // from the served address to the recorded one
	c := livetest.WithAddresses(loadCluster(t, snap), func(s *model.Session) string {
		to, ok := servers.Address(s.Address)
		if !ok {
			t.Errorf("%s has no server", s.Name())
		}
		back[to] = s.Address
		return to
	})
	got := ask(t, c, live.Options{Now: func() time.Time { return time.Time{} }})
	want := t7(t)
	// The recording has DataCoord's responses on all collections; only loaded ones are queried.
	want.Recovery = slices.DeleteFunc(want.Recovery, func(r *model.Recovery) bool {
		return !slices.ContainsFunc(c.LoadStates, func(l *model.LoadState) bool { return l.Collection == r.Collection })
	})

	// The differences are times, addresses, calls, and data that a file cannot hold.
	same := cmp.Options{
		cmpopts.IgnoreUnexported(model.Runtime{}),
		cmpopts.IgnoreFields(model.RuntimeParts{}, "Kind", "Location", "From", "To", "Processes", "Skipped",
			"ClusterKey", "Queue"),
		cmpopts.IgnoreFields(model.LiveNode{}, "Calls", "Process"),
		cmpopts.EquateEmpty(),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Address" },
			cmp.Comparer(func(a, b string) bool { return a == b || back[a] == b || back[b] == a })),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == `["commonmetricsport"]` }, cmp.Ignore()),
		cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == `["kafkabrokerlist"]` }, cmp.Ignore()),
	}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("asked (+) is not what was recorded (-):\n%s", diff)
	}
	wantNodes := map[model.NodeID]int{10: 10, 13: 10, 14: 10, 19: 3} // segments, according to the fixture's README
	for _, n := range got.QueryNodes() {
		if n.Distribution == nil || len(n.Distribution.Sealed) != wantNodes[n.Node] || n.Process == nil ||
			n.Process.Metrics == nil {
			t.Errorf("%s: %+v", n.Name(), n)
		}
	}
	if n := got.LiveNode("datacoord", 11); n.Process == nil || len(n.Process.Nodes) != 2 {
		t.Errorf("datacoord and indexcoord are one process: %+v", n.Process)
	}
}

// memory is a snapshot of keys in memory.
type memory []source.KV

func (m memory) Header() source.Header {
	return source.Header{Root: "by-dev", MetaPath: "meta", Revision: 100, Taken: livetest.Now}
}
func (m memory) Seekable() bool     { return false }
func (m memory) Gaps() []source.Gap { return nil }
func (m memory) Close() error       { return nil }
func (m memory) Scan(_ context.Context, ranges []source.Range, yield func(source.KV) error) error {
	slices.SortFunc(m, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	for _, kv := range m {
		if slices.ContainsFunc(ranges, func(r source.Range) bool { return r.Contains(kv.Key) }) {
			if err := yield(kv); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestStreamingCluster checks metadata of the 2.6 layout, and fakes that support only the new names.
func TestStreamingCluster(t *testing.T) {
	c := loadCluster(t, memory(metatest.Cluster("2.6")))
	records := livetest.Responses(c, livetest.Options{})
	for _, r := range records {
		if r.Method == "/milvus.proto.query.QueryCoord/ShowCollections" ||
			r.Method == "/milvus.proto.query.QueryCoord/GetComponentStates" {
			t.Fatalf("%s is gone in 2.6", r.Method)
		}
	}
	r := ask(t, livetest.Serve(t, c, records, recorded.Options{}), live.Options{})
	roles := map[string]int{}
	for _, n := range r.Nodes {
		roles[n.Role]++
		wantOutcome(t, r, n.Role, n.Node, model.Answered, "")
	}
	if diff := cmp.Diff(map[string]int{"mixcoord": 2, "proxy": 1, "datanode": 1, "streamingnode": 2, "querynode": 4},
		roles); diff != "" {
		t.Errorf("roles: %s", diff)
	}
	if n := r.LiveNode("mixcoord", 9); n == nil || n.State != "StandBy" {
		t.Errorf("the standby: %+v", n)
	}
	for _, n := range r.Nodes { // a standby gets no calls that it would refuse
		for _, call := range n.Calls {
			if call.Outcome != model.Answered {
				t.Errorf("%s: %s %s: %s (%s)", n.Name(), call.Method, call.About, call.Outcome, call.Reason)
			}
		}
	}
	if n := r.LiveNode("querynode", 5); n == nil || n.State != "Stopping" {
		t.Errorf("the stopping node: %+v", n)
	}
	if r.Loaded == nil || r.Replicas == nil || r.Recovery == nil || r.ShardLeaders == nil || r.DataSegments == nil ||
		r.BalanceActive == nil || r.Checkers == nil {
		t.Errorf("the coordinators of mixcoord are unknown: %+v", r.RuntimeParts)
	}
	growing := 0
	for _, n := range r.QueryNodes() {
		if n.Distribution == nil || n.Distribution.MemoryCapacity != 32<<30 || n.Distribution.CPUs != 8 {
			t.Errorf("%s: %+v", n.Name(), n.Distribution)
			continue
		}
		for _, v := range n.Distribution.Leaders {
			growing += len(v.Growing)
			if v.Serviceable == nil || !*v.Serviceable {
				t.Errorf("%s leads %s: serviceable %v", n.Name(), v.Channel, v.Serviceable)
			}
			if n.Node != 7 && n.Node != 8 {
				t.Errorf("%s leads %s: streaming nodes do", n.Name(), v.Channel)
			}
		}
	}
	if growing == 0 {
		t.Error("no growing segment is served")
	}
	if n := r.LiveNode("streamingnode", 7); n.Process == nil || n.Process != r.LiveNode("querynode", 7).Process {
		t.Error("a streaming node and its query node are not one process")
	}
}

// TestRenamedCalls checks that a server of another version than its session's gets the call under its other
// name.
func TestRenamedCalls(t *testing.T) {
	for says, is := range map[string]string{"2.6.3": "2.5.4", "2.5.4": "2.6.3"} {
		c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Collections: 1, Segments: 2})
		for _, s := range c.Sessions {
			s.Version = is
		}
		records := livetest.Responses(c, livetest.Options{})
		for _, s := range c.Sessions {
			s.Version = says
		}
		r := ask(t, livetest.Serve(t, c, records, recorded.Options{}), live.Options{})
		if len(r.Loaded) != 1 {
			t.Errorf("says %s, is %s: loaded %v", says, is, r.Loaded)
		}
	}
}

// TestSegmentsThatAreGone checks that a segment id that DataCoord no longer has affects only that segment.
func TestSegmentsThatAreGone(t *testing.T) {
	c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Collections: 1, Segments: 1, Growing: 40})
	gone := c.Segments[17].ID
	servers := livetest.Serve(t, c, livetest.WithoutSegments(livetest.Responses(c, livetest.Options{}), gone),
		recorded.Options{})
	r := ask(t, servers, live.Options{})
	if len(r.DataSegments) != 39 || r.DataSegment(gone) != nil {
		t.Errorf("%d segments, want 39 without %s", len(r.DataSegments), gone)
	}
	failed := 0
	for _, call := range r.LiveNode("datacoord", 2).Calls {
		if call.Method == "GetSegmentInfo" && call.Outcome == model.Failed {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d questions about segments failed, want the one about %s", failed, gone)
	}
}

// TestDataCoordThatFails checks that a batch is not split forever.
func TestDataCoordThatFails(t *testing.T) {
	c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Collections: 1, Segments: 1, Growing: 400})
	records := livetest.Responses(c, livetest.Options{})
	var all []model.SegmentID
	for _, s := range c.Segments {
		all = append(all, s.ID)
	}
	r := ask(t, livetest.Serve(t, c, livetest.WithoutSegments(records, all...), recorded.Options{}), live.Options{})
	failed := 0
	for _, call := range r.LiveNode("datacoord", 2).Calls {
		if call.Method == "GetSegmentInfo" && call.Outcome == model.Failed {
			failed++
		}
	}
	if failed == 0 || failed > 65 || r.DataSegments != nil {
		t.Errorf("%d questions failed, %d segments", failed, len(r.DataSegments))
	}
}
