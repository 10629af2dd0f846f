package live_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// TestRegisteredTwice checks that a session under two keys is queried once. It also checks that two sessions
// at the same address are distinguished if one belongs to the previous process.
func TestRegisteredTwice(t *testing.T) {
	c := smallCluster(t, livetest.Spec{}, livetest.Options{}, recorded.Options{})
	parts := c.Parts
	parts.Sessions = slices.Clone(c.Sessions)
	for _, s := range c.Sessions {
		if s.Name() != "querynode-101" {
			continue
		}
		twin, before := *s, *s
		twin.Key, before.Key, before.Node = s.Key+"-2", s.Key+"-1", 55
		parts.Sessions = append(parts.Sessions, &twin, &before)
	}
	r := ask(t, model.Build(parts), live.Options{})
	wantOutcome(t, r, "querynode", 101, model.Answered, "")
	wantOutcome(t, r, "querynode", 55, model.Stale, "another process has this address now")
	if a, b := len(r.LiveNode("querynode", 101).Calls), len(r.LiveNode("querynode", 100).Calls); a != b {
		t.Errorf("%d calls to a session that is registered twice, %d to another", a, b)
	}
	if n := r.LiveNode("querynode", 55); n.Distribution != nil || n.Config != nil || n.Process != nil {
		t.Errorf("the process before: %+v", n)
	}
}

// TestIDsOfTheirOwn checks processes up to 2.2, whose roles have separate ids.
func TestIDsOfTheirOwn(t *testing.T) {
	c := livetest.Cluster(livetest.Spec{Standalone: true, QueryNodes: 1, Collections: 1, Segments: 3})
	parts := c.Parts
	parts.Sessions = nil
	for i, s := range c.Sessions {
		own := *s
		own.Node = model.NodeID(30 + i)
		parts.Sessions = append(parts.Sessions, &own)
	}
	c = model.Build(parts)
	records := livetest.Responses(c, livetest.Options{})
	var text strings.Builder
	for _, s := range c.Sessions {
		fmt.Fprintf(&text, "milvus_num_node{node_id=%q,role_name=%q} 1\n", s.Node.String(), s.Role)
	}
	for i := range records {
		if records[i].Method == "GET /metrics" {
			records[i].Response = []byte(text.String())
		}
	}
	r := ask(t, livetest.Serve(t, c, records, recorded.Options{}), live.Options{})
	if len(r.Processes) != 1 || len(r.Processes[0].Nodes) != len(c.Sessions) {
		t.Errorf("%d processes: %+v", len(r.Processes), r.Processes)
	}
	for _, s := range c.Sessions {
		wantOutcome(t, r, s.Role, s.Node, model.Answered, "")
		if why := skipped(r, "metrics of "+s.Name()); why != "" || r.LiveNode(s.Role, s.Node).Process == nil {
			t.Errorf("%s has no process: %s", s.Name(), why)
		}
	}
}

// TestRestartBetweenCalls checks that after another process responds, the earlier responses count neither for
// the session nor for the cluster.
func TestRestartBetweenCalls(t *testing.T) {
	collection := &milvuspb.GetReplicasRequest{CollectionID: 7}
	before := []live.Record{
		answered(t, "querycoord-3", inQueryCoord+"GetReplicas", collection, &milvuspb.GetReplicasResponse{
			Status: ok, Replicas: []*milvuspb.ReplicaInfo{{ReplicaID: 1, CollectionID: 7}},
		}),
		answered(t, "querycoord-3", inQueryCoord+"ShowCollections", nil, &querypb.ShowCollectionsResponse{
			Status: ok, CollectionIDs: []int64{7}, InMemoryPercentages: []int64{100},
		}),
		answered(t, "querycoord-3", inQueryCoord+"ListResourceGroups", nil, &milvuspb.ListResourceGroupsResponse{
			Status: ok, ResourceGroups: []string{"a"},
		}),
		answered(t, "querycoord-3", inQueryCoord+"GetMetrics", nil, &milvuspb.GetMetricsResponse{
			Status:   ok,
			Response: `{"cluster":{"self":{"id":3,"name":"querycoord3"},"connected_nodes":[{"id":9,"name":"querynode9"}]}}`,
		}),
		answered(t, "datacoord-2", inDataCoord+"GetRecoveryInfoV2", &datapb.GetRecoveryInfoRequestV2{CollectionID: 7},
			&datapb.GetRecoveryInfoResponseV2{Status: ok}),
	}
	after := live.Record{
		Role: "querycoord", Node: 3, Method: inQueryCoord + "ShowConfigurations", Outcome: "stale",
		Error: "node not match",
	}
	r := decode(before...)
	if len(r.Replicas) != 1 || len(r.Loaded) != 1 || len(r.Groups) != 1 || r.Recovery == nil ||
		r.LiveNode("querynode", 9) == nil {
		t.Fatalf("before: %+v", r.RuntimeParts)
	}
	r = decode(append(slices.Clone(before), after)...)
	if r.Replicas != nil || r.Loaded != nil || r.Groups != nil || r.LiveNode("querycoord", 3).System != nil ||
		r.LiveNode("querynode", 9) != nil {
		t.Errorf("what the process before said counts: %+v", r.RuntimeParts)
	}
	if r.Recovery == nil {
		t.Error("what another coordinator said does not count")
	}
}

