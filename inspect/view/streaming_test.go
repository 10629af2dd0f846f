package view

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// loadScrapes returns a process with two scrapes from testdata/metrics: the newest, and one 10 s earlier with
// all counters at 0.
func loadScrapes(t *testing.T, name string, node model.Ref) *model.Process {
	t.Helper()
	text, err := os.Open("../../testdata/metrics/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	m, err := live.ParseMetrics(text, time.Unix(1_764_000_061, 0))
	if err != nil {
		t.Fatal(err)
	}
	before := &model.Metrics{At: m.At.Add(-10 * time.Second), Families: maps.Clone(m.Families)}
	for family, f := range before.Families {
		if f.Kind == model.MetricGauge {
			continue
		}
		was := *f
		was.Series = slices.Clone(f.Series)
		for i := range was.Series {
			was.Series[i].Value, was.Series[i].Count, was.Series[i].Buckets = 0, 0, nil
		}
		before.Families[family] = &was
	}
	return &model.Process{Nodes: []model.Ref{node}, Outcome: model.Answered, Metrics: m, Before: before}
}

// streamingEnv returns a cluster of 2.6 with two streaming nodes. One of them was not scraped.
func streamingEnv(t *testing.T) *Env {
	t.Helper()
	p := loadScrapes(t, "streamingnode.txt", model.Ref{Resource: "nodes", ID: "streamingnode-30"})
	coordinator := loadScrapes(t, "coordinator.txt", model.Ref{Resource: "nodes", ID: "mixcoord-1"})
	pchannel := func(name string, node model.NodeID) *model.PChannel {
		return &model.PChannel{Name: name, Streaming: true, State: "Assigned", Term: 7, Node: node}
	}
	c := model.Build(model.Parts{
		Origin: model.Origin{Kind: "etcd"}, Loaded: model.PartAll,
		Sessions: []*model.Session{
			{Node: 30, Role: "streamingnode"},
			{Node: 31, Role: "streamingnode"},
			{Node: 1, Role: "mixcoord"},
			{Node: 5, Role: "querynode"},
		},
		PChannels: []*model.PChannel{
			pchannel("by-dev-rootcoord-dml_0", 30), pchannel("by-dev-rootcoord-dml_1", 30),
			pchannel("by-dev-rootcoord-dml_2", 30), pchannel("by-dev-rootcoord-dml_3", 31),
			{Name: "by-dev-rootcoord-dml_4"},
			{Name: "by-dev-rootcoord-dml_5", Streaming: true, State: "Uninitialized"},
		},
	}).WithRuntime(model.BuildRuntime(model.RuntimeParts{
		Nodes: []*model.LiveNode{
			{Role: "streamingnode", Node: 30, Outcome: model.Answered, Process: p},
			{Role: "streamingnode", Node: 31, Outcome: model.Refused},
			{Role: "mixcoord", Node: 1, Outcome: model.Answered, Process: coordinator},
		},
		Processes: []*model.Process{p, coordinator},
	}))
	return NewEnv(c, time.Unix(1_764_000_061, 0))
}

// TestPChannelStreaming checks the columns of a log that is open, recovering, missing, on a node without
// metrics, or without streaming.
func TestPChannelStreaming(t *testing.T) {
	rows := pchannels.Table(streamingEnv(t))
	bytesOf := func(v int64) table.Cell { return table.Cell{Int: v} }
	for name, want := range map[string][]table.Cell{
		"wal_state": {
			{Text: "Open"}, {Text: "stream-recovering"}, {Text: "NotOpen"}, unknown(), none(), none(),
		},
		"wal_nodes":                 {{List: []string{"30", "streamingnode-30"}}, {}, {}, unknown(), none(), {}},
		"wal_term":                  {bytesOf(7), none(), none(), unknown(), none(), none()},
		"wal_queue":                 {{Text: "woodpecker"}, none(), none(), unknown(), none(), none()},
		"wal_throttle":              {{List: []string{"b slowdown"}}, {}, none(), unknown(), none(), none()},
		"appends_per_second":        {{Float: 33}, none(), none(), unknown(), none(), none()},
		"failed_appends_per_second": {{Float: 3}, none(), none(), unknown(), none(), none()},
		"append_bytes_per_second":   {bytesOf(60000), none(), none(), unknown(), none(), none()},
		"append_ms":                 {{Float: 5}, none(), none(), unknown(), none(), none()},
		"growing_bytes":             {bytesOf(5 << 20), bytesOf(0), none(), unknown(), none(), none()},
		"growing_rows":              {bytesOf(4010), bytesOf(0), none(), unknown(), none(), none()},
		"flush_lag_seconds":         {bytesOf(30.5e9), unknown(), none(), unknown(), none(), none()},
		"recovery_lag_seconds":      {bytesOf(59.5e9), unknown(), none(), unknown(), none(), none()},
		"persisted_at":              {bytesOf(1764000000e9), bytesOf(1763900000e9), none(), unknown(), none(), none()},
		"buffer_bytes":              {bytesOf(64 << 10), unknown(), none(), unknown(), none(), none()},
		"buffer_from":               {bytesOf(1764000000e9), unknown(), none(), unknown(), none(), none()},
		"inflight_txns":             {bytesOf(2), unknown(), none(), unknown(), none(), none()},
	} {
		for row, is := range want {
			if diff := cmp.Diff(is, rows.Cell(row, pchannels.Column(name)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("row %d: %s (-want +got):\n%s", row, name, diff)
			}
		}
	}
}

// TestNodeStreaming checks the columns of a streaming node, of one that was not scraped, and of a
// coordinator, and that other roles have none.
func TestNodeStreaming(t *testing.T) {
	env := streamingEnv(t)
	rows := nodes.Table(env)
	at := map[model.NodeID]int{}
	for i, s := range env.Cluster.Sessions {
		at[s.Node] = i
	}
	for _, test := range []struct {
		node model.NodeID
		name string
		want table.Cell
	}{
		{30, "pchannels", table.Cell{Int: 3}},
		{31, "pchannels", table.Cell{Int: 1}},
		{5, "pchannels", none()},
		{30, "wals_open", table.Cell{Int: 1}},
		{31, "wals_open", unknown()},
		{5, "wals_open", none()},
		{30, "growing_bytes", table.Cell{Int: 5 << 20}},
		{30, "growing_hwm_bytes", table.Cell{Int: 20 << 20}},
		{30, "growing_lwm_bytes", table.Cell{Int: 10 << 20}},
		{31, "growing_hwm_bytes", unknown()},
		{1, "broadcasts", table.Cell{List: []string{"Pending", "2", "Tombstone", "5", "WaitAck", "1"}}},
		{30, "broadcasts", none()},
	} {
		if diff := cmp.Diff(test.want, rows.Cell(at[test.node], nodes.Column(test.name))); diff != "" {
			t.Errorf("node %d: %s (-want +got):\n%s", test.node, test.name, diff)
		}
	}
}

// TestPartialScrapes checks that values missing in a truncated scrape are unknown, and that a read-only log does
// not count as missing.
func TestPartialScrapes(t *testing.T) {
	env := streamingEnv(t)
	env.Cluster.PChannels[2].AccessMode = "ReadOnly"
	at := map[model.NodeID]int{}
	for i, s := range env.Cluster.Sessions {
		at[s.Node] = i
	}
	if got := pchannels.Table(env).Cell(2, pchannels.Column("wal_state")); got.Text != "ReadOnly" {
		t.Errorf("read only: %v", got)
	}
	env.Cluster.PChannels[2].AccessMode = "ReadWrite"
	for _, p := range env.Cluster.Runtime.Processes {
		p.Metrics.Partial = true
	}
	again := func() *model.Cluster {
		return env.Cluster.WithRuntime(model.BuildRuntime(model.RuntimeParts{
			Nodes: env.Cluster.Runtime.Nodes, Processes: env.Cluster.Runtime.Processes,
		}))
	}
	c := again()
	env = NewEnv(c, env.Now)
	rows, sessions := pchannels.Table(env), nodes.Table(env)
	for row, want := range []table.Cell{
		{Text: "Open"}, {Text: "stream-recovering"}, unknown(), unknown(), none(), none(),
	} {
		if diff := cmp.Diff(want, rows.Cell(row, pchannels.Column("wal_state"))); diff != "" {
			t.Errorf("row %d (-want +got)\n%s", row, diff)
		}
	}
	for _, name := range []string{"wal_term", "wal_queue", "growing_bytes", "growing_rows"} {
		if got := rows.Cell(1, pchannels.Column(name)); got.Absent != table.Unknown {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, node := range map[string]model.NodeID{"wals_open": 30, "growing_bytes": 30, "broadcasts": 1} {
		if got := sessions.Cell(at[node], nodes.Column(name)); got.Absent != table.Unknown {
			t.Errorf("%s: %v", name, got)
		}
	}
	delete(env.Cluster.Runtime.LiveNode("streamingnode", 30).Process.Metrics.Families, "milvus_wal_recovery_info")
	if got := pchannels.Table(NewEnv(again(), env.Now)).Cell(1, pchannels.Column("wal_state")); got.Absent !=
		table.Unknown {
		t.Errorf("a log of which a part was read: %v", got)
	}
	c.Runtime.LiveNode("mixcoord", 1).Process = nil
	if got := nodes.Table(env).Cell(at[1], nodes.Column("broadcasts")); got.Absent != table.Unknown {
		t.Errorf("broadcasts of a coordinator that was not scraped: %v", got)
	}
}

// TestWALPositionsFromMetrics checks that the time of a position comes from the metrics if etcd does not have
// the position.
func TestWALPositionsFromMetrics(t *testing.T) {
	env := streamingEnv(t)
	rows := wal.Table(env)
	got := map[string]int64{}
	for row := range rows.Len() {
		age := rows.Cell(row, wal.Column("age_seconds"))
		if age.Absent != table.Present || rows.Cell(row, wal.Column("position")).Absent != table.Unknown {
			t.Errorf("%s: age or position of another source", rows.Ref(row).ID)
		}
		got[rows.Ref(row).ID] = age.Int / 1e6
	}
	want := map[string]int64{
		"by-dev-rootcoord-dml_0/Written": 1500, "by-dev-rootcoord-dml_0/Consumed": 32000,
		"by-dev-rootcoord-dml_0/Recovered": 61000, "by-dev-rootcoord-dml_1/Recovered": 100061000,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	env.Cluster.PChannels[0].Checkpoint = model.Checkpoint{At: model.TSOFromTime(env.Now.Add(-9 * time.Second))}
	rows = wal.Table(env)
	if i := RowOf(rows, "by-dev-rootcoord-dml_0/Recovered"); i < 0 ||
		rows.Cell(i, wal.Column("age_seconds")).Int/1e9 != 9 {
		t.Errorf("the checkpoint in etcd comes first")
	}
}

func TestOverviewOfStreaming(t *testing.T) {
	env := streamingEnv(t)
	env.Cluster.PChannels[3].State = "Assigning" // on a node but not in state Assigned
	state := func(s string, n int64) StateCount { return StateCount{State: s, Count: n, Rows: none()} }
	node := Ref{Resource: "nodes", ID: "streamingnode-30", Name: "streamingnode-30"}
	want := &StreamingLine{
		Nodes: 2, Channels: 5, Assigned: 3,
		WALs: []StateCount{
			state("NotOpen", 1), state("Open", 1), state("stream-recovering", 1), state("unknown", 1),
		},
		Fullest: node, Growing: table.Cell{Int: 5 << 20}, HighWater: table.Cell{Int: 20 << 20},
	}
	if diff := cmp.Diff(want, NewOverview(env).Streaming); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	c := env.Cluster.WithRuntime(nil)
	want = &StreamingLine{Nodes: 2, Channels: 5, Assigned: 3, Growing: unknown(), HighWater: unknown()}
	if diff := cmp.Diff(want, NewOverview(NewEnv(c, env.Now)).Streaming); diff != "" {
		t.Errorf("not asked (-want +got)\n%s", diff)
	}
	if o := NewOverview(cacheEnv(t)); o.Streaming != nil {
		t.Errorf("no streaming node: %+v", o.Streaming)
	}
}
