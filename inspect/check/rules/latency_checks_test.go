package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// traffic is what clients did in a window of ten seconds, and what each process measured of it; milliseconds.
type traffic struct {
	searches, ms                           float64
	consistency, queue, sealed, core, grow float64
	segments                               float64 // of a node
	slow                                   map[model.NodeID]float64
	// mixed: 2.1 and 2.2 count leaders and workers in one, and consistency in the queue.
	mixed bool
	// start: there is one scrape only.
	start bool
	cores float64 // that each query node uses; 0: half of one
}

// tells gives each session of some roles a process with two scrapes, ten seconds apart.
func (w *world) tells(x traffic, roles ...string) {
	const window = 10
	scrape := func(at time.Time, cpu float64) *model.Metrics {
		return modeltest.Scrape(at, map[string][]model.Series{
			"process_cpu_seconds_total": {{Value: cpu}}, "process_start_time_seconds": {{Value: float64(modeltest.Now.Add(-time.Hour).Unix())}},
			"go_memstats_alloc_bytes_total": {{Value: cpu * 1e6}},
		})
	}
	cores := x.cores
	if cores == 0 {
		cores = 0.5
	}
	for _, n := range w.asked().Nodes {
		for _, role := range roles {
			if n.Role != role || n.Process != nil {
				continue
			}
			n.Process = &model.Process{
				Address: n.Address, Nodes: []model.Ref{n.Ref()}, Outcome: model.Answered,
				Metrics: scrape(modeltest.Now, 100+window*cores), Before: scrape(modeltest.Now.Add(-window*time.Second), 100),
			}
			if x.start {
				n.Process.Before = nil
			}
			w.runtime.Processes = append(w.runtime.Processes, n.Process)
		}
	}
}

// allTell gives each session a process with metrics that tell nothing much.
func (w *world) allTell() {
	w.tells(traffic{}, "proxy", "rootcoord", "mixcoord", "datacoord", "querycoord", "querynode", "datanode", "indexnode", "streamingnode")
}

// searched lets clients search, and processes measure it.
func searched(x traffic, more ...func(*world)) func(*world) {
	return func(w *world) {
		w.serve()
		w.searched(x)
		for _, f := range more {
			f(w)
		}
	}
}

func (w *world) searched(x traffic) {
	w.tells(x, "proxy", "querynode", "rootcoord")
	kind := model.Pair{Key: "query_type", Value: "search"}
	for _, n := range w.runtime.Nodes {
		add := func(name string, count, each float64, labels ...model.Pair) {
			modeltest.AddTimes(n.Process.Metrics, "milvus_"+name, count, each, append([]model.Pair{kind}, labels...)...)
		}
		switch n.Role {
		case "proxy":
			add("proxy_sq_latency", x.searches, x.ms)
			add("proxy_sq_wait_result_latency", x.searches, x.ms-1)
			if !x.mixed {
				add("proxy_collection_sq_latency", x.searches, x.ms, model.Pair{Key: "collection_name", Value: "docs"})
			}
		case "querynode":
			times := 1.0
			if s := x.slow[n.Node]; s > 0 {
				times = s
			}
			w.searchedBy(x, times, add)
		}
	}
}

