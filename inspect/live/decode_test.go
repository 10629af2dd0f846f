package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/rgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// The responses in this file are constructed from the definitions of Milvus 2.2 to 2.6, because the only
// capture is of 2.3.5.

const (
	inRootCoord  = "/milvus.proto.rootcoord.RootCoord/"
	inQueryCoord = "/milvus.proto.query.QueryCoord/"
	inDataCoord  = "/milvus.proto.data.DataCoord/"
	inQueryNode  = "/milvus.proto.query.QueryNode/"
)

func encode(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answered returns a record of a session's response.
func answered(t testing.TB, session, method string, request, response proto.Message) live.Record {
	t.Helper()
	role, id, _ := strings.Cut(session, "-")
	r := live.Record{
		Role: role, Address: "10.0.0." + id + ":21123", Method: method, Outcome: "answered",
		Response: encode(t, response),
	}
	if _, err := fmt.Sscan(id, &r.Node); err != nil {
		t.Fatal(err)
	}
	if request != nil {
		r.Request = encode(t, request)
	}
	return r
}

func decode(records ...live.Record) *model.Runtime {
	d := live.NewDecoder()
	for _, r := range records {
		d.Add(r)
	}
	return d.Runtime("recording", "")
}

var ok = &commonpb.Status{}

// varint returns a field that is not in the definition.
func varint(field protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), value)
}

func distribution26(catchingUp *bool) *querypb.GetDataDistributionResponse {
	status := &querypb.LeaderViewStatus{Serviceable: true}
	if catchingUp != nil {
		status.ProtoReflect().SetUnknown(varint(2, protowire.EncodeBool(*catchingUp)))
	}
	return &querypb.GetDataDistributionResponse{
		Status: ok, NodeID: 5, LastModifyTs: 1795165562704480305, MemCapacityInMB: 24105.5, CpuNum: 16,
		Segments: []*querypb.SegmentVersionInfo{
			{
				ID: 12, Collection: 7, Partition: 8, Channel: "dml_0_7v0", Version: 3, Level: datapb.SegmentLevel_L2,
				IsSorted: true,
				JsonStatsInfo: map[int64]*querypb.JsonStatsInfo{
					104: {FieldID: 104, DataFormatVersion: 2}, 103: {FieldID: 103},
				}, FieldJsonIndexStats: []int64{104, 105}, IndexInfo: map[int64]*querypb.FieldIndexInfo{
					// Keyed by index since 2.5; one is loaded, one exists in name only.
					901: {
						FieldID: 101, IndexID: 901, BuildID: 77, IndexSize: 1000, NumRows: 50,
						IndexFilePaths: []string{"index_files/77/1/8/12/HNSW"},
					},
					902: {FieldID: 102, IndexID: 902, BuildID: 78},
				},
			},
			{ID: 11, Collection: 7, Partition: -1, Channel: "dml_0_7v0", Level: datapb.SegmentLevel_L0},
		},
		Channels: []*querypb.ChannelVersionInfo{{Channel: "dml_0_7v0", Collection: 7, Version: 9}},
		LeaderViews: []*querypb.LeaderView{
			{
				Collection: 7, Channel: "dml_0_7v0", TargetVersion: 44, NumOfGrowingRows: 120, Status: status,
				GrowingSegments: map[int64]*msgpb.MsgPosition{21: {Timestamp: 470591886361624579}, 20: {}},
				SegmentDist: map[int64]*querypb.SegmentDist{
					12: {NodeID: 5, Version: 3}, 11: {NodeID: 6, Version: 2},
				},
			},
			{Collection: 7, Channel: "dml_1_7v1", Status: &querypb.LeaderViewStatus{}},
		},
	}
}

