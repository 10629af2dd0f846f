// Package latency computes where the requests of a cluster spend their time, e.g. a search of 221 ms of which
// 204 ms are the wait for consistency. Compute reads a model.Cluster with process metrics and returns Budgets. A
// budget is a tree of phases that add up to the latency of the whole call, as measured by the proxy.
//
// Milvus does not trace the path of a request. Each process measures its own calls: a proxy the whole
// request, a shard leader a call of the proxy, a query node a call of the leader, and a segment a kernel. A
// request waits for its slowest shard, a shard for its slowest worker, and a worker for its slowest segment.
// No metric identifies the slowest call, so the budget is computed as follows:
//
//  1. Compute (read.go) reads the increase of the histograms of each process in a window: between two scrapes, or
//     since its start. It uses the metric names of the release. Missing metrics are unknown, with the reason.
//  2. A histogram is converted to a curve (curve.go): the share of calls that take longer than x. The calls of
//     each bucket stay in their bucket, and the mean is the mean of the metric. If observations were truncated to
//     whole milliseconds, half a millisecond is added to long calls and almost nothing to calls near zero.
//  3. Parallel calls are converted to a wait for the slowest (slowest.go). The lower bound assumes that the calls
//     of a request are slow together, the upper bound that at most one call is slow. Independent calls are
//     in between. The other measurements of the level above bound the wait too: a leader that took 20
//     ms, including 5 ms for consistency, did not wait for its workers for more than 15 ms. The estimate is the
//     wait for independent calls, limited to the remaining time.
//  4. The calls of a worker are split by kind (worker.go): calls on the sealed segments of a node, and calls on
//     growing segments, which only the leader itself has. A leader (leader.go) waits for its slowest worker, a
//     request (search.go) for the slowest leader. The slowest call is not an average call: its time above the
//     mean is assigned to the pieces that vary (expectedPieces). Leaders that took longer than independent workers
//     would explain are assumed to have called the slow workers.
//     The scheduler measures the queueing time of a task before it submits the task to its pool, and blocks there
//     while the pool is full (internal/querynodev2/tasks, exec). Therefore, if tasks queue, the unexplained time
//     of a worker call is assumed to be this wait, up to the time of a kernel (PoolWait). On real clusters it
//     correlates with the queue.
//  5. The remaining time of each level is a phase of its own, Unexplained. It is not distributed to other phases.
//  6. Collections (collections.go) share the phases so that the phases of each collection add up to its own mean.
//
// A phase has a value, bounds, and a flag that marks an estimate. The bounds of a phase leave all other
// phases free.
//
// Two times have no metric. A query node that is short of CPU, or stopped, does not respond before it starts
// measuring; this time is between a leader and its workers, and unexplained. A search that returns vectors
// fetches them with a separate query until at least 2.5, which the proxy counts as a query of a client
// (Requery).
//
// 2.1 and 2.2 have one queue for consistency and for the scheduler (ConsistencyQueue). 2.1 counts calls of
// leaders and of workers in one metric; half of the calls are assumed to be calls of leaders.
//
// Tests check the computation against a simulated cluster that follows the rules of the Milvus source, with
// random size, load and skew. The simulation records the wait of each request (simulate_test.go).
package latency

import (
	"time"

	"kitescope/inspect/model"
)

// Request is a kind of client request.
type Request string

// The kinds of requests that have a budget.
const (
	Search Request = "search"
	Query  Request = "query"
	Insert Request = "insert"
	Upsert Request = "upsert"
	Delete Request = "delete"
)

// Name is the name of a phase in the output.
type Name string