// searchedBy adds what a query node measured.
func (w *world) searchedBy(x traffic, times float64, add func(name string, count, each float64, labels ...model.Pair)) {
	segments := max(1, x.segments)
	core := x.core
	if core == 0 {
		core = x.sealed
	}
	scope := func(name string) []model.Pair { return []model.Pair{{Key: "scope", Value: name}} }
	call := x.queue + times*x.sealed
	if x.mixed {
		add("querynode_sq_req_latency", 2*x.searches, x.ms-2)
		add("querynode_sq_queue_latency", 2*x.searches, x.queue+x.consistency)
	} else {
		add("querynode_sq_req_latency", x.searches, x.ms-2, scope("OnLeader")...)
		add("querynode_sq_req_latency", x.searches, call, scope("FromLeader")...)
		add("querynode_sq_wait_tsafe_latency", x.searches, x.consistency)
		add("querynode_sq_queue_latency", x.searches, x.queue)
	}
	add("querynode_sq_segment_latency", x.searches*segments, times*x.sealed, model.Pair{Key: "segment_state", Value: "Sealed"})
	add("querynode_sq_core_latency", x.searches*segments, times*core)
	if x.grow > 0 {
		add("querynode_sq_segment_latency", x.searches, x.grow, model.Pair{Key: "segment_state", Value: "Growing"})
		add("querynode_sq_core_latency", x.searches, x.grow)
		add("querynode_sq_req_latency", x.searches, x.queue+x.grow, scope("FromLeader")...)
		add("querynode_sq_queue_latency", x.searches, x.queue)
	}
}

// of changes the metrics of all processes of a role.
func of(role string, change func(m *model.Metrics)) func(*world) {
	return func(w *world) {
		for _, n := range w.runtime.Nodes {
			if n.Role == role {
				change(n.Process.Metrics)
			}
		}
	}
}

func TestConsistencyWait(t *testing.T) {
	hold(t, named("consistency-wait"), []verdict{
		{"no wait", searched(traffic{searches: 1000, ms: 12, sealed: 8}), nil, ""},
		{"a time tick", searched(traffic{searches: 1000, ms: 240, consistency: 220, sealed: 8}), []string{"warning collections/1000 a search of docs waits 221 ms of 240 ms for consistency, for the next time tick (every 200 ms)"}, ""},
		{"a third of it", searched(traffic{searches: 1000, ms: 60, consistency: 20, sealed: 30}), []string{"info collections/1000 a search of docs waits"}, ""},
		{"of few", searched(traffic{searches: 20, ms: 240, consistency: 220, sealed: 8}), []string{"info collections/1000 (only 20 requests)"}, ""},
		{"since the start", searched(traffic{searches: 1000, ms: 240, consistency: 220, sealed: 8, start: true}), []string{"warning collections/1000 a search of docs waits"}, ""},
		{"whole milliseconds may hide all of it", searched(traffic{searches: 1000, ms: 12, consistency: 5, sealed: 4}), nil, ""},
		{"late ticks", searched(traffic{searches: 100, ms: 900, consistency: 880, sealed: 8}), []string{"warning collections/1000 arrive late"}, ""},
		{"a slower tick is configured", searched(traffic{searches: 100, ms: 900, consistency: 880, sealed: 8}, func(w *world) { w.tell("proxy.timeTickInterval", "500", w.live("querynode")) }), []string{"warning collections/1000 for the next time tick (every 500 ms)"}, ""},
		{"2.2 has one queue for both", searched(traffic{searches: 1000, ms: 240, consistency: 220, sealed: 8, mixed: true}), nil, "counts them as part of the read queue"},
		{"nobody searched", func(w *world) { w.serve(); w.tells(traffic{}, "proxy", "querynode") }, nil, "no requests in the window"},
		{"not asked", nil, nil, "the nodes were not asked"},
	})
}

