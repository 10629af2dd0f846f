package meta

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/messagespb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

func (s *state) tasks() []*model.Task {
	var list []*model.Task
	for kind, task := range map[kindID]func(*fact) *model.Task{
		kindImportJob:      importJob,
		kindPreImportTask:  preImportTask,
		kindImportTask:     importTask,
		kindImportTask23:   importTask23,
		kindCompactionTask: compactionTask,
		kindAnalyzeTask:    analyzeTask,
		kindStatsTask:      statsTask,
		kindBroadcastTask:  broadcastTask,

		kindCopySegmentJob: copySegmentJob, kindCopySegmentTask: copySegmentTask,
		kindExportSnapshotJob: exportSnapshotJob,
		kindRefreshJob:        refreshJob, kindRefreshTask: refreshTask,
	} {
		s.each(kind, func(f *fact) {
			t := task(f)
			t.Key = f.key
			list = append(list, t)
		})
	}
	return list
}

// textTime parses a time that import jobs store as text. It returns zero if the text is not a time.
func textTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// onlyPartition returns the partition of a task with exactly one, 0 otherwise.
func onlyPartition(list []int64) model.PartitionID {
	if len(list) != 1 {
		return 0
	}
	return model.PartitionID(list[0])
}

func importJob(f *fact) *model.Task {
	m := f.value.(*datapb.ImportJob)
	t := &model.Task{
		ID: f.ids[0], Type: "import-job", Collection: model.CollectionID(m.GetCollectionID()),
		Partition: onlyPartition(m.GetPartitionIDs()),
		State:     m.GetState().String(), Reason: redact.Text(m.GetReason()), Trigger: m.GetJobID(),
		StartedAt: textTime(m.GetCreateTime()), EndedAt: textTime(m.GetCompleteTime()), Details: importJobDetails(m),
	}
	if n := len(m.GetFiles()); n > 0 {
		t.Progress = strconv.Itoa(n) + " files"
	}
	if len(m.GetVchannels()) == 1 {
		t.VChannel = m.GetVchannels()[0]
	}
	return t
}

func preImportTask(f *fact) *model.Task {
	m := f.value.(*datapb.PreImportTask)
	return &model.Task{
		ID: f.ids[0], Type: "preimport", Collection: model.CollectionID(m.GetCollectionID()),
		State: m.GetState().String(), Node: model.NodeID(m.GetNodeID()), Reason: redact.Text(m.GetReason()),
		Trigger:  m.GetJobID(),
		Progress: fileRows(m.GetFileStats()), StartedAt: textTime(m.GetCreatedTime()),
		EndedAt: textTime(m.GetCompleteTime()),
		Details: importFileDetails(m.GetFileStats()),
	}
}

func importTask(f *fact) *model.Task {
	m := f.value.(*datapb.ImportTaskV2)
	return &model.Task{
		ID: f.ids[0], Type: "import", SubType: m.GetSource().String(),
		Collection: model.CollectionID(m.GetCollectionID()),
		State:      m.GetState().String(), Node: model.NodeID(m.GetNodeID()), Reason: redact.Text(m.GetReason()),
		Trigger:  m.GetJobID(),
		Segments: ids[model.SegmentID](m.GetSegmentIDs()), Results: ids[model.SegmentID](m.GetSortedSegmentIDs()),
		Progress: fileRows(m.GetFileStats()), StartedAt: textTime(m.GetCreatedTime()),
		EndedAt: textTime(m.GetCompleteTime()),
		Details: importFileDetails(m.GetFileStats()),
	}
}

// importTask23 decodes an import of 2.3 and earlier. It has no separate job, so it is listed as one: clients query
// its state by its id.
func importTask23(f *fact) *model.Task {
	m := f.value.(*legacypb.ImportTaskInfo)
	state := m.GetState()
	t := &model.Task{
		ID: f.ids[0], Type: "import-job", Collection: model.CollectionID(m.GetCollectionId()),
		Partition: model.PartitionID(m.GetPartitionId()),
		State:     strings.TrimPrefix(state.GetStateCode().String(), "Import"), Node: model.NodeID(m.GetDatanodeId()),
		Reason: redact.Text(state.GetErrorMessage()), Trigger: f.ids[0],
		Results:   ids[model.SegmentID](state.GetSegments()),
		Progress:  fmt.Sprintf("%d files, %d rows", len(m.GetFiles()), state.GetRowCount()),
		StartedAt: wallTimeSigned(m.GetCreateTs()), Details: importDetails23(m),
	}
	if len(m.GetChannelNames()) == 1 {
		t.VChannel = m.GetChannelNames()[0]
	}
	return t
}

