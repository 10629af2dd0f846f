// Package latency says where the requests of a cluster spend their time: a search of 221 ms, 204 of it waiting for consistency. What
// enters is a Cluster whose processes gave their metrics; what leaves are Budgets, trees of phases that add up to what the proxy
// measured of the whole call.
//
// Milvus does not measure a request's way. It measures calls, each process its own: a proxy the whole request, a shard leader a
// call of it, a query node a call of the leader, a segment a kernel. A request waits for its slowest shard, a shard for its slowest
// worker, a worker for its slowest segment, and no metric says which that was. So the budget is put together:
//
//  1. Of (read.go) takes from each process the increase of its histograms in a window, two scrapes or since its start, by the names
//     of its release. What no process told is unknown, with the reason.
//  2. A histogram becomes a curve (curve.go): the share of calls that take longer than x, each bucket's in its bucket, so that the
//     mean is the one that is told. Where observations were cut to whole milliseconds, half of one is added to long calls and next
//     to nothing to calls of next to nothing.
//  3. Calls that are made at once become a wait for the slowest (slowest.go). It is at least what it would be if the calls of a
//     request were slow together, and at most what it would be if never two were; in between is what independent calls make of it.
//     What the level above measured beside this wait bounds it too: a leader that took 20 ms, of it 5 for consistency, did not wait
//     for its workers for more than 15. The estimate is what independent calls take, but no more than there is room for.
//  4. A worker's calls are taken apart by what they are about (worker.go): sealed segments of a node, or growing ones, which only
//     the leader itself has. A leader (leader.go) waits for the slowest of them, a request (search.go) for the slowest leader. The
//     slowest call is not a mean one: what it takes more than the mean is of the pieces that vary (given). Leaders that took longer
//     than independent workers would make them are taken to have asked the slow ones.
//     The scheduler notes how long a task was queued before its pool takes it, and waits there while the pool is full
//     (internal/querynodev2/tasks, exec): where tasks queue, what a worker's call takes besides is taken to be that, up to the time
//     of a kernel (PoolWait). On real clusters it comes and goes with the queue.
//  5. What is left at each level is a phase of its own, Unexplained, and nothing of it is given to others.
//  6. Collections (collections.go) share the phases so that each one's add up to its own mean.
//
// A phase has the estimate, bounds, and says whether it is one. The bounds are those of one phase with all others free.
//
// Two things are not told at all. A query node that is short of processors, or stopped, does not answer before it measures: that
// time is between a leader and its workers, unexplained. A search that returns vectors asks for them with a query of its own until
// 2.5 at least, which the proxy counts as a query of a client (Requery).
//
// 2.1 and 2.2 have one queue for consistency and for the scheduler (ConsistencyQueue); 2.1 counts calls of leaders and of workers
// in one, and is taken to have as many of either.
//
// Tests hold all of this against a simulated cluster that is made by the sources' rules, random in size, load and skew, whose
// requests know what they waited for (simulate_test.go).
package latency

import (
	"time"

	"kitescope/inspect/model"
)

// Request is a kind of request of a client.
type Request string

// The kinds of requests that have a budget.
const (
	Search Request = "search"
	Query  Request = "query"
	Insert Request = "insert"
	Upsert Request = "upsert"
	Delete Request = "delete"
)

// Name is a phase of a request, as scripts see it.
type Name string

// The phases. Unexplained is at every level that has more time than its parts.
const (
	Total            Name = "total"             // the whole call, as the proxy sees it
	ProxyRest        Name = "proxy_rest"        // in the proxy, before the request is queued and after its task is done
	ProxyQueue       Name = "proxy_queue"       // until a worker of the proxy takes the task; 2.4 on
	MetadataCache    Name = "metadata_cache"    // asking the coordinator for what the proxy does not know
	WaitForNodes     Name = "wait_for_nodes"    // for the slowest of the shard leaders that are asked at once
	ConsistencyWait  Name = "consistency_wait"  // until a shard has consumed up to the guarantee timestamp
	ConsistencyQueue Name = "consistency_queue" // that and the read queue in one: 2.1 and 2.2 do not tell them apart
	WaitForWorkers   Name = "wait_for_workers"  // a leader, for the slowest of the query nodes that it asks, itself among them
	ReadQueue        Name = "read_queue"        // until the read scheduler takes the task
	PoolWait         Name = "pool_wait"         // after that, until the pool of the scheduler has a place: what is not else explained of a worker with a queue
	ThreadWait       Name = "thread_wait"       // of a segment, until a thread of the pool takes it
	KernelSealed     Name = "kernel_sealed"     // the slowest of the sealed segments
	KernelGrowing    Name = "kernel_growing"    // the slowest of the growing segments
	ReduceSegments   Name = "reduce_segments"   // what segments found into one
	ReduceShards     Name = "reduce_shards"     // what workers found into one
	ReduceProxy      Name = "reduce_proxy"      // what shards found into one
	Decode           Name = "decode"            // of the result in the proxy
	AllocateIDs      Name = "allocate_ids"      // of rows to insert
	AssignSegments   Name = "assign_segments"   // to rows to insert, by the data coordinator
	WALAppend        Name = "wal_append"        // until the message queue has what is written
	Requery          Name = "requery"           // a query for the fields to return of what a search found
	Flush            Name = "flush"             // of what was written to the storage; no client waits for it
	Unexplained      Name = "unexplained"       // what no metric explains
)

