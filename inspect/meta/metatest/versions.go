package metatest

import (
	"fmt"
	"math"
	"strconv"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/messagespb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"
	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/inspect/meta/legacypb"
)

// v24 adds the records that 2.4 introduced: tasks in etcd. Unless the cluster is newer, it also adds the
// coordinators and data nodes of the releases before streaming.
func (b *builder) v24() {
	b.tasksOf24()
	engine := func(s *session) {
		s.IndexEngineVersion = map[string]int32{"MinimalIndexVersion": 1, "CurrentIndexVersion": 6}
	}
	b.node("proxy-2", "proxy", 2, nil)
	b.node("querynode-4", "querynode", 4, engine)
	b.node("querynode-5", "querynode", 5, func(s *session) { engine(s); s.Stopping = true })
	b.node("datanode-3", "datanode", 3, nil)
	if b.atLeast("2.6") {
		return
	}
	for _, role := range []string{"rootcoord", "datacoord", "querycoord"} {
		b.node(role, role, 1, func(s *session) { s.Exclusive = true })
	}
	b.node("rootcoord-9", "rootcoord", 9, nil) // a standby
	b.node("rootcoord-1", "rootcoord", 1, nil) // the active coordinator's second registration
	b.node("indexnode-6", "indexnode", 6, nil)
	docs0, docs1, items := VChannels()
	schema := &schemapb.CollectionSchema{Name: "docs", Functions: []*schemapb.FunctionSchema{
		{Name: "embed", Params: []*commonpb.KeyValuePair{pair("api_key", "s3cr3t-schema")}},
	}}
	for _, name := range []string{docs0, docs1} {
		b.put(&datapb.ChannelWatchInfo{
			Vchan: &datapb.VchannelInfo{CollectionID: Docs, ChannelName: name},
			State: datapb.ChannelWatchState_WatchSuccess, Schema: schema,
		},
			"channelwatch/3/%s", name)
	}
	b.put(&datapb.ChannelWatchInfo{
		Vchan: &datapb.VchannelInfo{CollectionID: Docs, ChannelName: docs1}, State: datapb.ChannelWatchState_ToRelease,
	}, "channelwatch/99/%s", docs1)
	b.put(&datapb.ChannelWatchInfo{
		Vchan: &datapb.VchannelInfo{CollectionID: Items, ChannelName: items}, State: datapb.ChannelWatchState_ToWatch,
	},
		"channelwatch/%d/%s", int64(math.MinInt64), items)
}

// v25 adds functions, BM25 logs, stats tasks and privilege groups.
func (b *builder) v25() {
	b.put(&schemapb.FunctionSchema{
		Name: "bm25", Id: 1, Type: schemapb.FunctionType_BM25, InputFieldNames: []string{"text"},
		InputFieldIds:    []int64{101},
		OutputFieldNames: []string{"sparse"}, OutputFieldIds: []int64{104},
	}, "root-coord/functions/%d/1", Docs)
	b.put(&schemapb.FunctionSchema{
		Name: "embed", Id: 2, Type: schemapb.FunctionType_TextEmbedding, InputFieldNames: []string{"text"},
		OutputFieldNames: []string{"vec"},
		Params: []*commonpb.KeyValuePair{
			pair("provider", "openai"), pair("api_key", "s3cr3t-apikey"), pair("url", "https://u:s3cr3t-url@host/v1"),
		},
	}, "root-coord/functions/%d/2", Docs)
	b.logs("bm25log", Docs, Docs0, Flushed, 104, 1000, 120)
	b.put(&indexpb.StatsTask{
		CollectionID: Docs, PartitionID: Docs0, SegmentID: Compacted, TaskID: 455000000000009100,
		State:           indexpb.JobState_JobStateInProgress,
		TargetSegmentID: Flushed, SubJobType: indexpb.StatsSubJob_Sort, NodeID: 3,
	}, "datacoord-meta/stats-task/455000000000009100")
	b.put(&milvuspb.PrivilegeGroupInfo{
		GroupName: "readers", Privileges: []*milvuspb.PrivilegeEntity{{Name: "Search"}, {Name: "Query"}},
	}, "root-coord/privilege-group/readers")
	b.segment(&datapb.SegmentInfo{
		ID: Stored + 1, CollectionID: Items, PartitionID: Items0, State: commonpb.SegmentState_Flushed, NumOfRows: 5,
		Level:       datapb.SegmentLevel_L2,
		IsInvisible: true, PartitionStatsVersion: 7,
		TextStatsLogs: map[int64]*datapb.TextIndexStats{
			101: {FieldID: 101, Version: 2, Files: []string{"a", "b"}, LogSize: 30, MemorySize: 60},
		},
		JsonKeyStats: map[int64]*datapb.JsonKeyStats{
			103: {FieldID: 103, Version: 1, Files: []string{"c"}, LogSize: 10},
		},
	})
}