func TestDistributionOfNewerVersions(t *testing.T) {
	method := inQueryNode + "GetDataDistribution"
	r := decode(answered(t, "querynode-5", method, nil, distribution26(new(true))))
	want := &model.Distribution{
		MemoryCapacity: 24105.5 * (1 << 20), CPUs: 16, ModifiedAt: time.Unix(0, 1795165562704480305).UTC(),
		Sealed: []model.ServedSegment{
			{ID: 11, Collection: 7, Partition: -1, Channel: "dml_0_7v0", Level: model.LevelL0},
			{
				ID: 12, Collection: 7, Partition: 8, Channel: "dml_0_7v0", Version: 3, Level: model.LevelL2,
				Sorted:     true,
				Indexes:    []model.ServedIndex{{Field: 101, Index: 901, Build: 77, Bytes: 1000, Rows: 50}},
				JSONFields: []model.FieldID{103, 104, 105},
			},
		},
		Channels: []model.ServedChannel{{Name: "dml_0_7v0", Collection: 7, Version: 9}},
		Leaders: []model.LeaderView{
			{
				Channel: "dml_0_7v0", Collection: 7, GrowingRows: 120, TargetVersion: 44, Serviceable: new(true),
				CatchingUp: new(true),
				Growing:    []model.GrowingView{{ID: 20}, {ID: 21, At: 470591886361624579}},
				Sealed:     []model.LeaderSegment{{ID: 11, Node: 6, Version: 2}, {ID: 12, Node: 5, Version: 3}},
			},
			{Channel: "dml_1_7v1", Collection: 7, Serviceable: new(false), Sealed: []model.LeaderSegment{}},
		},
	}
	if diff := cmp.Diff(want, r.LiveNode("querynode", 5).Distribution); diff != "" {
		t.Errorf("distribution (-want +got):\n%s", diff)
	}

	// False is not encoded: only the version distinguishes it from a missing value.
	for version, want := range map[string]*bool{
		"": nil, "2.5.9": nil, "v2.6.7": nil, "2.6.8": new(false), "v2.6.11-dev": new(false), "3.0.0": new(false),
	} {
		system := &milvuspb.GetMetricsResponse{
			Status: ok, Response: `{"id":5,"system_info":{"build_version":"` + version + `"}}`,
		}
		r := decode(
			answered(t, "querynode-5", inQueryNode+"GetMetrics", nil, system),
			answered(t, "querynode-5", method, nil, distribution26(nil)),
		)
		if diff := cmp.Diff(want, r.ShardViews("dml_0_7v0")[0].CatchingUp); diff != "" {
			t.Errorf("catching up in version %q (-want +got):\n%s", version, diff)
		}
	}
}

func TestGrowingSegmentsOfOlderVersions(t *testing.T) {
	r := decode(answered(t, "querynode-5", inQueryNode+"GetDataDistribution", nil, &querypb.GetDataDistributionResponse{
		Status: ok, NodeID: 5, LeaderViews: []*querypb.LeaderView{{Channel: "c", GrowingSegmentIDs: []int64{4, 2}}},
	}))
	want := []model.GrowingView{{ID: 2}, {ID: 4}}
	if diff := cmp.Diff(want, r.ShardViews("c")[0].Growing); diff != "" {
		t.Errorf("growing (-want +got):\n%s", diff)
	}
}

