package live_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// requestedMetrics holds the requested types of GetMetrics other than system_info, by process.
type requestedMetrics map[model.NodeID][]string

func (m requestedMetrics) keep(r live.Record) {
	request := new(milvuspb.GetMetricsRequest)
	if !strings.HasSuffix(r.Method, "/GetMetrics") || proto.Unmarshal(r.Request, request) != nil {
		return
	}
	var asked struct {
		Type string `json:"metric_type"`
	}
	if json.Unmarshal([]byte(request.GetRequest()), &asked) == nil && asked.Type != "system_info" {
		m[r.Node] = append(m[r.Node], asked.Type)
	}
}

// typesOf counts tasks by their type.
func typesOf(r *model.Runtime) map[string]int {
	if r.Tasks == nil {
		return nil
	}
	counts := map[string]int{}
	for _, t := range r.Tasks {
		counts[t.Type]++
	}
	return counts
}

// TestAskTasks queries real servers: each such call is made once in 15 seconds, and earlier responses are
// reused.
func TestAskTasks(t *testing.T) {
	all := map[string]int{
		"segment-task": 1, "channel-task": 1, "leader-task": 1, "index-build": 3, "compaction": 2, "preimport": 1,
		"import": 1, "sync": 2,
	}
	ofDataCoord := []string{"build_index_tasks", "compaction_tasks", "import_tasks"}
	for _, test := range []struct {
		version    string
		standalone bool
		asks       requestedMetrics
	}{
		{version: "2.4.23", asks: requestedMetrics{}},
		{version: "2.5.4", asks: requestedMetrics{2: ofDataCoord, 3: {"tasks_all"}, 5: {"sync_tasks"}}},
		{version: "2.6.3", asks: requestedMetrics{1: append(ofDataCoord, "tasks_all"), 5: {"sync_tasks"}}},
		{version: "2.5.4", standalone: true, asks: requestedMetrics{1: append(ofDataCoord, "sync_tasks", "tasks_all")}},
	} {
		t.Run(fmt.Sprint(test.version, test.standalone), func(t *testing.T) {
			spec := livetest.Spec{
				Version: test.version, QueryNodes: 1, Collections: 1, Segments: 9, Standalone: test.standalone,
			}
			c := smallCluster(t, spec, livetest.Options{Tasks: livetest.Tasks()}, recorded.Options{Cluster: "by-dev"})
			now, asked := livetest.Now, requestedMetrics{}
			client, err := live.Open(live.Options{
				Tasks: true, Now: func() time.Time { return now }, Keep: func(r live.Record) { asked.keep(r) },
			})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			for round, want := range []requestedMetrics{test.asks, {}, test.asks} {
				clear(asked)
				r, err := client.Ask(t.Context(), c)
				if err != nil {
					t.Fatal(err)
				}
				for _, types := range asked {
					slices.Sort(types)
				}
				if diff := cmp.Diff(want, asked); diff != "" {
					t.Errorf("round %d asks (-want +got):\n%s", round, diff)
				}
				told := all
				if len(test.asks) == 0 {
					told = nil
				}
				if diff := cmp.Diff(told, typesOf(r)); diff != "" {
					t.Errorf("round %d tells (-want +got):\n%s", round, diff)
				}
				now = now.Add([]time.Duration{14 * time.Second, time.Second, 0}[round])
			}
		})
	}
}

// TestUnwantedTasks checks that tasks are not queried without Options.Tasks, and that an unknown type is not a
// problem.
func TestUnwantedTasks(t *testing.T) {
	c := smallCluster(t, livetest.Spec{Version: "2.6.3"}, livetest.Options{Tasks: livetest.Tasks()}, recorded.Options{})
	asked := requestedMetrics{}
	if r := ask(t, c, live.Options{Keep: asked.keep}); r.Tasks != nil || len(asked) > 0 {
		t.Errorf("asked %v, told %v", asked, r.Tasks)
	}
	r := ask(t, smallCluster(t, livetest.Spec{Version: "2.6.3"}, livetest.Options{}, recorded.Options{}),
		live.Options{Tasks: true})
	wantOutcome(t, r, "mixcoord", 1, model.Answered, "")
	if r.Tasks != nil {
		t.Errorf("nobody answered, and there are %d tasks", len(r.Tasks))
	}
}

