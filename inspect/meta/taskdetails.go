package meta

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"

	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// details are the fields of a task's record that not all tasks have, as name=value.
type details []string

// add appends a number unless it is 0.
func (d *details) add(name string, n int64) {
	if n != 0 {
		*d = append(*d, name+"="+strconv.FormatInt(n, 10))
	}
}

// text appends a text unless it is empty. Secrets are redacted.
func (d *details) text(name, value string) {
	if value != "" {
		*d = append(*d, name+"="+truncateName(redact.Text(value)))
	}
}

// flag appends the name if the flag is set.
func (d *details) flag(name string, is bool) {
	if is {
		*d = append(*d, name)
	}
}

// at appends a time unless it is zero.
func (d *details) at(name string, t time.Time) {
	if !t.IsZero() {
		*d = append(*d, name+"="+t.UTC().Format(time.RFC3339))
	}
}

func (d *details) position(name string, p *msgpb.MsgPosition) {
	if t := model.TSO(p.GetTimestamp()); t != 0 {
		d.at(name, t.Time())
	}
}

func importJobDetails(m *datapb.ImportJob) (d details) {
	ready, committed, all := len(m.GetReadyVchannels()), len(m.GetCommittedVchannels()), len(m.GetVchannels())
	if ready > 0 || committed > 0 {
		d = append(d, fmt.Sprintf("ready_vchannels=%d/%d", ready, all),
			fmt.Sprintf("committed_vchannels=%d/%d", committed, all))
	}
	d.flag("auto_commit", m.GetAutoCommit())
	d.add("disk_bytes", m.GetRequestedDiskSize())
	if t := model.TSO(m.GetDataTs()); t != 0 {
		d.at("data_at", t.Time())
	}
	return d
}

func importDetails23(m *legacypb.ImportTaskInfo) (d details) {
	d.text("files", strings.Join(m.GetFiles(), ","))
	d.at("sent_at", wallTimeSigned(m.GetStartTs()))
	for _, x := range m.GetInfos() {
		d.text(x.GetKey(), x.GetValue())
	}
	return d
}

// importFileDetails sums the file and memory sizes of an import.
func importFileDetails(stats []*datapb.ImportFileStats) (d details) {
	var bytes, memory int64
	for _, f := range stats {
		bytes, memory = bytes+f.GetFileSize(), memory+f.GetTotalMemorySize()
	}
	d.add("file_bytes", bytes)
	d.add("memory_bytes", memory)
	return d
}

func compactionDetails(m *datapb.CompactionTask) (d details) {
	d.add("retries", int64(m.GetRetryTimes()))
	d.at("state_since", wallTimeSigned(m.GetLastStateStartTime()))
	d.add("max_bytes", m.GetMaxSize())
	d.add("max_rows", m.GetMaxSegmentRows())
	d.add("preferred_rows", m.GetPreferSegmentRows())
	// The unit is nanoseconds (compaction_task_*.go: collectionTTL.Nanoseconds()).
	if ttl := time.Duration(m.GetCollectionTtl()); ttl != 0 {
		d = append(d, "ttl="+ttl.String())
	}
	d.text("clustering_key", m.GetClusteringKeyField().GetName())
	d.add("analyze_task", m.GetAnalyzeTaskID())
	d.add("analyze_version", m.GetAnalyzeVersion())
	d.position("position", m.GetPos())
	for _, f := range m.GetDiffFunctions() {
		d.text("function", f.GetName())
	}
	return d
}

func copySegmentJobDetails(m *datapb.CopySegmentJob) (d details) {
	d.add("source_collection", m.GetSourceCollectionId())
	d.flag("external", m.GetExternal())
	d.text("location", m.GetSnapshotS3Location())
	d.add("pin", m.GetPinId())
	return d
}

func copySegmentTaskDetails(m *datapb.CopySegmentTask) (d details) {
	d.add("version", m.GetTaskVersion())
	d.add("slots", m.GetTaskSlot())
	return d
}

func exportDetails(m *datapb.ExportSnapshotJob) (d details) {
	d.text("target", m.GetTargetS3Path())
	d.text("metadata", m.GetSnapshotMetadataUri())
	d.add("percent", int64(m.GetProgress()))
	d.add("bytes", m.GetTotalBytes())
	d.add("copy_cursor", m.GetCopyCursor())
	d.add("plan_version", int64(m.GetPlanVersion()))
	d.add("pin", m.GetPinId())
	return d
}

func refreshJobDetails(m *datapb.ExternalCollectionRefreshJob) (d details) {
	d.text("source", m.GetExternalSource())
	d.add("tasks", int64(len(m.GetTaskIds())))
	d.at("waits_for_index_since", wallTimeSigned(m.GetIndexWaitStartedTime()))
	return d
}

func refreshTaskDetails(m *datapb.ExternalCollectionRefreshTask) (d details) {
	d.text("source", m.GetExternalSource())
	if m.GetFileIndexBegin() != 0 || m.GetFileIndexEnd() != 0 {
		d = append(d, fmt.Sprintf("files=%d..%d", m.GetFileIndexBegin(), m.GetFileIndexEnd()))
	}
	d.text("manifest", m.GetExploreManifestPath())
	d.flag("result_ready", m.GetResultReady())
	d.text("result", m.GetResultPath())
	d.add("result_storage_version", int64(m.GetResultStorageVersion()))
	d.add("plan_version", int64(m.GetOwnershipPlanVersion()))
	d.add("version", m.GetVersion())
	return d
}

func analyzeDetails(m *indexpb.AnalyzeTask) (d details) {
	d.add("dim", m.GetDim())
	d.text("field_type", m.GetFieldType().String())
	d.text("centroids", m.GetCentroidsFile())
	d.add("version", m.GetVersion())
	return d
}

func statsDetails(m *indexpb.StatsTask) (d details) {
	d.flag("can_be_removed", m.GetCanRecycle())
	d.add("version", m.GetVersion())
	d.add("file_resources", int64(len(m.GetFileResources())))
	return d
}