// TestRestartBetweenScrapes checks that no rates are computed from scrapes of different processes.
func TestRestartBetweenScrapes(t *testing.T) {
	scrape := func(second int, start, cpu float64) live.Record {
		return live.Record{
			Role: "proxy", Node: 3, Address: "10.0.0.3:9091", Method: "GET /metrics", Outcome: "answered",
			At:       time.Unix(1795170000+int64(second), 0),
			Response: fmt.Appendf(nil, "process_start_time_seconds %v\nprocess_cpu_seconds_total %v\n", start, cpu),
		}
	}
	if p := decode(scrape(0, 1795160000, 1), scrape(10, 1795160000, 9)).Processes[0]; p.Before == nil {
		t.Error("one process: no scrape before")
	}
	if p := decode(scrape(0, 1795160000, 1), scrape(10, 1795170005, 9)).Processes[0]; p.Before != nil {
		t.Error("a scrape of another process is kept as the one before")
	}
}

// TestInvalidFigures checks that invalid counts are unknown.
func TestInvalidFigures(t *testing.T) {
	for _, capacity := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -5, 1e300} {
		d := decode(answered(t, "querynode-5", inQueryNode+"GetDataDistribution", nil,
			&querypb.GetDataDistributionResponse{
				Status: ok, NodeID: 5, MemCapacityInMB: capacity, CpuNum: -3, LastModifyTs: -1,
				LeaderViews: []*querypb.LeaderView{{Channel: "c", NumOfGrowingRows: -7}},
			})).LiveNode("querynode", 5).Distribution
		if d.MemoryCapacity != 0 || d.CPUs != 0 || !d.ModifiedAt.IsZero() || d.Leaders[0].GrowingRows != 0 {
			t.Errorf("%v: %+v", capacity, d)
		}
	}
	system := decode(answered(t, "querynode-5", inQueryNode+"GetMetrics", nil, &milvuspb.GetMetricsResponse{
		Status: ok,
		Response: `{"id":5,"name":"querynode5",
		"hardware_infos":{"cpu_core_count":-8,"cpu_core_usage":-1,"memory":1e300,"memory_usage":-4,"disk":18446744073709551615},"created_time":"9999999-01-01 00:00:00 +0000 UTC",
		"quota_metrics":{"Rms":[],"GrowingSegmentsSize":-5,"SearchQueue":{"UnsolvedQueue":-1,"AvgQueueDuration":-9}}}`,
	})).LiveNode("querynode", 5).System
	want := &model.System{
		Name: "querynode5", Quota: &model.QuotaMetrics{Rates: map[string]float64{}, SearchQueue: &model.ReadQueue{}},
	}
	if diff := cmp.Diff(want, system); diff != "" {
		t.Errorf("system (-want +got):\n%s", diff)
	}
	m, err := live.ParseMetrics(strings.NewReader("a NaN\nb +Inf\nc -2\n# TYPE s summary\ns{quantile=\"0.5\"} NaN\n"+
		"s_sum 0\ns_count 0\nprocess_start_time_seconds 1e300\n"), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if _, known := m.Sum("a"); known || m.Families["b"] != nil || len(m.Families["s"].Series[0].Quantiles) > 0 {
		t.Errorf("no numbers: %v", m.Families)
	}
	if c, _ := m.Sum("c"); c != -2 {
		t.Errorf("c = %v", c)
	}
	for _, seconds := range []float64{1e300, -1e300, math.MaxInt64, 1e12} {
		p := &model.Process{
			Metrics: modeltest.Scrape(time.Time{},
				map[string][]model.Series{"process_start_time_seconds": {{Value: seconds}}}),
		}
		if at := p.StartedAt(); !at.IsZero() {
			t.Errorf("started at %v", at)
		}
	}
}