// Interval is what bounds a time, in milliseconds. High may be infinite.
type Interval struct{ Low, High float64 }

// Scope is how much more than the requests of a budget the metrics of its phases are of. Up to 2.4 proxies count only whole calls and
// vectors by collection, and query nodes nothing.
type Scope int

// The scopes.
const (
	Exact  Scope = iota // of these requests alone, as the processes that measured them serve no other collection
	Sole                // of all requests; requests of no other collection succeeded in the window
	Shared              // of several collections: a phase is the share that fits best
)

// Value is a number that may be unknown.
type Value struct {
	Value float64
	Known bool
}

// Latency is where the requests of a cluster spend their time. It is immutable.
type Latency struct {
	// Budgets are by kind of request, in the order of the constants; of one kind first that of all collections, where there is
	// more than one, and then each collection's, the one that takes most time of all its requests first.
	Budgets []*Budget
	Window  Window
	// Unknown are the processes whose metrics are missing, with the reason.
	Unknown []Unknown
}

// Window is the time that is looked at.
type Window struct {
	From, To time.Time // of the proxies; zero: unknown
	// SinceStart: the time from the start of each process on, as only one scrape is there.
	SinceStart bool
	// Why says what the window is: "the last 12 s", "since the start of each process".
	Why string
}

// Unknown is a process that said nothing of itself.
type Unknown struct {
	Role    string
	Node    model.NodeID
	Address string
	Reason  string
}

// Budget is where the time of one kind of request goes.
type Budget struct {
	// Collection is 0 where the budget is of all collections together, and where the metadata does not know the name.
	Collection model.CollectionID
	// Name and Database are the collection's; "" of all.
	Name, Database string
	Request        Request
	// Scope is how much more than the budget's requests the metrics of its phases are of. Collections is how many collections had such
	// requests in the window: 0 in the budget of one, and where the release does not count them by collection.
	Scope       Scope
	Collections int
	// Requests is how many ended well in the window, Failed how many did not: their time is in no metric.
	Requests                    float64
	Failed                      Value
	PerSecond, VectorsPerSecond Value
	// Ms is the mean of a request, and Mean what bounds it: up to 2.5 Milvus cuts each observation to whole milliseconds.
	Ms   float64
	Mean Interval
	// P50, P95 and P99 are the buckets that the quantiles are in.
	P50, P95, P99 Interval
	// Root is Total. Its children add up to it, theirs to them.
	Root *Phase
}

// Phase is a part of a request's time.
type Phase struct {
	Name   Name
	Parent Name
	// Role is whose time it is: proxy, querynode, streamingnode.
	Role string
	// Known is false where the metric is missing; Why says for what reason. The time is then part of what is unexplained.
	Known bool
	Why   string
	// Ms is how much of the mean request it is that the client waits for, and Mean what bounds that.
	Ms    float64
	Mean  Interval
	Share float64 // of the whole request, 0 to 1
	// Estimate: it is not measured, but follows from what is: Milvus tells only sums of calls that run at the same time.
	Estimate bool
	// Call is how long one takes of what goes on after the answer, as a flush does: nobody waits for it, and Ms is 0.
	Call Value
	// PerSecond is how often it happens: calls, of segments the searches of one.
	PerSecond Value
	// P50 and P99 are the buckets of one call's quantiles; zero if unknown.
	P50, P99 Interval
	Children []*Phase
	// Of is what each process says, the one that the client waits for longest first.
	Of []NodePhase
}

// NodePhase is what one process says of a phase.
type NodePhase struct {
	Role string
	Node model.NodeID
	// Calls is how many there are for one request of the client.
	Calls float64
	// Ms is how long one takes on average, and Mean what bounds it.
	Ms   float64
	Mean Interval
	// Waited is how much of the client's mean is time of this process, an estimate: often another one is slower.
	Waited    float64
	PerSecond Value
	P50, P99  Interval
}

// Aside reports whether no client waits for the phase: it is no part of the sum.
func (p *Phase) Aside() bool { return p.Call.Known }

// Find returns the phase of this name below (or at) p, the largest if there are several, nil if there is none.
func (p *Phase) Find(name Name) *Phase {
	var best *Phase
	p.Walk(func(x *Phase, _ int) {
		if x.Name == name && (best == nil || x.Ms > best.Ms) {
			best = x
		}
	})
	return best
}

// Walk calls visit for p and all below it, parents first; p has depth 0.
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

// Leaves are the phases without parts, in the order of the request: they add up to the whole.
func (p *Phase) Leaves() []*Phase {
	var list []*Phase
	p.Walk(func(x *Phase, _ int) {
		if len(x.Children) == 0 {
			list = append(list, x)
		}
	})
	return list
}

// Unexplained is how much of the mean request no metric explains, in milliseconds, of all levels.
func (b *Budget) Unexplained() float64 {
	sum := 0.0
	for _, p := range b.Root.Leaves() {
		if p.Name == Unexplained {
			sum += p.Ms
		}
	}
	return sum
}

// Find is the budget of a collection and a kind of request, nil if there is none; "" is all collections, or the only one.
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