// tasksOf decodes a response about tasks.
func tasksOf(t testing.TB, metric string, response *milvuspb.GetMetricsResponse) *model.Runtime {
	t.Helper()
	request := &milvuspb.GetMetricsRequest{Request: fmt.Sprintf(`{"metric_type":%q}`, metric)}
	r := answered(t, "querycoord-3", inQueryCoord+"GetMetrics", request, response)
	r.At = livetest.Now
	return decode(r)
}

func TestTasks(t *testing.T) {
	const collection, segment = 470590569932000000, 470590569942000000
	by := func(x model.TaskReport) *model.TaskReport {
		x.Role, x.Node, x.At = "querycoord", 3, livetest.Now
		return &x
	}
	for metric, want := range map[string][]*model.Task{
		"tasks_all": {
			{
				ID: 21, Type: "segment-task", SubType: "Move", Collection: collection, State: "started", Node: 100,
				Progress: "1 of 2 steps", Reason: "balance segment", Segments: []model.SegmentID{segment},
				Report: by(model.TaskReport{
					State: "started", Source: "balance_checker", Priority: "Low", Replica: collection + 3,
					Actions: []string{
						"type:Grow node id: 101, data scope:Historical",
						"type:Reduce node id: 100, data scope:Historical",
					},
				}),
			},
			{
				ID: 20, Type: "channel-task", SubType: "Grow", Collection: collection, State: "succeeded", Node: 100,
				Progress: "1 of 1 steps", Reason: "lacks of channel",
				VChannel: "by-dev-rootcoord-dml_0_470590569932000000v0",
				Report: by(model.TaskReport{
					State: "succeeded", Source: "channel_checker", Priority: "High", Replica: collection + 3,
					Actions: []string{"type:Grow node id: 100"},
				}),
			},
			{
				ID: 19, Type: "leader-task", SubType: "Reduce", Collection: collection, State: "failed", Node: 101,
				Progress: "0 of 1 steps", Reason: "sync segment to leader", Segments: []model.SegmentID{segment + 1},
				Report: by(model.TaskReport{
					State: "failed", Source: "leader_checker", Priority: "Normal", Replica: collection + 3,
					Actions: []string{
						"type:Update, node id: 101, segment id:470590569942000001 ,version:7, leader id:100",
					},
				}),
			},
		},
		"compaction_tasks": {
			{
				ID: 470590569960000001, Type: "compaction", SubType: "MixCompaction", Collection: collection,
				State: "executing", Node: 5, Progress: "2001 rows", Segments: []model.SegmentID{segment, segment + 3},
				Report: by(model.TaskReport{State: "executing", Rows: 2001, Started: "2026-11-20 08:29:00"}),
			},
			{
				ID: 470590569960000002, Type: "compaction", SubType: "Level0DeleteCompaction", Collection: collection,
				State: "failed", Node: 5, Reason: "no such key", Segments: []model.SegmentID{segment + 3},
				Report: by(model.TaskReport{
					State: "failed", Started: "2026-11-20 08:28:00", Ended: "2026-11-20 08:28:30",
				}),
			},
		},
		"import_tasks": {
			{
				ID: 470590569970000001, Type: "preimport", Collection: collection, State: "InProgress", Node: 5,
				Trigger: 470590569970000000, StartedAt: livetest.Now.Add(-5 * time.Minute),
				Report: by(model.TaskReport{State: "InProgress"}),
			},
			{
				ID: 470590569970000002, Type: "import", Collection: collection, State: "Pending",
				Trigger: 470590569970000000, StartedAt: livetest.Now.Add(-4 * time.Minute),
				Report: by(model.TaskReport{State: "Pending"}),
			},
		},
		"sync_tasks": {
			{
				ID: segment, Type: "sync", SubType: "L1", Node: 5, Progress: "321 rows, 4 deletes",
				Segments: []model.SegmentID{segment},
				Report: by(model.TaskReport{
					Rows: 321, Bytes: 65536, Took: 120 * time.Millisecond, Mark: "2026-11-20 08:29:59",
				}),
			},
			{
				ID: segment, Type: "sync", SubType: "L1", Node: 5, Progress: "12 rows, 0 deletes",
				Segments: []model.SegmentID{segment},
				Report:   by(model.TaskReport{Rows: 12, Mark: "2026-11-20 08:30:00"}),
			},
		},
	} {
		r := tasksOf(t, metric, &milvuspb.GetMetricsResponse{
			Status: &commonpb.Status{}, Response: livetest.Tasks()[metric],
		})
		if diff := cmp.Diff(want, r.Tasks); diff != "" {
			t.Errorf("%s (-want +got):\n%s", metric, diff)
		}
	}
	builds := tasksOf(t, "build_index_tasks", &milvuspb.GetMetricsResponse{
		Status: &commonpb.Status{}, Response: livetest.Tasks()["build_index_tasks"],
	}).Tasks
	want := &model.Task{
		ID: 470590569950000002, Type: "index-build", Collection: collection, State: "Failed", Node: 5,
		Reason: "out of memory", Trigger: collection + 2, Segments: []model.SegmentID{segment + 1},
		Report: by(model.TaskReport{State: "Failed", Started: "2026-11-20 08:20:00", Ended: "2026-11-20 08:21:00"}),
	}
	if diff := cmp.Diff(want, builds[1]); diff != "" || len(builds) != 3 {
		t.Errorf("%d builds, the second one (-want +got):\n%s", len(builds), diff)
	}
}

