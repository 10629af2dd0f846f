package meta

import (
	"fmt"
	"strings"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// Jobs of 3.0: restoring a snapshot copies segments, exporting a snapshot copies files, and an external collection
// refreshes its data.

func copySegmentJob(f *fact) *model.Task {
	m := f.value.(*datapb.CopySegmentJob)
	return &model.Task{
		ID: f.ids[0], Type: "copy-segment-job", Snapshot: truncateName(m.GetSnapshotName()),
		Collection: model.CollectionID(m.GetCollectionId()), Trigger: m.GetJobId(),
		State: strings.TrimPrefix(m.GetState().String(), "CopySegmentJob"), Reason: redact.Text(m.GetReason()),
		Segments: mappingSegments(m.GetIdMappings(), (*datapb.CopySegmentIDMapping).GetSourceSegmentId),
		Results:  mappingSegments(m.GetIdMappings(), (*datapb.CopySegmentIDMapping).GetTargetSegmentId),
		Progress: fmt.Sprintf("%d/%d segments, %d rows", m.GetCopiedSegments(), m.GetTotalSegments(),
			m.GetTotalRows()),
		StartedAt: wallTime(m.GetStartTs()), EndedAt: wallTime(m.GetCompleteTs()), Details: copySegmentJobDetails(m),
	}
}

func copySegmentTask(f *fact) *model.Task {
	m := f.value.(*datapb.CopySegmentTask)
	return &model.Task{
		ID: f.ids[0], Type: "copy-segment", Collection: model.CollectionID(m.GetCollectionId()),
		Node: model.NodeID(m.GetNodeId()), Trigger: m.GetJobId(),
		State: strings.TrimPrefix(m.GetState().String(), "CopySegmentTask"), Reason: redact.Text(m.GetReason()),
		Segments:  mappingSegments(m.GetIdMappings(), (*datapb.CopySegmentIDMapping).GetSourceSegmentId),
		Results:   mappingSegments(m.GetIdMappings(), (*datapb.CopySegmentIDMapping).GetTargetSegmentId),
		StartedAt: wallTime(m.GetCreatedTs()), EndedAt: wallTime(m.GetCompleteTs()), Details: copySegmentTaskDetails(m),
	}
}

// mappingSegments returns the segments on one side of a mapping.
func mappingSegments(
	list []*datapb.CopySegmentIDMapping, side func(*datapb.CopySegmentIDMapping) int64,
) (out []model.SegmentID) {
	for _, x := range list {
		out = append(out, model.SegmentID(side(x)))
	}
	return out
}

func exportSnapshotJob(f *fact) *model.Task {
	m := f.value.(*datapb.ExportSnapshotJob)
	return &model.Task{
		ID: f.ids[0], Type: "export-snapshot-job", Snapshot: truncateName(m.GetSnapshotName()),
		Collection: model.CollectionID(m.GetCollectionId()), Trigger: m.GetJobId(),
		State: strings.TrimPrefix(m.GetState().String(), "ExportSnapshotJob"), Reason: redact.Text(m.GetReason()),
		Progress:  fmt.Sprintf("%d/%d files", m.GetCopiedFiles(), m.GetTotalFiles()),
		StartedAt: wallTime(m.GetStartTime()), EndedAt: wallTime(m.GetEndTime()), Details: exportDetails(m),
	}
}

func refreshJob(f *fact) *model.Task {
	m := f.value.(*datapb.ExternalCollectionRefreshJob)
	t := &model.Task{
		ID: f.ids[0], Type: "external-refresh-job", Collection: model.CollectionID(m.GetCollectionId()),
		Trigger: m.GetJobId(),
		State:   strings.TrimPrefix(m.GetState().String(), "JobState"), Reason: redact.Text(m.GetFailReason()),
		Progress:  fmt.Sprintf("%d%%", m.GetProgress()),
		StartedAt: wallTimeSigned(m.GetStartTime()), EndedAt: wallTimeSigned(m.GetEndTime()),
		Details: refreshJobDetails(m),
	}
	if m.GetIndexWaitStartedTime() != 0 { // the collection serves the new data, whatever the outcome of the job
		t.Progress += ", applied"
	}
	return t
}

func refreshTask(f *fact) *model.Task {
	m := f.value.(*datapb.ExternalCollectionRefreshTask)
	t := &model.Task{
		ID: f.ids[0], Type: "external-refresh", Collection: model.CollectionID(m.GetCollectionId()),
		Node: model.NodeID(m.GetNodeId()), Trigger: m.GetJobId(),
		State: strings.TrimPrefix(m.GetState().String(), "JobState"), Reason: redact.Text(m.GetFailReason()),
		Progress: fmt.Sprintf("%d%%", m.GetProgress()), Segments: ids[model.SegmentID](m.GetOwnedSegmentIds()),
		Results: ids[model.SegmentID](m.GetKeptSegments()),
		Details: refreshTaskDetails(m),
	}
	for _, s := range m.GetUpdatedSegments() {
		t.Results = append(t.Results, model.SegmentID(s.GetID()))
	}
	return t
}