// The names of phases. Each level has an Unexplained phase if its time exceeds the sum of its parts.
const (
	Total      Name = "total"       // the whole call, as measured by the proxy
	ProxyRest  Name = "proxy_rest"  // in the proxy, before the request is queued and after its task is done
	ProxyQueue Name = "proxy_queue" // until a worker of the proxy takes the task; since 2.4
	// Requesting metadata from the coordinator that the proxy has not cached.
	MetadataCache   Name = "metadata_cache"
	WaitForNodes    Name = "wait_for_nodes"   // for the slowest of the shard leaders, which are called in parallel
	ConsistencyWait Name = "consistency_wait" // until a shard has consumed up to the guarantee timestamp
	// ConsistencyWait and ReadQueue together: 2.1 and 2.2 do not separate them.
	ConsistencyQueue Name = "consistency_queue"
	WaitForWorkers   Name = "wait_for_workers" // leader: for the slowest of its query nodes, including itself
	ReadQueue        Name = "read_queue"       // until the read scheduler takes the task
	// After ReadQueue, until the pool of the scheduler has a slot (step 4 above).
	PoolWait       Name = "pool_wait"
	ThreadWait     Name = "thread_wait"     // until a thread of the pool takes the segment
	KernelSealed   Name = "kernel_sealed"   // the slowest of the sealed segments
	KernelGrowing  Name = "kernel_growing"  // the slowest of the growing segments
	ReduceSegments Name = "reduce_segments" // merging the results of segments
	ReduceShards   Name = "reduce_shards"   // merging the results of workers
	ReduceProxy    Name = "reduce_proxy"    // merging the results of shards
	Decode         Name = "decode"          // decoding the result in the proxy
	AllocateIDs    Name = "allocate_ids"    // allocating IDs for rows to insert
	AssignSegments Name = "assign_segments" // requesting segments for rows to insert from the data coordinator
	WALAppend      Name = "wal_append"      // until the message queue has stored the write
	Requery        Name = "requery"         // a query for the output fields of a search
	Flush          Name = "flush"           // writing buffers to the object storage; no client waits for it
	Unexplained    Name = "unexplained"     // not explained by any metric
)

// Interval holds the bounds of a time, in milliseconds. High may be infinite.
type Interval struct{ Low, High float64 }

// Scope describes which requests the metrics of a budget's phases cover. Up to 2.4, proxies count only whole
// calls and vectors by collection, and query nodes count nothing by collection.
type Scope int

// The scopes.
const (
	Exact  Scope = iota // only these requests: the measuring processes serve no other collection
	Sole                // all requests, but no request of another collection succeeded in the window
	Shared              // several collections: a phase is the best-fitting share
)

// Value is a number that may be unknown.
type Value struct {
	Value float64
	Known bool
}

// Latency holds the budgets of the requests of a cluster. It is immutable.
type Latency struct {
	// Budgets is sorted by kind of request, in the order of the constants. For each kind, the budget of all
	// collections comes first if there is more than one. The budgets of the collections follow, sorted by total
	// time, descending.
	Budgets []*Budget
	Window  Window
	// Unknown holds the processes with missing metrics, with the reason.
	Unknown []Unknown
}

// Window is the time window of the metrics.
type Window struct {
	From, To time.Time // of the proxies; zero if unknown
	// SinceStart reports that the window begins at the start of each process, because each process was scraped
	// only once.
	SinceStart bool
	// Why describes the window, e.g. "over a 12 s window" or "since the start of each process".
	Why string
}

// Unknown is a process with missing metrics.
type Unknown struct {
	Role    string
	Node    model.NodeID
	Address string
	Reason  string
}

// Budget is the breakdown of the latency of a kind of request.
type Budget struct {
	// Collection is 0 if the budget covers all collections, or if the metadata has no collection of this name.
	Collection model.CollectionID
	// Name and Database are the names of the collection and its database, or "" for all collections.
	Name, Database string
	Request        Request
	// Scope describes which requests the metrics of the phases cover. Collections is the number of collections
	// with such requests in the window. It is 0 in the budget of a single collection, and if the release does
	// not count by collection.
	Scope       Scope
	Collections int
	// Requests is the number of successful requests in the window, Failed the number of failed ones. No metric
	// has the latency of failed requests.
	Requests                    float64
	Failed                      Value
	PerSecond, VectorsPerSecond Value
	// Ms is the mean latency of a request in milliseconds, Mean its bounds. Up to 2.5, Milvus truncates each
	// observation to whole milliseconds.
	Ms   float64
	Mean Interval
	// P50, P95 and P99 are the buckets that contain the quantiles.
	P50, P95, P99 Interval
	// Root is the phase Total. The children of each phase add up to the phase.
	Root *Phase
}

