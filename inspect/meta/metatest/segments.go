package metatest

import (
	"fmt"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
)

// segments adds DataCoord's records: one segment of each relevant state.
func (b *builder) segments() {
	docs0, docs1, items := VChannels()
	position := &msgpb.MsgPosition{ChannelName: docs0, MsgID: []byte{1, 0, 0, 0, 0, 0, 0, 0}, Timestamp: TSO}
	b.segment(&datapb.SegmentInfo{
		ID: Flushed, CollectionID: Docs, PartitionID: Docs0, InsertChannel: docs0, NumOfRows: 1000,
		State:         commonpb.SegmentState_Flushed,
		StartPosition: position, DmlPosition: position, CreatedByCompaction: true, CompactionFrom: []int64{Compacted},
		Level:    datapb.SegmentLevel_L1,
		IsSorted: b.atLeast("2.5"), StorageVersion: map[bool]int64{true: 2}[b.atLeast("2.6")],
	})
	b.segment(&datapb.SegmentInfo{
		ID: Growing, CollectionID: Docs, PartitionID: DocsNews, InsertChannel: docs1,
		State: commonpb.SegmentState_Growing, StartPosition: position,
		Level: datapb.SegmentLevel_L1, IsCreatedByStreaming: b.atLeast("2.6"),
	})
	b.segment(&datapb.SegmentInfo{
		ID: LevelZero, CollectionID: Docs, PartitionID: -1, InsertChannel: docs0, State: commonpb.SegmentState_Flushed,
		Level: datapb.SegmentLevel_L0, StartPosition: position,
	})
	b.segment(&datapb.SegmentInfo{
		ID: Compacted, CollectionID: Docs, PartitionID: Docs0, InsertChannel: docs0, NumOfRows: 1010,
		State: commonpb.SegmentState_Dropped, Compacted: true,
		DroppedAt: 1795161300000000000, Level: datapb.SegmentLevel_L1, StartPosition: position,
	})
	b.segment(&datapb.SegmentInfo{
		ID: Stored, CollectionID: Items, PartitionID: Items0, InsertChannel: items, NumOfRows: 50,
		State: commonpb.SegmentState_Flushed, Level: datapb.SegmentLevel_L1, StartPosition: position,
	})
	for _, field := range []int64{0, 1, 100, 102} {
		b.logs("binlog", Docs, Docs0, Flushed, field, 1000, 4000)
		b.logs("binlog", Items, Items0, Stored, field, 50, 300)
	}
	b.logs("statslog", Docs, Docs0, Flushed, 100, 0, 200)
	b.logs("deltalog", Docs, Docs0, Flushed, 100, 10, 160)
	b.logs("deltalog", Docs, -1, LevelZero, 100, 25, 400)
	b.put(&indexpb.SegmentIndex{
		CollectionID: Docs, PartitionID: Docs0, SegmentID: Flushed, NumRows: 1000, IndexID: Index,
		BuildID: Flushed + 500, NodeID: 6, IndexVersion: 1,
		State: commonpb.IndexState_Finished, IndexFileKeys: []string{"HNSW"}, CreateTime: TSO, SerializeSize: 8000,
		CurrentIndexVersion: 6,
		FinishedTime:        1795161305, MemSize: 9000,
	}, "segment-index/%d/%d/%d/%d", Docs, Docs0, Flushed, Flushed+500)
	for _, channel := range []string{docs0, docs1, items} {
		b.put(&msgpb.MsgPosition{ChannelName: channel, MsgID: []byte{9, 0, 0, 0, 0, 0, 0, 0}, Timestamp: TSO + 1<<30},
			"datacoord-meta/channel-cp/%s", channel)
		b.text("datacoord-meta/channel-removal/"+channel, "non-removed")
	}
}

func (b *builder) segment(s *datapb.SegmentInfo) {
	b.put(s, "datacoord-meta/s/%d/%d/%d", s.GetCollectionID(), s.GetPartitionID(), s.GetID())
}

// logs adds one key of logs with one file. size is in bytes.
func (b *builder) logs(prefix string, collection, partition, segment, field, rows, size int64) {
	b.put(&datapb.FieldBinlog{FieldID: field, Binlogs: []*datapb.Binlog{
		{
			EntriesNum: rows, TimestampFrom: TSO, TimestampTo: TSO + 1, LogSize: size, LogID: segment + field,
			MemorySize: 2 * size,
		},
	}}, "datacoord-meta/%s/%d/%d/%d/%d", prefix, collection, partition, segment, field)
}

// tasksOf24 adds the tasks that 2.4 was the first to store in etcd.
func (b *builder) tasksOf24() {
	docs0, _, _ := VChannels()
	job := int64(455000000000009001)
	b.put(&datapb.ImportJob{
		JobID: job, CollectionID: Docs, CollectionName: "docs", PartitionIDs: []int64{Docs0}, State: 3,
		CreateTime: "2026-11-20T08:00:00Z",
		Reason:     "read https://user:s3cr3t-url@bucket/a.json: not found",
		Options: []*commonpb.KeyValuePair{
			pair("secret_key", "s3cr3t-import"), pair("storage", `{"access_key":"s3cr3t-import","bucket":"b"}`),
			pair("timeout", "300s"),
		},
	}, "datacoord-meta/import-job/%d", job)
	b.put(&datapb.PreImportTask{
		JobID: job, TaskID: job + 1, CollectionID: Docs, NodeID: 3, State: datapb.ImportTaskStateV2_Completed,
		FileStats: []*datapb.ImportFileStats{{TotalRows: 70, FileSize: 5}, {TotalRows: 30}},
	}, "datacoord-meta/preimport-task/%d", job+1)
	b.put(&datapb.ImportTaskV2{
		JobID: job, TaskID: job + 2, CollectionID: Docs, SegmentIDs: []int64{Growing}, NodeID: 3,
		State: datapb.ImportTaskStateV2_InProgress,
	},
		"datacoord-meta/import-task/%d", job+2)
	b.put(&datapb.CompactionTask{
		PlanID: job + 3, TriggerID: job + 4, CollectionID: Docs, PartitionID: Docs0, Channel: docs0,
		Type:  datapb.CompactionType_MixCompaction,
		State: datapb.CompactionTaskState_completed, StartTime: 1795161200, EndTime: 1795161260, TotalRows: 1010,
		InputSegments: []int64{Compacted}, ResultSegments: []int64{Flushed}, NodeID: 3,
	}, "datacoord-meta/compaction-task/MixCompaction/%d/%d", job+4, job+3)
	b.put(&indexpb.AnalyzeTask{
		CollectionID: Docs, PartitionID: Docs0, FieldID: 101, FieldName: "text", TaskID: job + 5,
		SegmentIDs: []int64{Flushed}, State: indexpb.JobState_JobStateFinished,
	},
		"datacoord-meta/analyze-task/%d", job+5)
	b.put(&datapb.PartitionStatsInfo{
		CollectionID: Docs, PartitionID: Docs0, VChannel: docs0, Version: 7, SegmentIDs: []int64{Flushed},
		CommitTime: 1795161270,
	},
		"datacoord-meta/partition-stats/%d/%d/%s/%d", Docs, Docs0, docs0, 7)
	b.text(fmt.Sprintf("datacoord-meta/current-partition-stats-version/%d/%d/%s", Docs, Docs0, docs0), "7")
}
