package meta

import (
	"maps"
	"slices"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// slowSegment decodes a datapb.SegmentInfo with the generated code. It returns the paths of the unknown fields.
func slowSegment(b []byte, v *segmentValue) (unknown []string, err error) {
	v.reset()
	m := new(datapb.SegmentInfo)
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, err
	}
	v.s = model.Segment{
		ID: model.SegmentID(m.GetID()), Collection: model.CollectionID(m.GetCollectionID()),
		Partition: model.PartitionID(m.GetPartitionID()),
		State:     segmentState(int32(m.GetState())), Level: segmentLevel(int32(m.GetLevel())),
		ByCompaction: m.GetCreatedByCompaction(), Compacted: m.GetCompacted(), Importing: m.GetIsImporting(),
		Sorted: m.GetIsSorted(), SortedByKey: m.GetIsSortedByNamespace(), Invisible: m.GetIsInvisible(),
		Fake: m.GetIsFake(), ByStreaming: m.GetIsCreatedByStreaming(),
		StorageVersion: storageVersion(m.GetStorageVersion()),
		Rows:           m.GetNumOfRows(),
		MaxRows:        m.GetMaxRowNum(), //nolint:staticcheck // 2.1 and 2.2 fill the deprecated field
		StartAt:        model.TSO(m.GetStartPosition().GetTimestamp()),
		PositionAt:     model.TSO(m.GetDmlPosition().GetTimestamp()),
		ExpireAt:       model.TSO(m.GetLastExpireTime()), DroppedAt: wallTSO(m.GetDroppedAt()),
		Details: segmentDetails(m),
	}
	v.channel = []byte(m.GetInsertChannel())
	for _, id := range m.GetCompactionFrom() {
		v.compacted = append(v.compacted, model.SegmentID(id))
	}
	for _, group := range []struct {
		kind model.LogKind
		logs []*datapb.FieldBinlog
	}{
		{model.InsertLog, m.GetBinlogs()},
		{model.StatsLog, m.GetStatslogs()},
		{model.DeltaLog, m.GetDeltalogs()},
		{model.BM25Log, m.GetBm25Statslogs()},
	} {
		for _, logs := range group.logs {
			sum := sumLogs(logs)
			sum.Kind = group.kind
			v.inline = append(v.inline, sum)
		}
	}
	return unknownFields(m.ProtoReflect()), nil
}

// segmentDetails collects the rarely used fields of a segment. It returns nil if all are empty.
func segmentDetails(m *datapb.SegmentInfo) *model.SegmentDetails {
	d := model.SegmentDetails{
		PartitionStatsVersion: m.GetPartitionStatsVersion(), ManifestPath: m.GetManifestPath(),
		CommitAt:      model.TSO(m.GetCommitTimestamp()),
		SchemaVersion: m.GetSchemaVersion(), DataVersion: m.GetDataVersion(), ExpiresAt: m.GetExpirQuantiles(),
	}
	if st := m.GetStats(); st != nil && d.ManifestPath != "" {
		d.Stats = &model.RecordedStats{
			InsertBytes: st.GetInsertBinlogSize(), StatsBytes: st.GetStatsBinlogSize(),
			DeltaBytes:  st.GetDeltaBinlogSize(),
			InsertFiles: st.GetInsertBinlogCount(), DeltaFiles: st.GetDeltaBinlogCount(),
			Deletes:     st.GetDeleteNumRows(),
			InsertsFrom: model.TSO(st.GetTimestampFrom()), InsertsTo: model.TSO(st.GetTimestampTo()),
			DeltaFrom: model.TSO(st.GetDeltaTimestampFrom()), DeltaTo: model.TSO(st.GetDeltaTimestampTo()),
			Formats: st.GetFormats(),
		}
	}
	for _, field := range slices.Sorted(maps.Keys(m.GetTextStatsLogs())) {
		t := m.GetTextStatsLogs()[field]
		d.TextIndexes = append(d.TextIndexes, model.FieldStat{
			Field: model.FieldID(field), Version: t.GetVersion(), Files: int32(len(t.GetFiles())),
			Bytes: t.GetLogSize(), MemoryBytes: t.GetMemorySize(),
		})
	}
	for _, field := range slices.Sorted(maps.Keys(m.GetJsonKeyStats())) {
		t := m.GetJsonKeyStats()[field]
		d.JSONIndexes = append(d.JSONIndexes, model.FieldStat{
			Field: model.FieldID(field), Version: t.GetVersion(), Files: int32(len(t.GetFiles())),
			Bytes: t.GetLogSize(), MemoryBytes: t.GetMemorySize(),
		})
	}
	if d.IsZero() {
		return nil
	}
	return &d
}

func sumLogs(m *datapb.FieldBinlog) model.FieldLogs {
	logs := model.FieldLogs{Field: model.FieldID(m.GetFieldID())}
	for _, b := range m.GetBinlogs() {
		logs.Files++
		logs.Rows += b.GetEntriesNum()
		logs.Bytes += b.GetLogSize()
		logs.MemoryBytes += b.GetMemorySize()
	}
	for _, field := range m.GetChildFields() {
		logs.Group.Add(model.FieldID(field))
	}
	return logs
}

func slowFieldLogs(b []byte) (logs model.FieldLogs, unknown []string, err error) {
	m := new(datapb.FieldBinlog)
	if err := proto.Unmarshal(b, m); err != nil {
		return logs, nil, err
	}
	return sumLogs(m), unknownFields(m.ProtoReflect()), nil
}

func slowSegmentIndex(b []byte, x *model.SegmentIndex) (unknown []string, err error) {
	m := new(indexpb.SegmentIndex)
	if err := proto.Unmarshal(b, m); err != nil {
		return nil, err
	}
	*x = model.SegmentIndex{
		Segment: model.SegmentID(m.GetSegmentID()), Collection: model.CollectionID(m.GetCollectionID()),
		Partition: model.PartitionID(m.GetPartitionID()),
		Index:     model.IndexID(m.GetIndexID()), Build: model.BuildID(m.GetBuildID()),
		State: indexState(int32(m.GetState())), Deleted: m.GetDeleted(), FailReason: m.GetFailReason(),
		Node: model.NodeID(m.GetNodeID()), Version: m.GetIndexVersion(), Rows: m.GetNumRows(),
		Bytes: int64(m.GetSerializeSize()), Files: int32(len(m.GetIndexFileKeys())),
		EngineVersion: m.GetCurrentIndexVersion(), ScalarVersion: m.GetCurrentScalarIndexVersion(),
		ByCollection: m.GetIndexStorePathVersion() ==
			indexpb.IndexStorePathVersion_INDEX_STORE_PATH_VERSION_COLLECTION_ROOTED,
		CreatedAt: wallTime(m.GetCreateTime()), FinishedAt: wallTime(m.GetFinishedTime()),
	}
	return unknownFields(m.ProtoReflect()), nil
}