// v26 adds streaming (one mixcoord with a standby, streaming nodes with an embedded query node each, and the WAL's
// own metadata), struct arrays and replication.
func (b *builder) v26() {
	docs0, docs1, items := VChannels()
	b.node("mixcoord", "mixcoord", 1, func(s *session) { s.Exclusive = true })
	b.node("mixcoord-1", "mixcoord", 1, nil)
	b.node("mixcoord-9", "mixcoord", 9, nil)
	for _, id := range []int64{7, 8} {
		b.node(fmt.Sprintf("streamingnode-%d", id), "streamingnode", id, nil)
		b.node(fmt.Sprintf("querynode-%d", id), "querynode", id, func(s *session) {
			s.ServerLabels = map[string]string{"QUERYNODE_STREAMING-EMBEDDED": "1"}
		})
	}
	b.put(&schemapb.StructArrayFieldSchema{FieldID: 110, Name: "chunks", Fields: []*schemapb.FieldSchema{
		{FieldID: 111, Name: "chunks[part]", DataType: schemapb.DataType_Array, ElementType: schemapb.DataType_VarChar},
		{
			FieldID: 112, Name: "chunks[vec]", DataType: schemapb.DataType_ArrayOfVector,
			ElementType: schemapb.DataType_FloatVector, TypeParams: []*commonpb.KeyValuePair{pair("dim", "4")},
		},
	}}, "root-coord/struct-array-fields/%d/110", Docs)
	b.put(&streamingpb.StreamingVersion{Version: 1}, "streamingcoord-meta/version")
	b.put(&streamingpb.CChannelMeta{Pchannel: "by-dev-rootcoord-dml_0"}, "streamingcoord-meta/cchannel")
	for i, state := range []streamingpb.PChannelMetaState{
		streamingpb.PChannelMetaState_PCHANNEL_META_STATE_ASSIGNED,
		streamingpb.PChannelMetaState_PCHANNEL_META_STATE_ASSIGNED,
		streamingpb.PChannelMetaState_PCHANNEL_META_STATE_ASSIGNING,
		streamingpb.PChannelMetaState_PCHANNEL_META_STATE_UNINITIALIZED,
	} {
		name := fmt.Sprintf("by-dev-rootcoord-dml_%d", i)
		b.put(&streamingpb.PChannelMeta{
			Channel: &streamingpb.PChannelInfo{Name: name, Term: int64(i + 1)},
			Node:    &streamingpb.StreamingNodeInfo{ServerId: int64(7 + i%2), Address: "10.0.0.7:22222"}, State: state,
		}, "streamingcoord-meta/pchannel/%s", name)
		b.put(&streamingpb.WALCheckpoint{
			MessageId: &commonpb.MessageID{Id: strconv.Itoa(100 + i), WALName: commonpb.WALName_WoodPecker},
			TimeTick:  TSO, RecoveryMagic: 1,
		},
			"streamingnode-meta/wal/%s/consume-checkpoint", name)
	}
	for pchannel, vchannel := range map[string]string{
		"by-dev-rootcoord-dml_0": docs0, "by-dev-rootcoord-dml_1": docs1, "by-dev-rootcoord-dml_2": items,
	} {
		b.put(&streamingpb.VChannelMeta{
			Vchannel: vchannel, State: streamingpb.VChannelState_VCHANNEL_STATE_NORMAL, CheckpointTimeTick: TSO,
		},
			"streamingnode-meta/wal/%s/vchannel/%s", pchannel, vchannel)
		b.put(&streamingpb.CollectionSchemaOfVChannel{
			CheckpointTimeTick: TSO,
			Schema: &schemapb.CollectionSchema{Name: "docs", Functions: []*schemapb.FunctionSchema{
				{Name: "embed", Params: []*commonpb.KeyValuePair{pair("credential", "s3cr3t-schema")}},
			}},
		}, "streamingnode-meta/wal/%s/vchannel/%s/schema/%d", pchannel, vchannel, TSO)
	}
	b.put(&streamingpb.SegmentAssignmentMeta{
		CollectionId: Docs, PartitionId: DocsNews, SegmentId: Growing, Vchannel: docs1,
		State: streamingpb.SegmentAssignmentState_SEGMENT_ASSIGNMENT_STATE_GROWING,
		Stat: &streamingpb.SegmentAssignmentStat{
			MaxBinarySize: 1 << 20, ModifiedRows: 321, ModifiedBinarySize: 4567, CreateTimestamp: 1795161280,
			BinlogCounter: 2, Level: datapb.SegmentLevel_L1,
		},
	}, "streamingnode-meta/wal/by-dev-rootcoord-dml_1/segment-assign/%d", Growing)
	gone := "by-dev-rootcoord-dml_3_455000000000000099v0"
	b.put(&msgpb.MsgPosition{ChannelName: gone, Timestamp: math.MaxUint64}, "datacoord-meta/channel-cp/%s", gone)
	b.replication()
}

