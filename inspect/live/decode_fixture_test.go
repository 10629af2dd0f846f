package live_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// capture returns the path of a file in a capture of the real cluster.
func capture(state string, file ...string) string {
	return filepath.Join(append([]string{"..", "..", "testdata", "snapshots", "cluster-2.3.5-" + state}, file...)...)
}

// readRuntime decodes files, which must be valid.
func readRuntime(t testing.TB, paths ...string) *model.Runtime {
	t.Helper()
	d := live.NewDecoder()
	for _, path := range paths {
		warnings, err := live.ReadFile(path, d.Add)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("read %s: %v, %q", path, err, warnings)
		}
	}
	return d.Runtime("recording", paths[0])
}

func t7(t testing.TB) *model.Runtime {
	t.Helper()
	return readRuntime(t, capture("t7", "runtime.jsonl.gz"), capture("t7", "metrics"))
}

func TestRecordedDistribution(t *testing.T) {
	r := t7(t)
	type served struct {
		Sealed, Leaders, Growing int
		Rows                     []int64 // of growing segments, by leader
	}
	got := map[model.NodeID]served{}
	for _, n := range r.QueryNodes() {
		if n.Distribution == nil {
			t.Fatalf("%s: %s %s", n.Name(), n.Outcome, n.Reason)
		}
		s := served{Sealed: len(n.Distribution.Sealed), Leaders: len(n.Distribution.Leaders)}
		for _, v := range n.Distribution.Leaders {
			s.Growing += len(v.Growing)
			if v.GrowingRows > 0 {
				s.Rows = append(s.Rows, v.GrowingRows)
			}
			if v.Serviceable != nil || v.CatchingUp != nil {
				t.Errorf("%s leads %s: 2.3 does not say whether it is serviceable", n.Name(), v.Channel)
			}
			for _, g := range v.Growing {
				if at := g.At.Time(); at.Year() != 2026 {
					t.Errorf("growing segment %d started at %s", g.ID, at)
				}
				if on := r.Served(g.ID); len(on) != 1 || on[0].Node != n || on[0].Leader == nil {
					t.Errorf("growing segment %d is served by %v", g.ID, on)
				}
			}
		}
		got[n.Node] = s
	}
	want := map[model.NodeID]served{
		10: {Sealed: 10, Leaders: 4, Growing: 1, Rows: []int64{1697}},
		13: {Sealed: 10, Leaders: 4, Growing: 3, Rows: []int64{1802, 1672, 3500}},
		14: {Sealed: 10, Leaders: 4, Growing: 2, Rows: []int64{1698, 1631}},
		19: {Sealed: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("served per node (-want +got):\n%s", diff)
	}
	if blind := r.WithoutDistribution(); len(blind) > 0 {
		t.Errorf("blind: %v", blind)
	}
}

// TestRecordedSegment compares one segment with the bytes of the recording, which were decoded by hand.
func TestRecordedSegment(t *testing.T) {
	r := t7(t)
	on := r.Served(470591703512190589)
	if len(on) != 1 || on[0].Sealed == nil {
		t.Fatalf("served by %v", on)
	}
	want := model.ServedSegment{
		ID: 470591703512190589, Collection: 470591703512390726, Partition: 470591703512390727,
		Channel: "by-dev-rootcoord-dml_6_470591703512390726v0", Version: 1795165530777436630,
		Indexes: []model.ServedIndex{
			{Field: 102, Index: 470591703512390784, Build: 470591703512391239, Bytes: 611007, Rows: 4959},
		},
	}
	if diff := cmp.Diff(want, *on[0].Sealed); diff != "" {
		t.Errorf("segment (-want +got):\n%s", diff)
	}
	without := 0
	for _, n := range r.QueryNodes() {
		for _, s := range n.Distribution.Sealed {
			if len(s.Indexes) == 0 {
				without++
			}
		}
	}
	if without != 6 { // of 33 segments 27 have index files, counted by hand
		t.Errorf("%d segments without index files, want 6", without)
	}
}

// TestMetricsAgree compares the responses of query nodes with the counts in their metrics. The scrapes were
// some seconds later, during inserts, so the number of growing rows had increased.
func TestMetricsAgree(t *testing.T) {
	r := t7(t)
	for _, n := range r.QueryNodes() {
		m := n.Process.Metrics
		sealed, _ := m.Sum("milvus_querynode_segment_num", model.Pair{Key: "segment_state", Value: "Sealed"})
		// Loading went on: by then node 19 had the segments that were assigned to it.
		if int(sealed) < len(n.Distribution.Sealed)-4 || int(sealed) > len(n.Distribution.Sealed)+4 {
			t.Errorf("%s answers %d sealed segments, its metrics count %v", n.Name(), len(n.Distribution.Sealed),
				sealed)
		}
		rows, answered := map[string]float64{}, map[string]float64{}
		for _, x := range m.Samples("milvus_querynode_entity_num") {
			if x.Label("segment_state") == "Growing" && x.Value > 0 {
				rows[x.Label("collection_id")] += x.Value
			}
		}
		for _, v := range n.Distribution.Leaders {
			if v.GrowingRows > 0 {
				answered[v.Collection.String()] += float64(v.GrowingRows)
			}
		}
		if len(rows) != len(answered) {
			t.Errorf("%s answers growing rows in %v, its metrics count %v", n.Name(), answered, rows)
		}
		for id, had := range answered {
			if rows[id] < had {
				t.Errorf("%s answers %v growing rows of collection %s, its metrics later count %v", n.Name(), had, id,
					rows[id])
			}
		}
	}
}

func TestRecordedProcesses(t *testing.T) {
	r := t7(t)
	got := map[string][]string{}
	for _, p := range r.Processes {
		for _, ref := range p.Nodes {
			got[p.Address] = append(got[p.Address], ref.ID)
			role, id, _ := strings.Cut(ref.ID, "-")
			node, _ := strconv.ParseInt(id, 10, 64)
			if n := r.LiveNode(role, model.NodeID(node)); n == nil || n.Process != p {
				t.Errorf("%s does not lead back to its process", ref.ID)
			}
		}
		if p.Outcome != model.Answered || p.Metrics == nil || p.Before != nil || p.Reason != "" {
			t.Errorf("%s: %s %s", p.Address, p.Outcome, p.Reason)
		}
		if at := p.StartedAt(); at.Format("2006-01-02 15") != "2026-11-20 09" {
			t.Errorf("%s started at %s", p.Address, at)
		}
	}
	want := map[string][]string{
		"":                {"proxy-18"}, // it reports no configuration, so that its port is unknown
		"127.0.0.1:20101": {"rootcoord-12"},
		"127.0.0.1:20111": {"datacoord-11", "indexcoord-11"},
		"127.0.0.1:20121": {"querycoord-16"},
		"127.0.0.1:20141": {"datanode-17"},
		"127.0.0.1:20151": {"indexnode-15"},
		"127.0.0.1:20161": {"querynode-13"},
		"127.0.0.1:20171": {"querynode-10"},
		"127.0.0.1:20181": {"querynode-14"},
		"127.0.0.1:20191": {"querynode-19"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sessions per process (-want +got):\n%s", diff)
	}
}

func TestRecordedSystem(t *testing.T) {
	n := t7(t).LiveNode("querynode", 19)
	want := &model.System{
		Name: "querynode19", CPUs: 2, CPUUsage: 100, Memory: 25276510208, MemoryUse: 70578176, Disk: 104857600,
		DiskUse: 2097152,
		Version: "v2.3.5-lite", BuildTime: "Fri Jan 19 14:23:10 UTC 2024", GoVersion: "go version go1.20.4 linux/amd64",
		Mode:      "DISTRIBUTED",
		StartedAt: time.Date(2026, 11, 20, 9, 5, 50, 243744391, time.UTC),
		Quota: &model.QuotaMetrics{
			Rates: map[string]float64{
				"NQPerSecond": 0, "SearchThroughput": 0, "InsertConsumeThroughput": 0, "DeleteConsumeThroughput": 0,
			},
			SearchQueue: &model.ReadQueue{AvgWait: 38}, QueryQueue: &model.ReadQueue{},
			Collections: []model.CollectionID{470591703511990283, 470591703512390726},
		},
	}
	if diff := cmp.Diff(want, n.System); diff != "" {
		t.Errorf("node 19 (-want +got):\n%s", diff)
	}
	busy := t7(t).LiveNode("querynode", 13).System.Quota
	if busy.SlowestChannel != "by-dev-rootcoord-dml_8_470591703512390726v2" || busy.SlowestAt != 470591886361624579 ||
		busy.FlowGraphs != 4 ||
		busy.GrowingBytes != 3125376 || busy.SearchQueue.AvgWait != 2779 {
		t.Errorf("node 13: %+v", busy)
	}
}

// TestRecordedStored checks that DataCoord's sizes of the collections add up to its total, 38,638,368 bytes.
func TestRecordedStored(t *testing.T) {
	r := t7(t)
	want := map[model.CollectionID]int64{
		470591703511990283: 20875999, 470591703512390516: 7957842, 470591703512390645: 5289116,
		470591703512390726: 2759753,
		470591703512390879: 220109, 470591703512390945: 1098240, 470591703512391001: 217200, 470591703512391135: 220109,
	}
	if diff := cmp.Diff(want, r.StoredBytes); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	sum := int64(0)
	for id := range want {
		bytes, _ := r.Stored(id)
		sum += bytes
	}
	if sum != 38_638_368 {
		t.Errorf("%d bytes in all", sum)
	}
	if bytes, ok := r.Stored(1); bytes != 0 || !ok {
		t.Error("a collection without segments is unknown to a DataCoord that told of all others")
	}
	if r.Tasks != nil {
		t.Errorf("a release of before 2.5 tells of %d tasks", len(r.Tasks))
	}
}

func TestRecordedCoordinators(t *testing.T) {
	r := t7(t)
	if len(r.Replicas) != 6 || len(r.ShardLeaders) != 12 || len(r.Loaded) != 6 || len(r.Groups) != 1 ||
		r.DataSegments != nil || r.Queue != nil {
		t.Errorf("%d replicas, %d leaders, %d loaded, %d groups, %v, %v", len(r.Replicas), len(r.ShardLeaders),
			len(r.Loaded), len(r.Groups), r.DataSegments, r.Queue)
	}
	for _, l := range r.ShardLeaders {
		views := r.ShardViews(l.Channel)
		if len(l.Nodes) != 1 || len(views) != 1 || views[0].Node.Node != l.Nodes[0] ||
			views[0].Node.Address != l.Addresses[0] || l.Problem != "" {
			t.Errorf("%s: QueryCoord names %v at %v, and %v leads", l.Channel, l.Nodes, l.Addresses, views)
		}
		if l.Collection != views[0].Collection {
			t.Errorf("%s: collection %d", l.Channel, l.Collection)
		}
	}
	for _, l := range r.Loaded {
		if l.Percent != 100 || !l.Available || l.RefreshPercent != 100 {
			t.Errorf("loaded: %+v", l)
		}
	}
	want := &model.LiveResourceGroup{
		Name: "__default_resource_group", Capacity: 1000000, Available: 4, Requests: -1, Limits: -1,
		LoadedReplicas: map[model.CollectionID]int32{
			470591703511990283: 1, 470591703512390516: 1, 470591703512390645: 1, 470591703512390726: 1,
			470591703512390879: 1, 470591703512391135: 1,
		},
	}
	if diff := cmp.Diff(want, r.Groups[0]); diff != "" {
		t.Errorf("resource group (-want +got):\n%s", diff)
	}
	// Collections that are not loaded have no replica: a response, not a failure.
	for _, c := range r.LiveNode("querycoord", 16).Calls {
		if c.Outcome != model.Answered {
			t.Errorf("%s %s: %s %s", c.Method, c.About, c.Outcome, c.Reason)
		}
	}
	reco := r.RecoveryOf("by-dev-rootcoord-dml_0_470591703511990283v0")
	if reco == nil || reco.SeekAt != 470591881170911234 ||
		string(reco.Seek.Message) != "z\x05\x00\x00\x00\x00\x00\x00" ||
		len(reco.Flushed) != 8 || len(reco.Dropped) != 8 || reco.Unflushed != nil || reco.LevelZero != nil {
		t.Errorf("recovery: %+v", reco)
	}
}

func TestRecordedOutcomes(t *testing.T) {
	r := t7(t)
	proxy := r.LiveNode("proxy", 18)
	got := map[string]model.Outcome{}
	for _, c := range proxy.Calls {
		got[c.Method] = c.Outcome
	}
	want := map[string]model.Outcome{
		"GetComponentStates": model.Answered, "ShowConfigurations": model.Unimplemented,
		"GetMetrics": model.Unimplemented, "GetProxyMetrics": model.Answered,
	}
	if diff := cmp.Diff(want, got); diff != "" || proxy.Outcome != model.Answered {
		t.Errorf("proxy is %s, its calls (-want +got):\n%s", proxy.Outcome, diff)
	}
	if proxy.System == nil || proxy.System.Quota.Rates["DQLSearch"] < 900 || proxy.Config != nil {
		t.Errorf("proxy: %+v", proxy)
	}
	for _, n := range r.Nodes {
		if n.State != "Healthy" || n.Outcome != model.Answered {
			t.Errorf("%s is %s, %s", n.Name(), n.State, n.Outcome)
		}
	}
	if !r.From.IsZero() || !r.To.IsZero() {
		t.Errorf("the recording has no times: %s to %s", r.From, r.To)
	}
}

// TestOnlyMetrics checks the Runtime of a cluster that has only metrics.
func TestOnlyMetrics(t *testing.T) {
	for _, test := range []struct {
		state string
		// sealed segments are per query node, growing ones of all together.
		sealed  map[model.NodeID]float64
		growing float64
	}{
		{"t1", map[model.NodeID]float64{3: 10, 5: 11, 6: 11}, 3},
		{"t3", nil, 6},
		{"t5", nil, 0},
		{"t6", map[model.NodeID]float64{3: 8, 6: 7, 10: 9, 12: 11}, 0},
	} {
		r := readRuntime(t, capture(test.state, "metrics"))
		got, growing := map[model.NodeID]float64{}, 0.0
		for _, n := range r.QueryNodes() {
			if n.Outcome != model.NotAsked || n.Reason == "" || n.Distribution != nil || n.System != nil ||
				n.Process == nil {
				t.Errorf("%s: %s: %+v", test.state, n.Name(), n)
			}
			got[n.Node], _ = n.Process.Metrics.Sum("milvus_querynode_segment_num", model.Pair{
				Key: "segment_state", Value: "Sealed",
			})
			g, _ := n.Process.Metrics.Sum("milvus_querynode_segment_num", model.Pair{
				Key: "segment_state", Value: "Growing",
			})
			growing += g
		}
		if diff := cmp.Diff(test.sealed, got); test.sealed != nil && diff != "" {
			t.Errorf("%s: sealed segments per node (-want +got):\n%s", test.state, diff)
		}
		if test.growing > 0 && growing != test.growing {
			t.Errorf("%s: %v growing segments, want %v", test.state, growing, test.growing)
		}
		if len(r.WithoutDistribution()) != len(r.QueryNodes()) || len(r.WithoutDistribution()) < 3 ||
			r.Recovery != nil || r.Replicas != nil || r.Loaded != nil {
			t.Errorf("%s: what was not asked must be unknown", test.state)
		}
	}
	idle := readRuntime(t, capture("t5", "metrics")).LiveNode("querynode", 12)
	if idle == nil {
		t.Fatal("t5: node 12 is missing")
	}
	if n, known := idle.Process.Metrics.Sum("milvus_querynode_segment_num"); known && n != 0 {
		t.Errorf("t5: node 12 serves %v segments", n)
	}
}

// TestMetricsCountWhatWasServed compares t6's metrics with the responses of the same nodes, which were recorded
// while the last segments moved: the sum is the same, and each node differs by little.
func TestMetricsCountWhatWasServed(t *testing.T) {
	text, err := os.ReadFile(capture("t6", "qn_distribution.json"))
	if err != nil {
		t.Fatal(err)
	}
	var nodes map[string]map[string]json.RawMessage
	if err := json.Unmarshal(text, &nodes); err != nil {
		t.Fatal(err)
	}
	r := readRuntime(t, capture("t6", "metrics"))
	answered, counted, rows := 0, 0, 0
	for address, fields := range nodes {
		var id model.NodeID
		var segments []json.RawMessage
		if json.Unmarshal(fields["2"], &id) != nil || json.Unmarshal(fields["3"], &segments) != nil {
			t.Fatalf("%s: %s", address, fields["2"])
		}
		m := r.LiveNode("querynode", id).Process.Metrics
		n, _ := m.Sum("milvus_querynode_segment_num", model.Pair{Key: "segment_state", Value: "Sealed"})
		in, _ := m.Sum("milvus_querynode_entity_num", model.Pair{Key: "segment_state", Value: "Sealed"})
		if int(n) < len(segments)-2 || int(n) > len(segments)+2 {
			t.Errorf("node %d answered %d sealed segments, its metrics count %v", id, len(segments), n)
		}
		answered, counted, rows = answered+len(segments), counted+int(n), rows+int(in)
	}
	if want := 35712 + 29463 + 31519 + 34042; len(nodes) != 4 || answered != 35 || counted != 35 || rows != want {
		t.Errorf("%d nodes answered %d sealed segments, their metrics count %d with %d rows; want 4, 35, 35, %d",
			len(nodes), answered, counted, rows, want)
	}
}
