package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/model"
)

// TestTransientStates checks that every transient state of Milvus has an entry, unless no record has its start time.
func TestTransientStates(t *testing.T) {
	t.Parallel()
	const ended = "None Completed Failed"
	for _, x := range []struct {
		resource, kind, prefix string
		names                  map[int32]string
		stays                  string
	}{
		{"segments", "", "", commonpb.SegmentState_name, "SegmentStateNone NotExist Growing Flushed Dropped Importing"},
		{"vchannels", "", "", datapb.ChannelWatchState_name, "WatchSuccess Complete"},
		{
			"vchannels", "", "PCHANNEL_META_STATE_", streamingpb.PChannelMetaState_name,
			"Unknown Uninitialized Assigned Unavailable",
		},
		{"collections", "", "Collection", etcdpb.CollectionState_name, "Created Dropped"},
		{"databases", "", "Database", etcdpb.DatabaseState_name, "Unknown Created Dropped Dropping"},
		{"aliases", "", "Alias", etcdpb.AliasState_name, "Created Dropped Dropping"},
		{"partitions", "", "Partition", etcdpb.PartitionState_name, "Created Dropped Dropping"},
		{"fields", "", "Field", schemapb.FieldState_name, "Created Dropped"},
		{"snapshots", "", "SnapshotState", datapb.SnapshotState_name, "Unknown Committed Deleting"},
		{
			"tasks", "broadcast/CreateCollection", "BROADCAST_TASK_STATE_", streamingpb.BroadcastTaskState_name,
			"Tombstone Done",
		},
		{"tasks", "import-job/", "", internalpb.ImportJobState_name, ended},
		{"tasks", "import-job/", "Import", legacypb.ImportState_name, ended + " FailedAndCleaned"},
		{"tasks", "import/L1", "", datapb.ImportTaskStateV2_name, ended},
		{"tasks", "preimport/", "", datapb.ImportTaskStateV2_name, ended},
		{"tasks", "compaction/MixCompaction", "", datapb.CompactionTaskState_name, "completed failed timeout cleaned"},
		{"tasks", "stats/Sort", "JobState", indexpb.JobState_name, "None Finished Failed"},
		{"tasks", "analyze/vec", "JobState", indexpb.JobState_name, "None Finished Failed"},
		{"tasks", "copy-segment-job/", "CopySegmentJob", datapb.CopySegmentJobState_name, ended},
		{"tasks", "copy-segment/", "CopySegmentTask", datapb.CopySegmentTaskState_name, ended},
		{"tasks", "export-snapshot-job/", "ExportSnapshotJob", datapb.ExportSnapshotJobState_name, ended},
		{"tasks", "external-refresh-job/", "JobState", indexpb.JobState_name, "None Finished Failed"},
		{"tasks", "external-refresh/", "JobState", indexpb.JobState_name, "None Finished Failed"},
	} {
		for _, name := range x.names {
			state := strings.TrimPrefix(name, x.prefix)
			if strings.HasSuffix(x.prefix, "_") {
				state = model.EnumWord(name, x.prefix)
			}
			has := transientRow(x.resource, x.kind, state) != nil
			if x.resource == "tasks" {
				has = has && !facts.TaskEnded(&model.Task{State: state})
			}
			if stays := slices.Contains(strings.Fields(x.stays), state); has == stays && state != "None" {
				t.Errorf("%s %s in state %s: has a row is %v", x.resource, x.kind, state, has)
			}
		}
	}
}