// TestMixCoord checks a cluster of 2.6: one coordinator with all services, renamed calls, and a query node
// inside a streaming node.
func TestMixCoord(t *testing.T) {
	const coord = "mixcoord-1"
	system := &milvuspb.GetMetricsResponse{
		Status: ok, Response: `{"self":{"id":1,"name":"mixcoord1","system_info":{"build_version":"2.6.8"}}}`,
	}
	r := decode(
		answered(t, coord, inRootCoord+"GetComponentStates", nil, &milvuspb.ComponentStates{
			Status: ok,
			State:  &milvuspb.ComponentInfo{NodeID: 1, Role: "mixcoord", StateCode: commonpb.StateCode_Healthy},
		}),
		answered(t, coord, inRootCoord+"GetMetrics",
			&milvuspb.GetMetricsRequest{Request: `{"metric_type":"system_info"}`}, system),
		answered(t, coord, inQueryCoord+"ShowLoadCollections", nil, &querypb.ShowCollectionsResponse{
			Status: ok, CollectionIDs: []int64{9, 7}, InMemoryPercentages: []int64{40, 100},
			QueryServiceAvailable: []bool{false, true}, RefreshProgress: []int64{0, 100},
		}),
		answered(t, coord, inQueryCoord+"GetReplicas", &milvuspb.GetReplicasRequest{CollectionID: 7},
			&milvuspb.GetReplicasResponse{
				Status: ok, Replicas: []*milvuspb.ReplicaInfo{{
					ReplicaID: 70, CollectionID: 7, NodeIds: []int64{6, 5}, ResourceGroupName: "rg",
					NumOutboundNode: map[string]int32{"other": 1},
					ShardReplicas: []*milvuspb.ShardReplica{
						{DmChannelName: "dml_1_7v1"},
						{DmChannelName: "dml_0_7v0", LeaderID: 5, LeaderAddr: "10.0.0.5:21123"},
					},
				}},
			}),
		answered(t, coord, inQueryCoord+"GetShardLeaders", &querypb.GetShardLeadersRequest{CollectionID: 7},
			&querypb.GetShardLeadersResponse{
				Status: ok, Shards: []*querypb.ShardLeadersList{
					{
						ChannelName: "dml_0_7v0", NodeIds: []int64{5, 6},
						NodeAddrs: []string{"10.0.0.5:21123", "10.0.0.6:21123"}, Serviceable: []bool{true, false},
					},
				},
			}),
		answered(t, coord, inQueryCoord+"ListResourceGroups", nil, &milvuspb.ListResourceGroupsResponse{
			Status: ok, ResourceGroups: []string{"rg", "told"},
		}),
		answered(t, coord, inQueryCoord+"DescribeResourceGroup",
			&querypb.DescribeResourceGroupRequest{ResourceGroup: "rg"}, &querypb.DescribeResourceGroupResponse{
				Status: ok, ResourceGroup: &querypb.ResourceGroupInfo{
					Name: "rg", Capacity: 2, NumAvailableNode: 1, NumIncomingNode: map[int64]int32{7: 1},
					Config: &rgpb.ResourceGroupConfig{
						Requests: &rgpb.ResourceGroupLimit{NodeNum: 2}, Limits: &rgpb.ResourceGroupLimit{NodeNum: 3},
					},
					Nodes: []*commonpb.NodeInfo{{NodeId: 6}, {NodeId: 5}},
				},
			}),
		answered(t, coord, inQueryCoord+"CheckBalanceStatus", nil, &querypb.CheckBalanceStatusResponse{Status: ok}),
		answered(t, coord, inQueryCoord+"ListCheckers", nil, &querypb.ListCheckersResponse{
			Status: ok,
			CheckerInfos: []*querypb.CheckerInfo{
				{Id: 2, Desc: "balance_checker", Found: true},
				{Id: 1, Desc: "segment_checker", Activated: true, Found: true},
			},
		}),
		answered(t, coord, inDataCoord+"GetRecoveryInfoV2", &datapb.GetRecoveryInfoRequestV2{CollectionID: 7},
			&datapb.GetRecoveryInfoResponseV2{
				Status: ok, Channels: []*datapb.VchannelInfo{{
					CollectionID: 7, ChannelName: "dml_0_7v0",
					SeekPosition:      &msgpb.MsgPosition{ChannelName: "dml_0", MsgID: []byte{1, 2}, Timestamp: 99},
					FlushedSegmentIds: []int64{12, 3}, UnflushedSegmentIds: []int64{20}, DroppedSegmentIds: []int64{1},
					LevelZeroSegmentIds: []int64{11},
				}},
			}),
		answered(t, coord, inDataCoord+"GetSegmentInfo", &datapb.GetSegmentInfoRequest{SegmentIDs: []int64{20, 21}},
			&datapb.GetSegmentInfoResponse{
				Status: ok,
				Infos: []*datapb.SegmentInfo{
					{ID: 21, State: 3, NumOfRows: 8}, {ID: 20, State: 2, NumOfRows: 5, LastExpireTime: 77},
				},
			}),
	)
	n := r.LiveNode("mixcoord", 1)
	if n.State != "Healthy" || n.Outcome != model.Answered || n.System == nil || n.System.Version != "2.6.8" {
		t.Errorf("mixcoord: %+v", n)
	}
	want := model.RuntimeParts{
		Kind: "recording",
		Loaded: []*model.LoadedCollection{
			{Collection: 9, Percent: 40}, {Collection: 7, Percent: 100, Available: true, RefreshPercent: 100},
		},
		Replicas: []*model.LiveReplica{{
			ID: 70, Collection: 7, ResourceGroup: "rg", Nodes: []model.NodeID{5, 6},
			Outside: map[string]int64{"other": 1},
			Leaders: []model.ShardLeader{
				{Collection: 7, Channel: "dml_0_7v0", Nodes: []model.NodeID{5}, Addresses: []string{"10.0.0.5:21123"}},
				{Collection: 7, Channel: "dml_1_7v1"},
			},
		}},
		ShardLeaders: []model.ShardLeader{{
			Collection: 7, Channel: "dml_0_7v0", Nodes: []model.NodeID{5, 6},
			Addresses: []string{"10.0.0.5:21123", "10.0.0.6:21123"}, Serviceable: []bool{true, false},
		}},
		Groups: []*model.LiveResourceGroup{
			{
				Name: "rg", Capacity: 2, Available: 1, Requests: 2, Limits: 3, Nodes: []model.NodeID{5, 6},
				Incoming: map[model.CollectionID]int32{7: 1},
			},
			{Name: "told", Capacity: -1, Available: -1, Requests: -1, Limits: -1},
		},
		BalanceActive: new(false),
		Checkers: []model.Checker{
			{ID: 1, Name: "segment_checker", Active: true}, {ID: 2, Name: "balance_checker"},
		},
		Recovery: []*model.Recovery{{
			Collection: 7, Channel: "dml_0_7v0", SeekAt: 99,
			Seek:    model.Checkpoint{At: 99, Message: []byte{1, 2}, PChannel: "dml_0"},
			Flushed: []model.SegmentID{3, 12}, Unflushed: []model.SegmentID{20}, Dropped: []model.SegmentID{1},
			LevelZero: []model.SegmentID{11},
		}},
		DataSegments: []model.DataSegment{
			{ID: 20, State: model.SegmentGrowing, Rows: 5, ExpireAt: 77}, {ID: 21, State: model.SegmentSealed, Rows: 8},
		},
		Processes: []*model.Process{},
	}
	got := r.RuntimeParts
	got.Nodes = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
}