// replication adds a broadcast task and a replicated cluster, both with secrets.
func (b *builder) replication() {
	b.put(&streamingpb.BroadcastTask{
		State: streamingpb.BroadcastTaskState_BROADCAST_TASK_STATE_PENDING,
		Message: &messagespb.Message{Payload: []byte("password s3cr3t-broadcast"), Properties: map[string]string{
			"_t": strconv.Itoa(int(messagespb.MessageType_AlterUser)), "_h": "s3cr3t-broadcast", "_v": "2",
		}},
		AckedCheckpoints: []*streamingpb.AckedCheckpoint{{TimeTick: TSO}, {}},
	}, "streamingcoord-meta/broadcast-task/455000000000009200")
	cluster := func(id string) *commonpb.MilvusCluster {
		return &commonpb.MilvusCluster{
			ClusterId:       id,
			ConnectionParam: &commonpb.ConnectionParam{Uri: "http://" + id + ":19530", Token: "root:s3cr3t-token"},
			Pchannels:       []string{id + "-dml_0"},
		}
	}
	config := &commonpb.ReplicateConfiguration{
		Clusters:             []*commonpb.MilvusCluster{cluster("east"), cluster("west")},
		CrossClusterTopology: []*commonpb.CrossClusterTopology{{SourceClusterId: "east", TargetClusterId: "west"}},
	}
	b.put(&streamingpb.ReplicateConfigurationMeta{ReplicateConfiguration: config},
		"streamingcoord-meta/replicate-configuration")
	b.put(&streamingpb.ReplicatePChannelMeta{
		SourceChannelName: "east-dml_0", TargetChannelName: "west-dml_0", TargetCluster: cluster("west"),
		SkipGetReplicateCheckpoint: b.atLeast("3.0"),
		InitializedCheckpoint: &commonpb.ReplicateCheckpoint{
			ClusterId: "east", Pchannel: "east-dml_0", MessageId: &commonpb.MessageID{Id: "100"}, TimeTick: TSO,
		},
	}, "streamingcoord-meta/replicating-pchannel/west-east-dml_0")
	b.put(&streamingpb.WALCheckpoint{TimeTick: TSO, ReplicateConfig: config},
		"streamingnode-meta/wal/east-dml_0/consume-checkpoint")
}

