package livetest

import (
	"fmt"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"

	"kitescope/inspect/model"
)

// Tasks returns responses to the types of GetMetrics for tasks and targets, by type: the structs of milvus
// 2.6.7 pkg/util/metricsinfo/metrics_info.go, encoded by encoding/json. Their ids are those of Cluster's first
// collection and its first segments.
func Tasks() map[string]string {
	return map[string]string{
		"tasks_all": `[{"task_name":"balance_checker-SegmentTask[21]-470590569942000000","collection_id":"470590569932000000","replica_id":"470590569932000003",` +
			`"task_type":"Move","task_status":"started","priority":"Low","actions":["type:Grow node id: 101, data scope:Historical","type:Reduce node id: 100, data scope:Historical"],` +
			`"step":1,"reason":"balance segment"},` +
			`{"task_name":"channel_checker-ChannelTask[20]-by-dev-rootcoord-dml_0_470590569932000000v0","collection_id":"470590569932000000","replica_id":"470590569932000003",` +
			`"task_type":"Grow","task_status":"succeeded","priority":"High","actions":["type:Grow node id: 100"],"step":1,"reason":"lacks of channel"},` +
			`{"task_name":"leader_checker-LeaderSegmentTask[19]-100","collection_id":"470590569932000000","replica_id":"470590569932000003",` +
			`"task_type":"Reduce","task_status":"failed","priority":"Normal",` +
			`"actions":["type:Update, node id: 101, segment id:470590569942000001 ,version:7, leader id:100"],"reason":"sync segment to leader"}]`,
		"qc_target": `[{"collection_id":"470590569932000000","segments":[{"segment_id":"470590569942000000","collection_id":"470590569932000000",` +
			`"partition_id":"470590569932000001","channel":"by-dev-rootcoord-dml_0_470590569932000000v0","num_of_rows":"1000","state":"Flushed","level":"L1","is_sorted":true}],` +
			`"dm_channels":[{"collection_id":"470590569932000000","channel_name":"by-dev-rootcoord-dml_0_470590569932000000v0","unflushed_segment_ids":["7"],` +
			`"flushed_segment_ids":["470590569942000000"]}]}]`,
		"build_index_tasks": `[{"index_id":"470590569932000002","collection_id":"470590569932000000","segment_id":"470590569942000000","build_id":"470590569950000001",` +
			`"index_state":"InProgress","create_time":"2026-11-20 08:29:10","node_id":"5"},` +
			`{"index_id":"470590569932000002","collection_id":"470590569932000000","segment_id":"470590569942000001","build_id":"470590569950000002",` +
			`"index_state":"Failed","fail_reason":"out of memory","index_version":"2","create_time":"2026-11-20 08:20:00","finished_time":"2026-11-20 08:21:00","node_id":"5"},` +
			`{"index_id":"470590569932000002","collection_id":"470590569932000000","segment_id":"470590569942000002","build_id":"470590569950000003",` +
			`"index_state":"Finished","index_size":"1048576","index_version":"1","create_time":"2026-11-20 08:10:00","finished_time":"2026-11-20 08:11:00","node_id":"5"}]`,
		"compaction_tasks": `[{"plan_id":"470590569960000001","collection_id":"470590569932000000","type":"MixCompaction","state":"executing",` +
			`"start_time":"2026-11-20 08:29:00","total_rows":"2001","input_segments":["470590569942000000","470590569942000003"],"node_id":"5"},` +
			`{"plan_id":"470590569960000002","collection_id":"470590569932000000","type":"Level0DeleteCompaction","state":"failed","fail_reason":"no such key",` +
			`"start_time":"2026-11-20 08:28:00","end_time":"2026-11-20 08:28:30","input_segments":["470590569942000003"],"node_id":"5"}]`,
		"import_tasks": `[{"job_id":"470590569970000000","task_id":"470590569970000001","collection_id":"470590569932000000","node_id":"5","state":"InProgress",` +
			`"task_type":"PreImportTask","created_time":"2026-11-20T08:25:00Z"},` +
			`{"job_id":"470590569970000000","task_id":"470590569970000002","collection_id":"470590569932000000","node_id":"-1","state":"Pending",` +
			`"task_type":"ImportTask","created_time":"2026-11-20T10:26:00+02:00"}]`,
		"sync_tasks": `[{"segment_id":"470590569942000000","batch_rows":"321","segment_level":"\"L1\"","ts_from":"2026-11-20 08:29:50","ts_to":"2026-11-20 08:29:59",` +
			`"delta_row_count":"4","flush_size":"65536","running_time":"120ms","node_id":"5"},` +
			`{"segment_id":"470590569942000000","batch_rows":"12","segment_level":"\"L1\"","ts_from":"2026-11-20 08:29:59","ts_to":"2026-11-20 08:30:00",` +
			`"running_time":"0s","node_id":"5"}]`,
	}
}

// tasks adds the responses about the tasks of a session that Options hold.
func (a *responseBuilder) tasks(s *model.Session) {
	put := func(service, metric, request string) {
		text, told := a.opts.Tasks[metric]
		if !told {
			return
		}
		a.put(s, service+"GetMetrics",
			&milvuspb.GetMetricsRequest{Base: base(s), Request: fmt.Sprintf(request, metric)},
			&milvuspb.GetMetricsResponse{Status: ok(), Response: text, ComponentName: s.Name()})
	}
	const plain, ofQueryCoord, ofDataCoord = `{"metric_type":%q}`, `{"metric_type":%q,"ProcessRole":"querycoord"}`,
		`{"metric_type":%q,"ProcessRole":"datacoord"}`
	switch s.Role {
	case "querycoord":
		put(queryCoord, "tasks_all", plain)
		put(queryCoord, "qc_target", plain)
	case "mixcoord":
		put(rootCoord, "tasks_all", ofQueryCoord)
		put(rootCoord, "qc_target", ofQueryCoord)
		for _, metric := range []string{"build_index_tasks", "compaction_tasks", "import_tasks"} {
			put(rootCoord, metric, ofDataCoord)
		}
	case "datacoord":
		for _, metric := range []string{"build_index_tasks", "compaction_tasks", "import_tasks"} {
			put(dataCoord, metric, plain)
		}
	case "datanode":
		put("/milvus.proto.data.DataNode/", "sync_tasks", plain)
	}
}
