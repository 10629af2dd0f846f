package model_test

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// loadScrape returns a scrape in testdata/metrics.
func loadScrape(t *testing.T, name string) *model.Metrics {
	t.Helper()
	f, err := os.Open("../../testdata/metrics/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := live.ParseMetrics(f, time.Unix(1_764_000_061, 0))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestStreamingNodes checks that levels are summed, the newest term wins and unset values are NaN.
func TestStreamingNodes(t *testing.T) {
	p := &model.Process{Metrics: loadScrape(t, "streamingnode.txt")}
	r := model.BuildRuntime(model.RuntimeParts{Processes: []*model.Process{p}})
	at := func(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1000)).UTC() }
	no := math.NaN()
	open := &model.WAL{
		Node: 30, PChannel: "by-dev-rootcoord-dml_0", Process: p, Open: true, Term: 7, Queue: "woodpecker",
		Recovery: "working", Flusher: "working",
		Allocated: at(1764000060), Confirmed: at(1764000059.5), Flushed: at(1764000029), Recovered: at(1764000028),
		Persisted: at(1764000000),
		Growing:   5 << 20, GrowingRows: 4010, Buffer: 64 << 10, BufferCapacity: 64 << 20, BufferFrom: at(1764000000),
		BufferTo: at(1764000059), InflightTxns: 2,
		Throttles: []model.Throttle{{Source: "b", Mode: "slowdown", Rate: 16 << 20}},
	}
	closed := &model.WAL{
		Node: 30, PChannel: "by-dev-rootcoord-dml_1", Process: p, Recovery: "stream-recovering",
		Persisted: at(1763900000),
		Buffer:    no, BufferCapacity: no, InflightTxns: no,
	}
	want := []*model.StreamingNode{
		{
			Node: 30, Process: p, WALs: []*model.WAL{open, closed}, Growing: 5 << 20, HighWater: 20 << 20,
			LowWater: 10 << 20,
		},
	}
	s := r.Streaming()
	same := cmp.Options{cmpopts.EquateNaNs(), cmp.Comparer(func(a, b *model.Process) bool { return a == b })}
	if diff := cmp.Diff(want, s.Nodes, same); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := s.WALs("by-dev-rootcoord-dml_0"); len(got) != 1 || !got[0].Open {
		t.Errorf("the log: %v", got)
	}
	if s.Node(30) == nil || s.Node(31) != nil || s.WALs("x") != nil || r.Streaming() != s {
		t.Error("a node that is not there, or read twice")
	}
}

// TestStreamingUnset checks that values are not 0 without watermarks, that 3.0's pressure replaces the sum,
// and that a series without a node is ignored.
func TestStreamingUnset(t *testing.T) {
	family := func(name string, labels []model.Pair, v float64) *model.Metrics {
		return &model.Metrics{
			Families: map[string]*model.Family{name: {Name: name, Series: []model.Series{{Labels: labels, Value: v}}}},
		}
	}
	node := []model.Pair{{Key: "channel_name", Value: "a"}, {Key: "node_id", Value: "4"}}
	m := family("milvus_wal_inflight_txn", node, 1)
	if got := m.StreamingNodes(); len(got) != 1 || !math.IsNaN(got[0].Growing) || !math.IsNaN(got[0].WALs[0].Growing) ||
		got[0].WALs[0].InflightTxns != 1 {
		t.Errorf("no watermarks: %+v", got)
	}
	m.Families["milvus_wal_growing_segment_flush_pressure_bytes"] = &model.Family{
		Series: []model.Series{{Labels: node[1:], Value: 7}},
	}
	m.Families["milvus_wal_growing_segment_hwm_bytes"] = &model.Family{
		Series: []model.Series{{Labels: node[1:], Value: 0}},
	}
	if got := m.StreamingNodes(); got[0].Growing != 7 || !math.IsNaN(got[0].HighWater) {
		t.Errorf("pressure: %+v", got[0])
	}
	if got := family("milvus_wal_inflight_txn", node[:1], 1).StreamingNodes(); got != nil {
		t.Errorf("of no node: %+v", got)
	}
	var none *model.Metrics
	var unasked *model.Runtime
	if none.StreamingNodes() != nil || none.Broadcasts() != nil || unasked.Streaming().Nodes != nil {
		t.Error("nothing was read, and something is told")
	}
}

// TestStreamingPartial checks that missing values and sums of a partial scrape are unknown.
func TestStreamingPartial(t *testing.T) {
	m := loadScrape(t, "streamingnode.txt")
	m.Partial = true
	n := m.StreamingNodes()[0]
	if !math.IsNaN(n.Growing) || !math.IsNaN(n.WALs[1].Growing) || !math.IsNaN(n.WALs[1].GrowingRows) ||
		n.WALs[0].GrowingRows != 4010 {
		t.Errorf("node %v, logs %+v, %+v", n.Growing, n.WALs[0], n.WALs[1])
	}
}

func TestBroadcasts(t *testing.T) {
	r := &model.Runtime{
		RuntimeParts: model.RuntimeParts{Processes: []*model.Process{{}, {Metrics: loadScrape(t, "coordinator.txt")}}},
	}
	want := []model.Broadcasts{
		{"CreateCollection", "Pending", 2}, {"CreateCollection", "Tombstone", 5}, {"DropCollection", "WaitAck", 1},
	}
	s := r.Streaming()
	if diff := cmp.Diff(want, s.Broadcasts); diff != "" || s.Coordinator != r.Processes[1] {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