// TestRecoveryOfOlderVersions checks responses with whole segments instead of ids, and with separate indexed
// segments.
func TestRecoveryOfOlderVersions(t *testing.T) {
	segments := func(ids ...int64) (list []*datapb.SegmentInfo) {
		for _, id := range ids {
			list = append(list, &datapb.SegmentInfo{ID: id})
		}
		return list
	}
	r := decode(answered(t, "datacoord-2", inDataCoord+"GetRecoveryInfoV2",
		&datapb.GetRecoveryInfoRequestV2{CollectionID: 7}, &datapb.GetRecoveryInfoResponseV2{
			Status: ok, Channels: []*datapb.VchannelInfo{{
				CollectionID: 7, ChannelName: "c", FlushedSegments: segments(5, 3), IndexedSegments: segments(4, 3),
				IndexedSegmentIds: []int64{9},
				UnflushedSegments: segments(8), DroppedSegments: segments(1),
			}},
		}))
	want := &model.Recovery{
		Collection: 7, Channel: "c", Flushed: []model.SegmentID{3, 4, 5, 9}, Unflushed: []model.SegmentID{8},
		Dropped: []model.SegmentID{1},
	}
	if diff := cmp.Diff(want, r.RecoveryOf("c")); diff != "" {
		t.Errorf("recovery (-want +got):\n%s", diff)
	}
}