func TestReadQueueFull(t *testing.T) {
	limited := func(ratio string) func(*world) {
		return func(w *world) {
			w.tell("queryNode.scheduler.maxReadConcurrentRatio", ratio, w.query(nodeA), w.query(nodeB))
		}
	}
	queued := traffic{searches: 1500, ms: 80, queue: 40, sealed: 30} // 4.5 at a time, on 8 cores
	full := traffic{searches: 2600, ms: 90, queue: 50, sealed: 30, cores: 7.8}
	hold(t, named("read-queue-full"), []verdict{
		{"a limit that is too low", searched(queued, limited("0.5")), []string{"warning nodes/querynode-4 maxReadConcurrentRatio is 0.5"}, ""},
		{"far from the limit", searched(queued, limited("4")), nil, ""},
		{"processors are busy", searched(full, limited("1")), []string{"warning nodes/querynode-4 reads wait 50 ms in the queue of querynode-4 (and of 1 more), 51 ms of 90 ms of a search, because its cores are busy: 7.8 of 8 cores"}, ""},
		{"processors are taken by others", searched(traffic{searches: 2600, ms: 80, queue: 40, sealed: 30}, limited("1")), []string{"info nodes/querynode-4 the running reads do not get CPU time"}, ""},
		{"no queue", searched(traffic{searches: 2600, ms: 35, sealed: 30}, limited("0.5")), nil, ""},
		{"a queue that is nothing beside the kernels", searched(traffic{searches: 2600, ms: 400, queue: 30, sealed: 350}, limited("0.5")), nil, ""},
		{"the limit is unknown", searched(queued), nil, "does not report queryNode.scheduler.maxReadConcurrentRatio"},
		{"the processors are unknown", searched(queued, limited("0.5"), func(w *world) { w.query(nodeA).System, w.query(nodeB).System = nil, nil }), nil, "CPU use of querynode-4, where"},
	})
}

func TestWorkerSlow(t *testing.T) {
	slow := func(times float64) traffic {
		return traffic{searches: 1000, ms: 5 + 20*max(1, times), sealed: 20, segments: 2, slow: map[model.NodeID]float64{nodeB: times}}
	}
	flat := func(rows int64) func(*world) {
		return func(w *world) {
			w.Indexes[0].Type = "FLAT"
			for i, s := range w.Segments {
				if i/2%2 == 1 {
					s.Rows = rows
				}
			}
		}
	}
	// beside has the slow node serve a large segment of another collection, which is searched, or is not.
	beside := func(searches float64) func(*world) {
		return func(w *world) {
			const other = model.CollectionID(7000)
			huge := *w.Collections[0]
			huge.ID, huge.Name, huge.VChannels = other, "huge", nil
			w.Collections = append(w.Collections, &huge)
			w.Replicas = append(w.Replicas, &model.Replica{ID: 7100, Collection: other, Nodes: []model.NodeID{nodeB}})
			w.Segments = append(w.Segments, &model.Segment{ID: 7200, Collection: other, State: model.SegmentFlushed, Level: model.LevelL1, Rows: 2_000_000})
			d := w.query(nodeB).Distribution
			d.Sealed = append(d.Sealed, model.ServedSegment{ID: 7200, Collection: other})
			of("proxy", func(m *model.Metrics) {
				modeltest.AddTimes(m, "milvus_proxy_collection_sq_latency", searches, 105, model.Pair{Key: "query_type", Value: "search"}, model.Pair{Key: "collection_name", Value: "huge"})
			})(w)
		}
	}
	hold(t, named("worker-slow"), []verdict{
		{"five times, with a large segment that nobody searches", searched(slow(5), beside(0)), []string{"warning nodes/querynode-" + nodeB.String() + " the others 20 ms"}, ""},
		{"a large segment that is searched", searched(slow(5), beside(500)), nil, ""},
		{"alike", searched(slow(1)), nil, ""},
		{"a little slower", searched(slow(1.7)), nil, ""},
		{"twice as slow as the only other one", searched(slow(2.4)), nil, ""},
		{"five times", searched(slow(5)), []string{"warning nodes/querynode-" + nodeB.String() + " takes 100 ms per sealed segment, the others 20 ms"}, ""},
		{"its segments are five times as large", searched(slow(5), flat(450_000)), nil, ""},
		{"few searches", searched(traffic{searches: 10, ms: 105, sealed: 20, segments: 2, slow: map[model.NodeID]float64{nodeB: 5}}), nil, ""},
		{"fast all the same", searched(traffic{searches: 1000, ms: 12, sealed: 1, segments: 2, slow: map[model.NodeID]float64{nodeB: 5}}), nil, ""},
	})
}