// TestOddTasks checks that an invalid list is an invalid response, and that invalid entries of a list are left
// out and reported.
func TestOddTasks(t *testing.T) {
	good := `{"plan_id":"7","state":"executing"}`
	for name, test := range map[string]struct {
		text    string
		tasks   int // -1: unknown
		outcome model.Outcome
		skipped string
	}{
		"none":    {"[]", 0, model.Answered, ""},
		"no text": {"", 0, model.Answered, ""},
		"null":    {" null\n", 0, model.Answered, ""},
		"one":     {"[" + good + "]", 1, model.Answered, ""},
		"numbers for text": {
			`[{"plan_id":7,"state":3,"input_segments":[1,"2",null,{}],"node_id":null,"fail_reason":["x"]}]`, 1,
			model.Answered, "",
		},
		"text for lists": {
			`[{"plan_id":"7","input_segments":"8","result_segments":{"a":1}}]`, 1, model.Answered, "",
		},
		"among others":       {`[1,"x",null,[],{},` + good + `]`, 1, model.Answered, "5 entries are not tasks"},
		"nothing but others": {`[1,"x",{}]`, -1, model.Garbled, ""},
		"half":               {"[" + good + `,{"plan_id":"8"`, -1, model.Garbled, ""},
		"cut within a word":  {"[" + good[:9], -1, model.Garbled, ""},
		"not closed":         {"[" + good, -1, model.Garbled, ""},
		"more than a list":   {"[" + good + "] []", -1, model.Garbled, ""},
		"an object":          {`{"nodes_info":[]}`, -1, model.Garbled, ""},
		"a login page":       {"<html><body>log in</body></html>", -1, model.Garbled, ""},
		"too many": {
			"[" + strings.TrimSuffix(strings.Repeat(good+",", 10_010), ",") + "]", 10_000, model.Answered,
			"10 exceed the limit",
		},
		"a million": {
			"[" + strings.TrimSuffix(strings.Repeat(`{"plan_id":"7"},`, 1_000_000), ",") + "]", -1, model.TooLarge, "",
		},
		"deep": {strings.Repeat("[", 100_000), -1, model.Garbled, ""},
	} {
		r := tasksOf(t, "compaction_tasks", &milvuspb.GetMetricsResponse{
			Status: &commonpb.Status{}, Response: test.text,
		})
		tasks := len(r.Tasks)
		if r.Tasks == nil {
			tasks = -1
		}
		call := r.LiveNode("querycoord", 3).Calls[0]
		if tasks != test.tasks || call.Outcome != test.outcome || call.About != "compaction_tasks" {
			t.Errorf("%s: %d tasks, %+v; want %d, %s", name, tasks, call, test.tasks, test.outcome)
		}
		if said := fmt.Sprint(r.Skipped); test.skipped == "" != (len(r.Skipped) == 0) ||
			!strings.Contains(said, test.skipped) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestRefusedTasks checks that a process that does not support a type is not considered faulty.
func TestRefusedTasks(t *testing.T) {
	r := tasksOf(t, "tasks_all", &milvuspb.GetMetricsResponse{Status: &commonpb.Status{
		ErrorCode: commonpb.ErrorCode_UnexpectedError, Code: 65535, Reason: "metric request type is not implemented",
	}})
	call := r.LiveNode("querycoord", 3).Calls[0]
	if call.Outcome != model.Unimplemented || call.Reason != "metric request type is not implemented" ||
		r.Tasks != nil {
		t.Errorf("%+v, %v", call, r.Tasks)
	}
}

// TestTasksAreSafe checks that secrets are removed from stored and decoded text, and that text is one line.
func TestTasksAreSafe(t *testing.T) {
	text := `[{"plan_id":"7","state":"failed\u001b[2J","fail_reason":"PUT https://me:hunter22@minio:9000/a: secretAccessKey=hunter22\nnext"}]`
	request := &milvuspb.GetMetricsRequest{Request: `{"metric_type":"compaction_tasks"}`}
	r := answered(t, "datacoord-2", inDataCoord+"GetMetrics", request, &milvuspb.GetMetricsResponse{
		Status: &commonpb.Status{}, Response: text,
	})
	kept := live.Redact(r)
	if strings.Contains(string(kept.Response), "hunter22") {
		t.Errorf("kept: %s", kept.Response)
	}
	for _, record := range []live.Record{r, kept} {
		tasks := decode(record).Tasks
		if len(tasks) != 1 {
			t.Fatalf("%d tasks", len(tasks))
		}
		if all := tasks[0].State + tasks[0].Reason; strings.Contains(all, "hunter22") ||
			strings.ContainsAny(all, "\x1b\n") || !strings.Contains(all, "minio:9000") {
			t.Errorf("%q", all)
		}
	}
}

// FuzzTasks checks that no response about any type causes a panic, and that each decoded task has an id, a type
// and displayable text.
func FuzzTasks(f *testing.F) {
	for metric, text := range livetest.Tasks() {
		f.Add(metric, text)
		f.Add(metric, text[:len(text)/2])
	}
	f.Add("tasks_all", `[{"task_name":"-Task[1]-","actions":["node id: -1","node id:99999999999999999999"],"step":-4}]`)
	f.Add("sync_tasks", `[{"segment_id":1,"segment_level":"\"\\\"L0\\\"\"","running_time":"-3s"}]`)
	f.Fuzz(func(t *testing.T, metric, text string) {
		if len(text) > 1<<20 {
			return
		}
		r := tasksOf(t, metric, &milvuspb.GetMetricsResponse{
			Status: &commonpb.Status{}, Response: strings.ToValidUTF8(text, "?"),
		})
		for _, x := range r.Targets {
			if list := append(slices.Clone(x.Sealed), x.Growing...); x.Collection <= 0 ||
				len(list) > 0 && slices.Min(list) <= 0 {
				t.Errorf("%+v", x)
			}
		}
		for _, x := range r.Tasks {
			if x.ID < 0 || x.Type == "" || x.Node < 0 || x.Report == nil || x.Report.Rows < 0 || x.Report.Bytes < 0 ||
				x.Report.Took < 0 || x.Report.Reporter() != "querycoord-3" {
				t.Errorf("%+v", x)
			}
			for _, word := range append([]string{
				x.State, x.Reason, x.SubType, x.Progress, x.VChannel, x.Report.Source, x.Report.Mark,
			}, x.Report.Actions...) {
				if strings.ContainsAny(word, "\x1b\x00\n\r\t") || len(word) > 500 {
					t.Errorf("%q", word)
				}
			}
			for _, id := range append(slices.Clone(x.Segments), x.Results...) {
				if id <= 0 {
					t.Errorf("segment %d", id)
				}
			}
		}
	})
}