func TestShardWithoutLeader(t *testing.T) {
	ask := func(code int32, old commonpb.ErrorCode, reason string) []model.ShardLeader {
		r := decode(answered(t, "querycoord-1", inQueryCoord+"GetShardLeaders",
			&querypb.GetShardLeadersRequest{CollectionID: 7},
			&querypb.GetShardLeadersResponse{Status: &commonpb.Status{Code: code, ErrorCode: old, Reason: reason}}))
		return r.ShardLeaders
	}
	const reason = "failed to get shard leaders: channel not available[channel=dml_0_7v0]: no replica; channel not " +
		"available[channel=dml_1_7v1]"
	want := []model.ShardLeader{
		{Collection: 7, Channel: "dml_0_7v0", Problem: reason}, {Collection: 7, Channel: "dml_1_7v1", Problem: reason},
	}
	if diff := cmp.Diff(want, ask(503, commonpb.ErrorCode_NoReplicaAvailable, reason)); diff != "" {
		t.Errorf("channel not available (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]model.ShardLeader{{Collection: 7, Problem: "no replica"}},
		ask(0, commonpb.ErrorCode_NoReplicaAvailable, "no replica")); diff != "" {
		t.Errorf("before 2.3 (-want +got):\n%s", diff)
	}
	if got := ask(101, commonpb.ErrorCode_UnexpectedError, "collection not loaded[collection=7]"); got == nil ||
		len(got) > 0 {
		t.Errorf("not loaded: %v, want an empty list: it is known that there is none", got)
	}
	if got := ask(5, commonpb.ErrorCode_UnexpectedError, "internal error"); got != nil {
		t.Errorf("internal error: %v, want unknown", got)
	}
}

// TestCoordinatorsReportNodes checks that the figures of nodes that did not respond come from a coordinator,
// and that this is noted.
func TestCoordinatorsReportNodes(t *testing.T) {
	text := `{"cluster":{"self":{"id":1,"name":"querycoord1"},"connected_nodes":[
		{"id":5,"name":"querynode5","hardware_infos":{"memory":100,"memory_usage":40}},
		{"id":6,"name":"querynode6","hardware_infos":{"memory":200}},
		{"id":8,"has_error":true,"error_reason":"gone"}]}}`
	r := decode(
		answered(t, "querycoord-1", inQueryCoord+"GetMetrics", nil, &milvuspb.GetMetricsResponse{
			Status: ok, Response: text,
		}),
		live.Record{
			Role: "querynode", Node: 5, Address: "10.0.0.5:21123", Method: inQueryNode + "GetComponentStates",
			Outcome: "timed out", Error: "no answer",
		},
		answered(t, "querynode-6", inQueryNode+"GetMetrics", nil, &milvuspb.GetMetricsResponse{
			Status: ok, Response: `{"id":6,"hardware_infos":{"memory":300}}`,
		}),
	)
	mute := r.LiveNode("querynode", 5)
	if mute.Outcome != model.TimedOut || mute.System == nil || mute.System.Memory != 100 ||
		mute.System.MemoryUse != 40 {
		t.Errorf("node 5: %+v", mute)
	}
	if last := mute.Calls[len(mute.Calls)-1]; last.Method != "GetMetrics" || last.About != "reported by querycoord-1" {
		t.Errorf("node 5: %+v", last)
	}
	if own := r.LiveNode("querynode", 6); own.System.Memory != 300 || len(own.Calls) != 1 {
		t.Errorf("node 6, which answered: %+v", own.System)
	}
	if gone := r.LiveNode("querynode", 8); gone != nil {
		t.Errorf("node 8, which did not answer QueryCoord: %+v", gone)
	}
}

func TestOddSystemInfo(t *testing.T) {
	for text, want := range map[string]model.Outcome{
		`{"id":5,"name":"querynode5","hardware_infos":{"memory":7,"cpu_core_count":"two"},"quota_metrics":[1],"new":{"x":1}}`: model.Answered,
		`{"id":5,"has_error":true,"error_reason":"no memory limit"}`:                                                          model.Failed,
		`{"id":9,"name":"querynode9"}`: model.Stale,
		`{}`:                           model.Garbled,
		`[]`:                           model.Garbled,
		`"OK"`:                         model.Garbled,
		``:                             model.Garbled,
		`{"id":5,`:                     model.Garbled,
	} {
		n := decode(answered(t, "querynode-5", inQueryNode+"GetMetrics", nil, &milvuspb.GetMetricsResponse{
			Status: ok, Response: text,
		})).LiveNode("querynode", 5)
		if n.Outcome != want || (n.System != nil) != (want == model.Answered) ||
			n.System != nil && (n.System.Memory != 7 || n.System.CPUs != 0) {
			t.Errorf("%s: %s %q, %+v", text, n.Outcome, n.Reason, n.System)
		}
	}
}

// TestLatestResponseWins checks that the later of two responses to one call is used, in any order of the
// records.
func TestLatestResponseWins(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	ask := func(at time.Time, took time.Duration, percent int64, nodes ...int64) []live.Record {
		records := []live.Record{
			answered(t, "querycoord-1", inQueryCoord+"ShowCollections", nil, &querypb.ShowCollectionsResponse{
				Status: ok, CollectionIDs: []int64{7}, InMemoryPercentages: []int64{percent},
			}),
			answered(t, "querycoord-1", inQueryCoord+"GetReplicas", &milvuspb.GetReplicasRequest{CollectionID: 7},
				&milvuspb.GetReplicasResponse{
					Status:   ok,
					Replicas: []*milvuspb.ReplicaInfo{{ReplicaID: percent, CollectionID: 7, NodeIds: nodes}},
				}),
		}
		for i := range records {
			records[i].At, records[i].Took = at, took
		}
		return records
	}
	early, late := ask(at, time.Second, 10, 5), ask(at.Add(time.Minute), time.Second, 100, 5, 6)
	for _, records := range [][]live.Record{append(early, late...), append(late, early...)} {
		r := decode(records...)
		if len(r.Loaded) != 1 || r.Loaded[0].Percent != 100 || len(r.Replicas) != 1 || r.Replicas[0].ID != 100 {
			t.Errorf("loaded %+v, replicas %+v", r.Loaded, r.Replicas)
		}
		if !r.From.Equal(at.Add(-time.Second)) || !r.To.Equal(at.Add(time.Minute)) {
			t.Errorf("from %s to %s", r.From, r.To)
		}
	}
}

func TestQueueAndSkipped(t *testing.T) {
	r := decode(
		live.Record{
			Role: "kafka", Address: "b:9092", Method: live.MethodKafka, Outcome: "answered",
			Response: []byte(`{"topics":[{"name":"dml_1","first":3,"end":9},{"name":"dml_0","end":4}]}`),
		},
		live.Record{Method: "message queue", Outcome: "not asked", Error: "RocksMQ is inside the process"},
		live.Record{Method: "message queue", Outcome: "not asked", Error: "RocksMQ is inside the process"},
	)
	want := &model.Queue{
		Kind: "kafka", Address: "b:9092", Outcome: model.Answered,
		Topics: []model.Topic{{Name: "dml_0", End: 4}, {Name: "dml_1", First: 3, End: 9}},
	}
	if diff := cmp.Diff(want, r.Queue); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]model.Skipped{{What: "message queue", Reason: "RocksMQ is inside the process"}},
		r.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	down := decode(
		live.Record{Role: "kafka", Method: live.MethodKafka, Outcome: "refused", Error: "connection refused"},
	).Queue
	if down.Topics != nil || down.Outcome != model.Refused || down.Reason != "connection refused" {
		t.Errorf("kafka down: %+v", down)
	}
	broken := decode(live.Record{
		Role: "kafka", Method: live.MethodKafka, Outcome: "answered", Response: []byte("{"),
	}).Queue
	if broken.Topics != nil || broken.Outcome != model.Garbled {
		t.Errorf("broken: %+v", broken)
	}
}