func TestKernelsOfSegments(t *testing.T) {
	hold(t, named("segment-thread-wait"), []verdict{
		{"kernels take what there is", searched(traffic{searches: 1000, ms: 30, sealed: 25, core: 24, segments: 3}), nil, ""},
		{"most is the wait for a thread", searched(traffic{searches: 1000, ms: 30, sealed: 25, core: 4, segments: 25}), []string{"warning collections/1000 for threads to search its segments"}, ""},
		{"2.1", searched(traffic{searches: 1000, ms: 30, sealed: 25, core: 24, segments: 3, mixed: true}), nil, ""},
	})
	hold(t, named("growing-search-time"), []verdict{
		{"none", searched(traffic{searches: 1000, ms: 30, sealed: 25}), nil, ""},
		{"little", searched(traffic{searches: 1000, ms: 30, sealed: 25, grow: 4}), nil, ""},
		{"most", searched(traffic{searches: 1000, ms: 40, sealed: 5, grow: 33}), []string{"info collections/1000 for growing segments"}, ""},
	})
	vectors := func(nq float64) func(*world) {
		return of("proxy", func(m *model.Metrics) {
			modeltest.AddSeries(m, "milvus_proxy_search_vectors_count", model.Series{Value: 200 * nq})
		})
	}
	hold(t, named("large-nq"), []verdict{
		{"one vector", searched(traffic{searches: 200, ms: 30, sealed: 25}, vectors(1)), nil, ""},
		{"a thousand", searched(traffic{searches: 200, ms: 950, sealed: 900}, vectors(1000)), []string{"info collections/1000 has 1,000 vectors and takes 950 ms: 0.95 ms per vector"}, ""},
		{"a hundred, and one node is slow", searched(traffic{searches: 200, ms: 105, sealed: 20, segments: 2, slow: map[model.NodeID]float64{nodeB: 5}}, vectors(100)), nil, ""},
		{"a thousand, and one node is slow", searched(traffic{searches: 200, ms: 1250, sealed: 300, segments: 2, slow: map[model.NodeID]float64{nodeB: 4}}, vectors(1000)), nil, ""},
		{"a thousand, and one node is a little slower", searched(traffic{searches: 200, ms: 950, sealed: 600, segments: 2, slow: map[model.NodeID]float64{nodeB: 1.5}}, vectors(1000)), []string{"info collections/1000 has 1,000 vectors"}, ""},
		{"a thousand, and the time goes elsewhere", searched(traffic{searches: 200, ms: 950, consistency: 800, sealed: 100}, vectors(1000)), nil, ""},
		{"nobody counts them", searched(traffic{searches: 200, ms: 950, sealed: 900}), nil, "no proxy counts them"},
	})
}

func TestProxyTimes(t *testing.T) {
	queue := func(ms float64) func(*world) {
		return of("proxy", func(m *model.Metrics) {
			modeltest.AddTimes(m, "milvus_proxy_req_in_queue_latency", 1000, ms, model.Pair{Key: "function_name", Value: "Search"})
		})
	}
	hold(t, named("proxy-queue"), []verdict{
		{"short", searched(traffic{searches: 1000, ms: 30, sealed: 25}, queue(1)), nil, ""},
		{"long", searched(traffic{searches: 1000, ms: 100, sealed: 25}, queue(70)), []string{"warning / a search of docs spends"}, ""},
		{"2.3 does not measure it", searched(traffic{searches: 1000, ms: 100, sealed: 25}), nil, "measured by Milvus 2.4 and later"},
	})
	misses := func(count, ms float64) func(*world) {
		return of("proxy", func(m *model.Metrics) {
			modeltest.AddTimes(m, "milvus_proxy_cache_update_latency", count, ms, model.Pair{Key: "cache_name", Value: "DescribeCollection"})
		})
	}
	hold(t, named("metadata-cache-miss"), []verdict{
		{"none", searched(traffic{searches: 1000, ms: 30, sealed: 25}), nil, ""},
		{"a few slow ones", searched(traffic{searches: 1000, ms: 30, sealed: 25}, misses(5, 300)), nil, ""},
		{"each request", searched(traffic{searches: 1000, ms: 90, sealed: 25}, misses(950, 60)), []string{"warning / that proxies request from the coordinators"}, ""},
	})
}

