package simulate

import (
	"time"

	"kitescope/replay/schedule"
)

// Cluster is what is simulated: one or several collections on query nodes.
type Cluster struct {
	Nodes       []Node
	Collections []Collection
	// Wire is the time for one hop over the network, there and back; a search makes one to each leader and from there one to each worker.
	Wire time.Duration
	// Delay is time of each request in which nothing here is busy: it waits for a timestamp, or for its turn elsewhere.
	Delay time.Duration
	// Proxy is CPU time per request at a proxy, Proxies how many cores they have together, which may be a part of one; 0 is not simulated.
	// Where requests come one after the other each takes Warm of it (Node.Warm).
	Proxy   time.Duration
	Proxies float64
	Warm    float64
}

// Node is one query node.
type Node struct {
	ID   int64
	Name string
	// Limit is how many cores it may use, a part of one too; 0 is Read.Cores. A container may be given less than its process believes to have: a
	// quota of CPU time in each Period, which it may use on all of Read.Cores at once. 0 is DefaultPeriod.
	Limit  float64
	Period time.Duration
	// Read bounds what runs at once, by the Read.Cores cores that the process believes to have, which have to be known.
	Read schedule.Knobs
	// Overhead is CPU time per task (plan, reduce) apart from segments; SegmentOverhead per segment searched: a merged group has either once.
	Overhead, SegmentOverhead time.Duration
	// Outside is CPU time per task that a leader passes on, before the worker's scheduler takes it (RPC, both ways), on one core, which each task of a merged
	// group has; a leader asks itself without a call (internal/querynodev2/local_worker.go). Where one comes after
	// the other it is Warm times as much, as caches are warm and nobody has to be woken; the longer nothing came, the nearer it is to all of it. 0 is 1.
	Outside time.Duration
	Warm    float64
	// Lead is CPU time of a shard's leader for each request, on one core, before tasks are given out; Warm counts for it, too.
	Lead time.Duration
	// Parallel is how many cores one task may use at once: Milvus searches the segments of a task side by side. 0 is all.
	Parallel int
}

// DefaultPeriod is that of CPU quotas where nobody says another (cpu.cfs_period_us of Linux, cpuCFSQuotaPeriod of Kubernetes).
const DefaultPeriod = 100 * time.Millisecond

// Cores are those that the node's work shares.
func (n *Node) Cores() float64 {
	if n.Limit > 0 {
		return n.Limit
	}
	return n.Read.Cores
}

// Collection is a set of segments that each request on it searches, all of one replica.
type Collection struct {
	Name     string
	Weight   float64 // share of the load's requests; all of them add up to any number
	Replicas [][]Shard
	// Correlation is how much of the spread of costs is of the query and the same in all segments, 0 to 1: a vector that is far from all others is
	// dear in every graph, while row by row costs vary by chance.
	Correlation float64
}

// Shard is one vchannel of a replica: its leader searches what grows itself, and sends requests to the workers of the sealed segments.
type Shard struct {
	Leader   int // index into Cluster.Nodes
	Segments []Segment
}

// Segment costs every request on its collection some CPU time on its node.
type Segment struct {
	Node int // index into Cluster.Nodes
	// Cost of one vector: Mean, and SD of its spread from query to query (drawn log-normal). Of the second and further vectors of a merged
	// request Batch times as much (FLAT shares memory traffic); 0 is 1.
	Mean, SD time.Duration
	Batch    float64
	// Growing ones are a task of their own, beside that of the sealed ones of the same node.
	Growing bool
}

// Load is what is asked of a cluster.
type Load struct {
	Rate     float64       // requests per second, Poisson; or
	Sessions int           // each asks when it has its answer, and a millisecond after it was refused
	Think    time.Duration // between
	NQ, K    int
	Duration time.Duration // simulated, after Warmup
	Warmup   time.Duration
	Seed     uint64
	// Requests bounds how many are simulated; Outcome.Simulated tells how long that was. 0 is no bound.
	Requests int64
	// BySegment draws the cost of each segment, where else a task's segments are one draw with the same moments: many times slower,
	// to see what that changes.
	BySegment bool
}

// Outcome is what happened. Intervals are by batch means, 95%; from 0 to 0 they are not known: the simulation ended early, or some stretches of
// time had no answer.
type Outcome struct {
	QPS, QPSLow, QPSHigh                         float64 // vectors per second
	Mean, Min, Max, P50, P90, P95, P99, P999, SD time.Duration
	MeanLow, MeanHigh, P99Low, P99High           time.Duration
	Requests, Refused                            int64 // answered, and not; latencies are of the former
	Nodes                                        []NodeOutcome
	ProxyUse                                     float64
	// Bound is what is the limit: "node querynode-3's cores", "scheduler of ...", "sessions", "the rate".
	Bound     string
	Simulated time.Duration // simulated time that counts
	Took      time.Duration // of the simulation itself
	Saturated bool          // an open load that is more than the cluster can do: latencies grow with Duration
}

// NodeOutcome is one node's part.
type NodeOutcome struct {
	ID       int64
	Name     string
	Use      float64       // of its cores, 0 to 1
	Running  float64       // tasks at once, on average
	Waiting  float64       // in the queue, on average
	Wait     time.Duration // in the queue, mean
	Tasks    int64
	Grouped  int64 // tasks that ran with another one
	Segments int
}