// TestHugeConfig checks that a configuration with a hundred thousand keys is refused.
func TestHugeConfig(t *testing.T) {
	var pairs []string
	for i := range 100_000 {
		pairs = append(pairs, fmt.Sprintf("querynode.x%d", i), "1")
	}
	if n := decode(configuration(t, pairs...)).LiveNode("querynode", 5); n.Outcome != model.TooLarge ||
		n.Config != nil {
		t.Errorf("%s (%s)", n.Outcome, n.Reason)
	}
}

// TestDecodedSizeLimit checks that a response that would take too much memory is neither decoded nor stored.
func TestDecodedSizeLimit(t *testing.T) {
	heavy := answered(t, "querynode-5", inQueryNode+"GetDataDistribution", nil, &querypb.GetDataDistributionResponse{})
	heavy.Response = emptySegments(4 << 20)
	long := answered(t, "querynode-5", inQueryNode+"ShowConfigurations", nil, &internalpb.ShowConfigurationsResponse{})
	long.Response = encode(t, &milvuspb.GetMetricsResponse{Status: ok, Response: strings.Repeat("{},", 1<<20)})
	long.Method = inQueryNode + "GetMetrics"
	for _, r := range []live.Record{heavy, long} {
		n := decode(r).LiveNode("querynode", 5)
		if n.Outcome != model.TooLarge || n.Distribution != nil || !strings.Contains(n.Reason, "once it is decoded") {
			t.Errorf("%s (%s)", n.Outcome, n.Reason)
		}
	}
	kept := live.Redact(heavy)
	if n := decode(kept).LiveNode("querynode", 5); kept.Response != nil || n.Outcome != model.TooLarge {
		t.Errorf("kept: %d bytes, %s", len(kept.Response), n.Outcome)
	}
	// A normal response of a node with very many segments is decoded.
	r := answered(t, "querynode-5", inQueryNode+"GetDataDistribution", nil, largeAnswer(5, 50_000))
	if n := decode(r).LiveNode("querynode", 5); n.Distribution == nil || len(n.Distribution.Sealed) != 50_000 {
		t.Errorf("50,000 segments: %s (%s)", n.Outcome, n.Reason)
	}
}

// largeAnswer returns the response of a query node with many segments.
func largeAnswer(node, segments int) *querypb.GetDataDistributionResponse {
	m := &querypb.GetDataDistributionResponse{Status: ok, NodeID: int64(node)}
	view := &querypb.LeaderView{
		Collection: 470590569932652633, Channel: fmt.Sprintf("by-dev-rootcoord-dml_%d_470590569932652633v0", node),
		SegmentDist: map[int64]*querypb.SegmentDist{},
	}
	for s := range segments {
		id := int64(470590569932852862 + node*segments + s)
		m.Segments = append(m.Segments, &querypb.SegmentVersionInfo{
			ID: id, Collection: 470590569932652633, Partition: 470590569932652659, Channel: view.Channel,
			Version: 1795160652853112133,
			IndexInfo: map[int64]*querypb.FieldIndexInfo{102: {
				FieldID: 102, IndexID: 470590569933052722, BuildID: id + 1, IndexSize: 1 << 30, NumRows: 1 << 20,
				IndexName: "idx_items_hnsw_l2",
				IndexParams: []*commonpb.KeyValuePair{
					{Key: "index_type", Value: "HNSW"}, {Key: "metric_type", Value: "L2"}, {Key: "M", Value: "16"},
				},
				IndexFilePaths: []string{fmt.Sprintf("files/index_files/%d/1/470590569932652659/%d/HNSW_0", id+1, id)},
			}},
		})
		view.SegmentDist[id] = &querypb.SegmentDist{NodeID: int64(node), Version: 1795160652853112133}
	}
	m.LeaderViews = []*querypb.LeaderView{view}
	return m
}