func fileRows(stats []*datapb.ImportFileStats) string {
	if len(stats) == 0 {
		return ""
	}
	var rows int64
	for _, f := range stats {
		rows += f.GetTotalRows()
	}
	return fmt.Sprintf("%d files, %d rows", len(stats), rows)
}

func compactionTask(f *fact) *model.Task {
	m := f.value.(*datapb.CompactionTask)
	t := &model.Task{
		ID: f.ids[1], Type: "compaction", SubType: m.GetType().String(),
		Collection: model.CollectionID(m.GetCollectionID()), Partition: model.PartitionID(m.GetPartitionID()),
		State: m.GetState().String(), Node: model.NodeID(m.GetNodeID()), Reason: redact.Text(m.GetFailReason()),
		Trigger:  m.GetTriggerID(),
		Segments: ids[model.SegmentID](m.GetInputSegments()), Results: ids[model.SegmentID](m.GetResultSegments()),
		VChannel: m.GetChannel(), StartedAt: wallTimeSigned(m.GetStartTime()), EndedAt: wallTimeSigned(m.GetEndTime()),
		Details: compactionDetails(m),
	}
	if m.GetTotalRows() > 0 {
		t.Progress = strconv.FormatInt(m.GetTotalRows(), 10) + " rows"
	}
	return t
}

func analyzeTask(f *fact) *model.Task {
	m := f.value.(*indexpb.AnalyzeTask)
	return &model.Task{
		ID: f.ids[0], Type: "analyze", Collection: model.CollectionID(m.GetCollectionID()),
		Partition: model.PartitionID(m.GetPartitionID()),
		SubType:   m.GetFieldName(), State: strings.TrimPrefix(m.GetState().String(), "JobState"),
		Node:   model.NodeID(m.GetNodeID()),
		Reason: redact.Text(m.GetFailReason()), Segments: ids[model.SegmentID](m.GetSegmentIDs()),
		Details: analyzeDetails(m),
	}
}

func statsTask(f *fact) *model.Task {
	m := f.value.(*indexpb.StatsTask)
	t := &model.Task{
		ID: f.ids[0], Type: "stats", SubType: m.GetSubJobType().String(),
		Collection: model.CollectionID(m.GetCollectionID()), Partition: model.PartitionID(m.GetPartitionID()),
		State: strings.TrimPrefix(m.GetState().String(), "JobState"), Node: model.NodeID(m.GetNodeID()),
		Reason:   redact.Text(m.GetFailReason()),
		VChannel: m.GetInsertChannel(), Details: statsDetails(m),
	}
	if id := m.GetSegmentID(); id != 0 {
		t.Segments = []model.SegmentID{model.SegmentID(id)}
	}
	if id := m.GetTargetSegmentID(); id != 0 {
		t.Results = []model.SegmentID{model.SegmentID(id)}
	}
	return t
}

// broadcastTask decodes only the type of the broadcast message, because its body may hold anything, including
// passwords.
func broadcastTask(f *fact) *model.Task {
	m := f.value.(*streamingpb.BroadcastTask)
	t := &model.Task{
		ID: f.ids[0], Type: "broadcast", State: model.EnumWord(m.GetState().String(), "BROADCAST_TASK_STATE_"),
	}
	if n, err := strconv.ParseInt(m.GetMessage().GetProperties()[messageTypeProperty], 10, 32); err == nil {
		t.SubType = messagespb.MessageType(n).String()
	}
	channels := broadcastChannels(m)
	acked, first := 0, model.TSO(0)
	for i, c := range m.GetAckedCheckpoints() {
		switch at := model.TSO(c.GetTimeTick()); {
		case at > 0:
			acked++
			if first == 0 || at < first {
				first = at
			}
		case channels != nil:
			t.Unacknowledged = append(t.Unacknowledged, truncateName(channels[i]))
		}
	}
	if len(t.Unacknowledged) > 0 {
		t.Details = append(t.Details, "unacknowledged="+strings.Join(t.Unacknowledged, ","))
	}
	t.StartedAt = first.Time() // time of the write into the first channel that acknowledged it
	if n := len(m.GetAckedCheckpoints()); n > 0 {
		t.Progress = fmt.Sprintf("%d/%d acknowledged", acked, n)
	}
	return t
}

