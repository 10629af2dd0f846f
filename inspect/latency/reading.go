package latency

import "kitescope/inspect/model"

// readings holds the measurements of the processes for one kind of request, each in its own window.
type readings struct {
	proxies []proxyReading
	proxy   proxyReading // sum of all proxies
	nodes   []nodeReading
	// missing maps a role to the reason why processes of the role are missing, or "" if all are present.
	missing map[string]string
	// seconds reports whether rates of different processes are comparable, because the windows are between two
	// scrapes. Otherwise only their counts are.
	seconds bool
	// append holds the duration of appends to the write-ahead log of each streaming node; since 2.6.
	append []appendReading
	// flush holds the duration of buffer writes to the object storage of each data node, or streaming node
	// since 2.6.
	flush []appendReading
}

// proxyReading holds the measurements of a proxy for a kind of request.
type proxyReading struct {
	node    model.NodeID
	seconds float64 // length of the window
	// total is the whole call (sq_latency, mutation_latency).
	total, queue dist
	// task is the time of a search or query from its queueing to the end of its task (sq_wait_result_latency).
	task, reduce, decode dist
	// queries holds the whole calls of queries of the searched collections, because some are part of a search.
	queries dist
	// send is the time of a write until the message queue has stored it (mutation_send_latency).
	send dist
	// ids and segments are calls for row IDs and for segments, for all kinds of requests that write rows; rows
	// is the number of such requests.
	ids, segments dist
	rows          float64
	// misses is the distribution of the calls to the coordinator, for all kinds of requests. cacheRequests is the
	// number of these requests.
	misses        dist
	cacheRequests float64
	// vectors is the number of search vectors, failed the number of failed requests. They are unknown if the
	// counter is missing.
	vectors, failed Value
	collections     []collectionReading
}

// collectionReading holds the whole calls of the requests of a collection.
type collectionReading struct {
	database, name string
	total          dist
	queries        dist  // searches: the whole calls of queries of the collection
	vectors        Value // searches; unknown if requests failed, because the metric counts failed requests too
}

// nodeReading holds the measurements of a query node for searches or queries, both as a leader of shards and
// as a worker of leaders.
type nodeReading struct {
	node    model.NodeID
	role    string
	seconds float64
	// leader has one call for each request and shard (sq_req_latency OnLeader). worker has one call for each
	// request, shard and node that the leader calls (FromLeader). mixed reports that both are in one metric, as
	// in 2.1; leader and worker then hold half of the calls each.
	leader, worker dist
	mixed          bool
	consistency    dist // sq_wait_tsafe_latency; since 2.3
	// queue has one observation for each task of the read scheduler.
	queue dist
	// sealed and growing have one observation for each group of tasks and segment (for queries in 2.3, one for
	// each group). core is only the call into the kernel. groups is the number of tasks that ran as one (sum:
	// tasks, count: groups).
	sealed, growing, core, groups dist
	segments, shards              dist // sq_reduce_latency by level
}

// appendReading holds the duration of writes of a process to its write-ahead log or to the object storage.
type appendReading struct {
	role    string
	node    model.NodeID
	seconds float64
	d       dist
}