func TestWALAppendSlow(t *testing.T) {
	appends := func(role, name string, count, each float64, labels ...model.Pair) func(*world) {
		return func(w *world) {
			w.allTell()
			of(role, func(m *model.Metrics) { modeltest.AddTimes(m, name, count, each, labels...) })(w)
		}
	}
	produce := model.Pair{Key: "message_op_type", Value: "produce"}
	const stream = "milvus_msgstream_request_latency"
	hold(t, named("wal-append-slow"), []verdict{
		{"as it should be", appends("rootcoord", stream, 400, 9, produce), nil, ""},
		{"slow", appends("rootcoord", stream, 400, 140, produce), []string{"warning / the message queue takes 140 ms to accept a message from rootcoord-1"}, ""},
		{"a little slow", appends("rootcoord", stream, 400, 70, produce), []string{"info / the message queue takes 70 ms"}, ""},
		{"few messages", appends("rootcoord", stream, 4, 900, produce), nil, "no process wrote ten messages"},
		{"reading is another thing", appends("rootcoord", stream, 400, 900, model.Pair{Key: "message_op_type", Value: "consume"}), nil, "no process wrote ten messages"},
		{"a streaming node of 2.6, in seconds", func(w *world) {
			modern(w)
			w.asked()
			appends("streamingnode", "milvus_wal_append_message_duration_seconds", 400, 0.25)(w)
		}, []string{"warning / 250 ms to accept a message from streamingnode-7"}, ""},
		{"one that is well, in seconds", func(w *world) {
			modern(w)
			w.asked()
			appends("streamingnode", "milvus_wal_append_message_duration_seconds", 400, 0.008)(w)
		}, nil, ""},
	})
}

func TestRefusedAndStorage(t *testing.T) {
	refuses := func(fail, total float64) func(*world) {
		return func(w *world) {
			w.allTell()
			of("proxy", func(m *model.Metrics) {
				for status, n := range map[string]float64{"fail": fail, "total": total} {
					modeltest.AddSeries(m, "milvus_proxy_rate_limit_req_count", model.Series{Value: n, Labels: []model.Pair{{Key: "msg_type", Value: "DQLSearch"}, {Key: "status", Value: status}}})
				}
			})(w)
		}
	}
	hold(t, named("rate-limited"), []verdict{
		{"none", refuses(0, 1000), nil, ""},
		{"a few of many", refuses(40, 100_000), nil, ""},
		{"many", refuses(400, 1000), []string{"warning / proxies rejected 400 of 1,000 DQLSearch"}, ""},
		{"2.3", func(w *world) { w.Version.Text = "2.3.5"; w.allTell() }, nil, "counted by Milvus 2.4 and later"},
	})
	reads := func(name string, count, ms float64, op string) func(*world) {
		return func(w *world) {
			w.allTell()
			of("querynode", func(m *model.Metrics) {
				modeltest.AddTimes(m, name, count, ms, model.Pair{Key: "persistent_data_op_type", Value: op})
			})(w)
		}
	}
	hold(t, named("storage-slow"), []verdict{
		{"as it should be", reads("milvus_storage_request_latency", 100, 60, "get"), nil, ""},
		{"slow", reads("milvus_storage_request_latency", 100, 1500, "get"), []string{"warning / 1,500 ms per read of querynode-4"}, ""},
		{"of the part in C++", reads("internal_storage_request_latency", 100, 700, "put"), []string{"info / 700 ms per write of querynode-4"}, ""},
		{"listing is long where there is much", reads("milvus_storage_request_latency", 100, 1500, "list"), nil, "no process read or wrote"},
	})
}