// broadcastChannels returns the channels of a broadcast, in the order of their acknowledgements. It returns nil if
// the header is missing or does not match them.
func broadcastChannels(m *streamingpb.BroadcastTask) []string {
	b, err := base64.StdEncoding.DecodeString(m.GetMessage().GetProperties()[broadcastHeaderProperty])
	header := &messagespb.BroadcastHeader{}
	if err != nil || proto.Unmarshal(b, header) != nil || len(header.GetVchannels()) != len(m.GetAckedCheckpoints()) {
		return nil
	}
	return header.GetVchannels()
}

// broadcastHeaderProperty is the property with the channels of a WAL message (Milvus
// pkg/streaming/util/message/properties.go and encoder.go, EncodeProto).
const broadcastHeaderProperty = "_bh"

// messageTypeProperty is the property with the type of a WAL message (Milvus
// pkg/streaming/util/message/properties.go).
const messageTypeProperty = "_t"

func (s *state) partitionStats() []*model.PartitionStats {
	current := make(map[string]int64)
	name := func(f *fact) string { return fmt.Sprintf("%d/%d/%s", f.ids[0], f.ids[1], f.names[0]) }
	s.each(kindPartitionStatsVersion, func(f *fact) { current[name(f)] = f.value.(int64) })
	var list []*model.PartitionStats
	s.each(kindPartitionStats, func(f *fact) {
		m := f.value.(*datapb.PartitionStatsInfo)
		version, ok := current[name(f)]
		list = append(list, &model.PartitionStats{
			Collection: model.CollectionID(f.ids[0]), Partition: model.PartitionID(f.ids[1]), VChannel: f.names[0],
			Version: f.ids[2],
			Current: ok && version == f.ids[2], Segments: ids[model.SegmentID](m.GetSegmentIDs()),
			CommittedAt: wallTimeSigned(m.GetCommitTime()), AnalyzeTask: m.GetAnalyzeTaskID(), Key: f.key,
		})
	})
	return list
}

func (s *state) snapshots() []*model.Snapshot {
	var list []*model.Snapshot
	s.each(kindSnapshot, func(f *fact) {
		m := f.value.(*datapb.SnapshotInfo)
		list = append(list, &model.Snapshot{
			ID: f.ids[1], Name: truncateName(m.GetName()), Description: m.GetDescription(),
			Collection: model.CollectionID(f.ids[0]),
			Partitions: ids[model.PartitionID](m.GetPartitionIds()),
			State:      strings.TrimPrefix(m.GetState().String(), "SnapshotState"),
			CreatedAt:  wallTimeSigned(m.GetCreateTs()), Location: redact.Text(m.GetS3Location()),
			Pins: len(m.GetPinIds()), ProtectedUntil: wallTime(m.GetCompactionExpireTime()),
			PinnedUntil: pinnedUntil(m.GetPinExpireAtMs()), PendingSince: wallTimeSigned(m.GetPendingStartTime()),
			Key: f.key,
		})
	})
	return list
}

// pinnedUntil returns the time at which the last pin expires. pins holds milliseconds by pin.
func pinnedUntil(pins map[int64]int64) time.Time {
	last := int64(0)
	for _, at := range pins {
		last = max(last, at)
	}
	return model.MillisTime(last)
}

func (s *state) allocators() []*model.Allocator {
	var list []*model.Allocator
	s.each(kindAllocator, func(f *fact) {
		list = append(list, &model.Allocator{Name: f.names[0], At: f.value.(time.Time), Key: f.key})
	})
	return list
}