func TestNothingKnownIsNil(t *testing.T) {
	r := decode()
	if r.Replicas != nil || r.ShardLeaders != nil || r.Loaded != nil || r.Groups != nil || r.Recovery != nil ||
		r.DataSegments != nil || r.BalanceActive != nil || r.Checkers != nil || r.Queue != nil {
		t.Errorf("unknown must be nil: %+v", r.RuntimeParts)
	}
}

// TestJemalloc checks the format of metricsinfo.HardwareMetrics, which omits figures of 0, and that a process
// without jemalloc counters has none.
func TestJemalloc(t *testing.T) {
	for text, want := range map[string]*model.Jemalloc{
		`{"jemalloc_allocated":100,"jemalloc_active":120,"jemalloc_metadata":7,"jemalloc_resident":130,"jemalloc_mapped":200,"jemalloc_retained":50,"jemalloc_fragmentation":20,"jemalloc_success":true}`: {
			Allocated: 100, Active: 120, Metadata: 7, Resident: 130, Mapped: 200, Retained: 50,
		},
		`{"jemalloc_allocated":100,"jemalloc_resident":-4,"jemalloc_retained":1e300,"jemalloc_success":true}`: {
			Allocated: 100,
		},
		`{"jemalloc_allocated":100}`: nil,
		`{"memory":5}`:               nil,
	} {
		m := &milvuspb.GetMetricsResponse{
			Status: ok, Response: `{"id":5,"name":"querynode5","hardware_infos":` + text + `}`,
		}
		r := decode(answered(t, "querynode-5", inQueryNode+"GetMetrics", nil, m))
		if diff := cmp.Diff(want, r.LiveNode("querynode", 5).System.Jemalloc); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
