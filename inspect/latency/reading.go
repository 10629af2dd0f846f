package latency

import "kitescope/inspect/model"

// readings are what the processes say of one kind of request, each in its own window.
type readings struct {
	proxies []proxyReading
	proxy   proxyReading // all of them together
	nodes   []nodeReading
	// missing says why processes of a role are not among them, by role; "" is none.
	missing map[string]string
	// seconds: rates of different processes compare, as windows are between two scrapes; else their counts do.
	seconds bool
	// append has the time that each streaming node took to append a message to the write-ahead log; since 2.6.
	append []appendReading
	// flush has the time that each data node, since 2.6 each streaming node, took to write a buffer to the storage.
	flush []appendReading
}

// proxyReading is one proxy's account of requests of a kind.
type proxyReading struct {
	node    model.NodeID
	seconds float64 // of the window
	// total is the whole call (sq_latency, mutation_latency).
	total, queue dist
	// task is the time of a search or query from its queueing to the end of its task (sq_wait_result_latency).
	task, reduce, decode dist
	// queries are the whole calls of queries of the collections that are searched: some are part of a search.
	queries dist
	// send is the time of a write until the message queue has it (mutation_send_latency).
	send dist
	// ids and segments are questions for row ids and for segments: requests of every kind that writes rows; rows is how many
	// such requests there are.
	ids, segments dist
	rows          float64
	// misses are questions to the coordinator, of requests of every kind; all is how many those are.
	misses dist
	all    float64
	// vectors is how many were searched for, failed how many requests; unknown where the counter is missing.
	vectors, failed Value
	collections     []collectionReading
}

// collectionReading is the whole call of one collection's requests.
type collectionReading struct {
	database, name string
	total          dist
	queries        dist  // of searches: the whole call of its queries
	vectors        Value // of searches; unknown where requests failed, as the metric counts these as well
}

// nodeReading is one query node's account of searches or queries, as a leader of shards and as a worker of leaders.
type nodeReading struct {
	node    model.NodeID
	role    string
	seconds float64
	// leader is one call for each request and shard (sq_req_latency OnLeader), worker one for each request, shard and node that
	// the leader asks (FromLeader). mixed: 2.1 counts both in one; leader has it then.
	leader, worker dist
	mixed          bool
	consistency    dist // sq_wait_tsafe_latency; 2.3 on
	// queue is one for each task of the read scheduler.
	queue dist
	// sealed and growing are one for each group of tasks and segment (queries: for each group, in 2.3), core is the call into
	// the kernel alone, groups how many tasks ran as one (sum: tasks, count: groups).
	sealed, growing, core, groups dist
	segments, shards              dist // sq_reduce_latency by level
}

// appendReading is one process's account of what it writes for others: to its write-ahead log, to the storage.
type appendReading struct {
	role    string
	node    model.NodeID
	seconds float64
	d       dist
}