// v30 adds the keys of 3.0, and a segment with an unknown field, 99.
func (b *builder) v30() {
	b.put(&datapb.SnapshotInfo{
		Name: "nightly", Id: 455000000000009300, CollectionId: Docs, PartitionIds: []int64{Docs0}, CreateTs: int64(TSO),
		State: datapb.SnapshotState_SnapshotStateCommitted, S3Location: "s3://bucket/snapshots/1",
		CompactionExpireTime: 1795161280, PinIds: []int64{7, 8}, PinExpireAtMs: map[int64]int64{7: 1795161280000},
	}, "datacoord-meta/snapshot/%d/455000000000009300", Docs)
	moved := []*datapb.CopySegmentIDMapping{
		{SourceSegmentId: Flushed, TargetSegmentId: Stored + 2, PartitionId: Items0},
	}
	b.put(&datapb.CopySegmentJob{
		JobId: 9401, CollectionId: Items, State: datapb.CopySegmentJobState_CopySegmentJobExecuting, IdMappings: moved,
		StartTs:       1795161280000000000,
		TotalSegments: 2, CopiedSegments: 1, TotalRows: 9, SnapshotName: "nightly", SourceCollectionId: Docs, PinId: 7,
		External: true, ExternalSpec: `{"extfs": {"access_key_id": "AKID", "secret_access_key": "planted-in-a-spec"}}`,
	}, "datacoord-meta/copy-segment-job/9401")
	b.put(&datapb.CopySegmentTask{
		TaskId: 9402, JobId: 9401, CollectionId: Items, NodeId: 4,
		State: datapb.CopySegmentTaskState_CopySegmentTaskInProgress, IdMappings: moved,
	},
		"datacoord-meta/copy-segment-task/9402")
	b.put(&datapb.ExportSnapshotJob{
		JobId: 9403, SnapshotName: "nightly", CollectionId: Docs,
		State: datapb.ExportSnapshotJobState_ExportSnapshotJobFailed, Reason: "denied", TotalFiles: 9, CopiedFiles: 4,
		TargetS3Path: "s3://bucket/out",
	}, "datacoord-meta/export-snapshot-job/9403")
	b.put(&datapb.ExternalCollectionRefreshJob{
		JobId: 9404, CollectionId: Docs, State: indexpb.JobState_JobStateFailed, FailReason: "index wait",
		Progress: 100, IndexWaitStartedTime: 1795161280000,
	},
		"datacoord-meta/external-collection-refresh-job/9404")
	b.put(&datapb.ExternalCollectionRefreshTask{
		TaskId: 9405, JobId: 9404, CollectionId: Docs, NodeId: 4, State: indexpb.JobState_JobStateFinished,
		Progress: 100, OwnedSegmentIds: []int64{Flushed},
		KeptSegments: []int64{Flushed}, UpdatedSegments: []*datapb.SegmentInfo{{ID: Stored + 9}},
	}, "datacoord-meta/external-collection-refresh-task/9405")
	view := &legacypb.QueryViewOfShard{
		Meta: &legacypb.QueryViewMeta{
			CollectionId: Docs, ReplicaId: Docs + 50, State: legacypb.QueryViewState_QueryViewStateUp,
		},
	}
	b.put(view, "querycoord/qv/%d/%d/0/1/2/3", Docs, Docs+50)
	b.put(view, "streamingnode-meta/wal/by-dev-rootcoord-dml_0/qv/%d/%d/0/1/2/3", Docs, Docs+50)
	b.put(&datapb.FieldBinlog{Binlogs: []*datapb.Binlog{{EntriesNum: 3, LogSize: 77, LogID: 5}}},
		"datacoord-meta/predicate-deltalog/%d/%d/%d/predicate", Docs, Docs0, Flushed)
	b.put(&datapb.SegmentInfo{
		ID: Stored + 2, CollectionID: Items, PartitionID: Items0, State: commonpb.SegmentState_Flushed, NumOfRows: 9,
		Level:           datapb.SegmentLevel_L1,
		ManifestPath:    fmt.Sprintf(`{"ver":1,"base_path":"files/insert_log/%d/%d/%d"}`, Items, Items0, Stored+2),
		CommitTimestamp: TSO, SchemaVersion: 2, DataVersion: 3, ExpirQuantiles: []int64{1795161280000000},
		IsSortedByNamespace: true,
		Stats: &datapb.Statistics{
			InsertBinlogSize: 100, DeleteNumRows: 2, InsertBinlogCount: 1, TimestampFrom: TSO, TimestampTo: TSO,
			Formats: []string{"vortex"},
		},
	}, "datacoord-meta/s/%d/%d/%d", Items, Items0, Stored+2)
	value := protowire.AppendVarint(protowire.AppendTag(marshal(&datapb.SegmentInfo{
		ID: Stored + 3, CollectionID: Items, PartitionID: Items0, State: commonpb.SegmentState_Flushed, NumOfRows: 8,
		Level: datapb.SegmentLevel_L1,
	}), 99, protowire.VarintType), 1)
	b.text(fmt.Sprintf("datacoord-meta/s/%d/%d/%d", Items, Items0, Stored+3), string(value))
}
