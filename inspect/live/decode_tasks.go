package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
)

// unknownMetric is the error of a process for a type of GetMetrics that it does not know (milvus
// pkg/util/metricsinfo/err.go).
const unknownMetric = "metric request type is not implemented"

// maxTasks bounds the tasks that are stored of a response. Milvus lists at most 1,024
// (internal/datacoord/index_meta.go: taskStatsLRUCapacity), QueryCoord at most 256, and both drop tasks older
// than half an hour.
const maxTasks = 10_000

// The responses are JSON lists of the structs of milvus pkg/util/metricsinfo/metrics_info.go: QueryCoordTask,
// IndexTaskStats, CompactionTask, ImportTask, SyncTask. Unknown fields and fields of an unexpected type are
// ignored.
type (
	queryTaskJSON struct {
		Name       looseText   `json:"task_name"`
		Collection looseNumber `json:"collection_id"`
		Replica    looseNumber `json:"replica_id"`
		Type       looseText   `json:"task_type"`
		Status     looseText   `json:"task_status"`
		Priority   looseText   `json:"priority"`
		Actions    looseTexts  `json:"actions"`
		Step       looseNumber `json:"step"`
		Reason     looseText   `json:"reason"`
	}
	indexBuildJSON struct {
		Index      looseNumber `json:"index_id"`
		Collection looseNumber `json:"collection_id"`
		Segment    looseNumber `json:"segment_id"`
		Build      looseNumber `json:"build_id"`
		State      looseText   `json:"index_state"`
		Reason     looseText   `json:"fail_reason"`
		Size       looseNumber `json:"index_size"`
		Created    looseText   `json:"create_time"`
		Finished   looseText   `json:"finished_time"`
		Node       looseNumber `json:"node_id"`
	}
	compactionJSON struct {
		Plan       looseNumber  `json:"plan_id"`
		Collection looseNumber  `json:"collection_id"`
		Type       looseText    `json:"type"`
		State      looseText    `json:"state"`
		Reason     looseText    `json:"fail_reason"`
		Start      looseText    `json:"start_time"`
		End        looseText    `json:"end_time"`
		Rows       looseNumber  `json:"total_rows"`
		Input      looseNumbers `json:"input_segments"`
		Result     looseNumbers `json:"result_segments"`
		Node       looseNumber  `json:"node_id"`
	}
	importTaskJSON struct {
		Job        looseNumber `json:"job_id"`
		Task       looseNumber `json:"task_id"`
		Collection looseNumber `json:"collection_id"`
		Node       looseNumber `json:"node_id"`
		State      looseText   `json:"state"`
		Reason     looseText   `json:"reason"`
		Type       looseText   `json:"task_type"`
		Created    looseText   `json:"created_time"`
		Completed  looseText   `json:"complete_time"`
	}
	syncTaskJSON struct {
		Segment looseNumber `json:"segment_id"`
		Rows    looseNumber `json:"batch_rows"`
		Level   looseText   `json:"segment_level"`
		From    looseText   `json:"ts_from"`
		To      looseText   `json:"ts_to"`
		Deletes looseNumber `json:"delta_row_count"`
		Size    looseNumber `json:"flush_size"`
		Running looseText   `json:"running_time"`
		Node    looseNumber `json:"node_id"`
	}
)

// takeTasks stores the tasks that a process has in memory.
func (d *Decoder) takeTasks(q *pendingRecord, text string) error {
	if q.object == metricTargets {
		return d.takeTargets(q, text)
	}
	read := d.taskReader(q.object)
	if read == nil {
		return nil // a type that kitescope does not request
	}
	q.weight += decodedJSONSize(text)
	if !d.afford(q) {
		return nil
	}
	list, odd, more, err := readTasks(text, read)
	if err != nil {
		return fmt.Errorf("the answer is not a list of %s: %w", q.object, err)
	}
	if odd > 0 || more > 0 {
		d.note(q.object+" of "+q.key().String()+", in part",
			fmt.Sprintf("%d entries are not tasks, %d exceed the limit", odd, more))
	}
	for _, t := range list {
		t.Report.Role, t.Report.Node, t.Report.At = q.node.Role, q.Node, q.At
	}
	d.responses.keep(cacheKey(q.key(), q.object), datedResponse{q.At, q.key(), appendTo(tasksOf, list...)})
	return nil
}

// readTasks decodes a list of tasks. It counts the invalid entries (odd) and those beyond the limit (more). An
// empty response is an empty list (internal/flushcommon/syncmgr/sync_manager.go: TaskStatsJSON).
func readTasks(text string, read func([]byte) *model.Task) (list []*model.Task, odd, more int, err error) {
	if text = strings.TrimSpace(text); text == "" || text == "null" {
		return nil, 0, 0, nil
	}
	err = eachEntry(text, func(entry json.RawMessage) error {
		switch t := read(entry); {
		case t == nil:
			odd++
		case len(list) == maxTasks:
			more++
		default:
			list = append(list, t)
		}
		return nil
	})
	if err != nil {
		return nil, 0, 0, err
	}
	if odd > 0 && len(list) == 0 {
		return nil, 0, 0, errors.New("no entry in it is a task")
	}
	return list, odd, more, nil
}