// Phase is a part of the latency of a request.
type Phase struct {
	Name   Name
	Parent Name
	// Role is the role of the processes that spend the time: proxy, querynode or streamingnode.
	Role string
	// Known is false if the metric is missing; Why holds the reason. The time is then part of an Unexplained
	// phase.
	Known bool
	Why   string
	// Ms is the time that the client waits in this phase, on average over requests, in milliseconds. Mean holds
	// its bounds.
	Ms    float64
	Mean  Interval
	Share float64 // of the whole request, 0 to 1
	// Estimate reports that the value is computed and not measured, because Milvus measures only sums of
	// parallel calls.
	Estimate bool
	// Call is the mean duration of a call that continues after the response, e.g. a flush. No client waits for
	// such a call, and Ms is 0.
	Call Value
	// PerSecond is the rate of calls. For segments it is the rate of searches in one segment.
	PerSecond Value
	// P50 and P99 are the buckets that contain the quantiles of a single call; zero if unknown.
	P50, P99 Interval
	Children []*Phase
	// Nodes holds the values of each process, sorted by the time that the client waits for the process, descending.
	Nodes []NodePhase
}

// NodePhase holds the measurements of a process for a phase.
type NodePhase struct {
	Role string
	Node model.NodeID
	// Calls is the number of calls for one client request.
	Calls float64
	// Ms is the mean duration of a call in milliseconds, Mean its bounds.
	Ms   float64
	Mean Interval
	// Waited is the part of the client's mean latency that is spent waiting for this process, in milliseconds.
	// It is an estimate, because another process is often slower.
	Waited    float64
	PerSecond Value
	P50, P99  Interval
}

// Background reports whether no client waits for the phase. Such a phase is not part of the sum.
func (p *Phase) Background() bool { return p.Call.Known }

// Find returns the phase with this name at or below p, or nil if no phase has the name. If several do, it
// returns the largest.
func (p *Phase) Find(name Name) *Phase {
	var best *Phase
	p.Walk(func(x *Phase, _ int) {
		if x.Name == name && (best == nil || x.Ms > best.Ms) {
			best = x
		}
	})
	return best
}

// Walk calls visit for p and all phases below it, parents first. p has depth 0.
func (p *Phase) Walk(visit func(x *Phase, depth int)) { p.walk(visit, 0) }

func (p *Phase) walk(visit func(*Phase, int), depth int) {
	if p == nil {
		return
	}
	visit(p, depth)
	for _, c := range p.Children {
		c.walk(visit, depth+1)
	}
}

// Leaves returns the phases without children, in the order of the request. They add up to the whole.
func (p *Phase) Leaves() []*Phase {
	var list []*Phase
	p.Walk(func(x *Phase, _ int) {
		if len(x.Children) == 0 {
			list = append(list, x)
		}
	})
	return list
}

// Unexplained returns the part of the mean latency that no metric explains, in milliseconds, summed over all
// levels.
func (b *Budget) Unexplained() float64 {
	sum := 0.0
	for _, p := range b.Root.Leaves() {
		if p.Name == Unexplained {
			sum += p.Ms
		}
	}
	return sum
}

// Find returns the budget of a collection and a kind of request, or nil if it does not exist. An empty
// collection selects the budget of all collections, or of the only one.
func (l *Latency) Find(collection string, request Request) *Budget {
	if l == nil {
		return nil
	}
	for _, b := range l.Budgets {
		if b.Request == request && (b.Name == collection || collection == "") {
			return b
		}
	}
	return nil
}