// taskReader returns a function that decodes an entry into a task, or into nil if the entry is invalid.
// taskReader returns nil for types that are not decoded.
func (d *Decoder) taskReader(metric string) func([]byte) *model.Task {
	switch metric {
	case metricTasks:
		return entryOf(d.queryTask)
	case metricIndexBuilds:
		return entryOf(d.indexBuild)
	case metricCompactions:
		return entryOf(d.compaction)
	case metricImports:
		return entryOf(d.importTask)
	case metricSyncs:
		return entryOf(d.syncTask)
	}
	return nil
}

// entryOf returns a function that decodes a JSON object and converts it to a task.
func entryOf[T any](task func(*T) *model.Task) func([]byte) *model.Task {
	return func(entry []byte) *model.Task {
		x := new(T)
		if entry[0] != '{' || json.Unmarshal(entry, x) != nil {
			return nil
		}
		return task(x)
	}
}

// word returns text of a task, cleaned for display.
func (d *Decoder) word(t looseText) string { return d.text(oneLine(string(t))) }

func (d *Decoder) indexBuild(x *indexBuildJSON) *model.Task {
	if x.Build <= 0 {
		return nil
	}
	return &model.Task{
		ID: int64(x.Build), Type: "index-build", Collection: model.CollectionID(x.Collection), State: d.word(x.State),
		Reason: d.word(x.Reason),
		Node:   x.Node.node(), Segments: x.Segment.segment(), Trigger: int64(x.Index),
		Report: &model.TaskReport{
			State: d.word(x.State), Bytes: max(0, int64(x.Size)), Started: d.word(x.Created), Ended: d.word(x.Finished),
		},
	}
}

func (d *Decoder) compaction(x *compactionJSON) *model.Task {
	if x.Plan <= 0 {
		return nil
	}
	t := &model.Task{
		ID: int64(x.Plan), Type: "compaction", SubType: d.word(x.Type), Collection: model.CollectionID(x.Collection),
		State:  d.word(x.State),
		Reason: d.word(x.Reason), Node: x.Node.node(), Segments: x.Input.segments(), Results: x.Result.segments(),
		Report: &model.TaskReport{
			State: d.word(x.State), Rows: max(0, int64(x.Rows)), Started: d.word(x.Start), Ended: d.word(x.End),
		},
	}
	if x.Rows > 0 {
		t.Progress = strconv.FormatInt(int64(x.Rows), 10) + " rows"
	}
	return t
}

func (d *Decoder) importTask(x *importTaskJSON) *model.Task {
	if x.Task <= 0 {
		return nil
	}
	kind := strings.ToLower(d.word(x.Type))
	switch { // PreImportTask, ImportTask (internal/datacoord/import_task.go), named as in etcd
	case strings.HasPrefix(kind, "preimport"):
		kind = "preimport"
	case strings.HasPrefix(kind, "import"), kind == "":
		kind = "import"
	}
	return &model.Task{
		ID: int64(x.Task), Type: d.text(kind), Collection: model.CollectionID(x.Collection), State: d.word(x.State),
		Reason: d.word(x.Reason),
		Node:   x.Node.node(), Trigger: int64(x.Job), StartedAt: zonedTime(x.Created), EndedAt: zonedTime(x.Completed),
		Report: &model.TaskReport{State: d.word(x.State)},
	}
}

// syncTask converts a sync task. It has no id and no state; its segment and the time up to which it has rows
// identify it.
func (d *Decoder) syncTask(x *syncTaskJSON) *model.Task {
	if x.Segment <= 0 {
		return nil
	}
	told := &model.TaskReport{Rows: max(0, int64(x.Rows)), Bytes: max(0, int64(x.Size)), Mark: d.word(x.To)}
	if took, err := time.ParseDuration(string(x.Running)); err == nil && took > 0 {
		told.Took = took
	}
	t := &model.Task{
		ID: int64(x.Segment), Type: "sync", SubType: d.word(x.Level), Node: x.Node.node(),
		Segments: x.Segment.segment(), Report: told,
	}
	if x.Rows > 0 || x.Deletes > 0 {
		t.Progress = fmt.Sprintf("%d rows, %d deletes", max(0, int64(x.Rows)), max(0, int64(x.Deletes)))
	}
	return t
}

// zonedTime parses a time with a zone. It returns the zero time if t is invalid.
func zonedTime(t looseText) time.Time {
	at, err := time.Parse(time.RFC3339, string(t))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
