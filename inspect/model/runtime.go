package model

import (
	"strings"
	"time"
)

// Runtime holds the responses of a cluster's processes. It is kept separate from the metadata. A value that was
// not reported is unknown: its pointer is nil, and a Call has the reason. BuildRuntime creates a Runtime, which
// is immutable.
type Runtime struct {
	RuntimeParts

	nodes               map[sessionKey]*LiveNode
	queryNodes          []*LiveNode
	withoutDistribution []*LiveNode // query nodes without a Distribution
	served              map[SegmentID][]Served
	multiServed         []SegmentID // sealed on more than one node
	leaders             map[string][]ShardView
	recovery            map[string]*Recovery
	loaded              map[CollectionID]*LoadedCollection
	inTarget            map[SegmentID]uint8
	grouped             func() *collectionGroups
	streaming           func() *StreamingMetrics
}

// RuntimeParts holds the decoded responses passed to BuildRuntime, in any order.
type RuntimeParts struct {
	// Kind is "live", "recording" or "bundle". Location is the file, "" if live.
	Kind, Location string
	// From and To are the times of the first request and the last response, zero if a recording does not have
	// them.
	From, To time.Time
	// Nodes are the queried sessions, one for each role of each process.
	Nodes []*LiveNode
	// Processes hold /metrics and similar data, once per process even if it has several roles.
	Processes []*Process
	// Replicas are QueryCoord's replicas with their shard leaders; nil: unknown.
	Replicas []*LiveReplica
	// ShardLeaders are the shard leaders according to QueryCoord, one entry per vchannel; nil: unknown.
	ShardLeaders []ShardLeader
	// Loaded are the collections that QueryCoord has loaded; nil: unknown.
	Loaded []*LoadedCollection
	// Groups are QueryCoord's resource groups; nil: unknown.
	Groups []*LiveResourceGroup
	// BalanceActive reports whether QueryCoord's automatic balancing is active (2.5 and later); nil: unknown.
	BalanceActive *bool
	// Collector is the state of DataCoord's garbage collector, if MixCoord reports it (2.6 and later); nil:
	// unknown.
	Collector *GarbageCollector
	// Checkers are QueryCoord's periodic tasks (2.5 and later), by id; nil: unknown.
	Checkers []Checker
	// QueryNodeStates are the states of query nodes in QueryCoord (2.5 and later), by id; nil: unknown.
	QueryNodeStates []NodeState
	// StreamingNodeStates are the states of streaming nodes in MixCoord (later 2.6 and 3.0), by id; nil:
	// unknown.
	StreamingNodeStates []NodeState
	// StreamingBalance reports whether MixCoord balances channels between streaming nodes (later 2.6 and 3.0);
	// nil: unknown.
	StreamingBalance *bool
	// Recovery is DataCoord's reference for the segments to serve, per vchannel; nil: unknown.
	Recovery []*Recovery
	// DataSegments are the segments in DataCoord's memory, if requested; nil: unknown.
	DataSegments []DataSegment
	// Tasks are the tasks in the memory of coordinators and data nodes (2.5 and later), including recently
	// ended ones; nil: unknown. Each has a Report.
	Tasks []*Task
	// Targets are QueryCoord's current targets (2.5 and later), if requested; nil: unknown.
	Targets []CurrentTarget
	// StoredBytes is the size of each collection's binlogs in storage, as DataCoord counts it for its quota
	// (2.2 and later); nil: unknown.
	StoredBytes map[CollectionID]int64
	// Queue is the state of the message queue, nil if it was not queried.
	Queue *Queue
	// Logged are requests from access logs named by the user. No process reports them.
	Logged []SlowRequest
	// Skipped lists the sources that were not queried, e.g. "message queue: RocksMQ is inside the process".
	Skipped []Skipped
	// ClusterKey is the cluster prefix of channel names that was sent with requests, "" if unknown.
	ClusterKey string
}

// Skipped is a source that was not queried, with the reason.
type Skipped struct{ What, Reason string }

type sessionKey struct {
	role string
	node NodeID
}

// Outcome is the result of a request to a process.
type Outcome uint8

// The outcomes. Each is a different problem with a different fix.
const (
	// NotAsked is the zero value: no request was sent, or the outcome is unknown.
	NotAsked Outcome = iota
	// Answered means that the process returned a valid response.
	Answered
	// Unreachable means that there is no route, no such host, or no connection within the deadline.
	Unreachable
	// Refused means that the host is up, but no process listens on the port.
	Refused
	// TimedOut means that a connection was established, but there was no response within the deadline.
	TimedOut
	// Unimplemented means that this release does not have the call.
	Unimplemented
	// Stale means that another process now has the session's address (code 904, node id mismatch).
	Stale
	// OtherCluster means that the address belongs to a process of another cluster.
	OtherCluster
	// Denied means that credentials or a certificate are missing or wrong.
	Denied
	// NotReady means that the process reports that it is not healthy: starting, stopping, standby.
	NotReady
	// Garbled means that the response could not be decoded as a response to this request.
	Garbled
	// TooLarge means that the response exceeds the limit.
	TooLarge
	// CutOff means that the connection was closed before the response was complete.
	CutOff
	// Failed means that the process returned an error of its own.
	Failed
)

var outcomeNames = [...]string{
	"not asked", "answered", "unreachable", "refused", "timed out", "unimplemented", "stale", "other cluster", "denied",
	"not ready", "garbled", "too large", "cut off", "failed",
}

func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "outcome " + NodeID(o).String()
}

// With returns the outcome followed by a reason, if there is one.
func (o Outcome) With(reason string) string {
	if reason == "" {
		return o.String()
	}
	return o.String() + ": " + reason
}

// OutcomeOf returns the Outcome for a result of String. ok is false for other words.
func OutcomeOf(word string) (Outcome, bool) {
	for i, name := range outcomeNames {
		if name == word {
			return Outcome(i), true
		}
	}
	return 0, false
}

// Call is one request to one session of a process.
type Call struct {
	Role    string
	Node    NodeID
	Address string
	// Method is the last part of the gRPC method, e.g. "GetDataDistribution", or "GET /metrics".
	Method string
	// About distinguishes several calls of one method, e.g. by collection id or resource group; else "".
	About   string
	Outcome Outcome
	// Reason is the error message of the process or the network, "" if Answered.
	Reason string
	Took   time.Duration
}

// OfTasks reports whether the call requests tasks in memory. Not all releases support all of these calls, and
// no other data depends on them.
func (c *Call) OfTasks() bool { return c.Method == "GetMetrics" && strings.Contains(c.About, "tasks") }

// OfTarget reports whether the call requests QueryCoord's current targets. Not all releases support it, and no
// other data depends on it.
func (c *Call) OfTarget() bool { return c.Method == "GetMetrics" && c.About == "qc_target" }

// OfConfigs reports whether the call requests configuration that MixCoord does not report otherwise.
func (c *Call) OfConfigs() bool {
	return strings.HasPrefix(c.Method, "GET ") &&
		(strings.HasSuffix(c.Method, "/_cluster/configs") || strings.HasSuffix(c.Method, "/config/get"))
}

// LiveNode is one session that was queried.
type LiveNode struct {
	Role    string
	Node    NodeID
	Address string
	// Outcome is the combined outcome of the calls. It is Answered if any call was answered and none reached
	// another process. Otherwise it is the reason why the session's data are unknown.
	Outcome Outcome
	Reason  string
	// State is the state that the process reports (commonpb.StateCode): Healthy, Initializing, Abnormal,
	// StandBy, Stopping; "" unknown.
	State string
	// Distribution holds the segments and channels that a query node serves; nil: unknown, or not a query node.
	Distribution *Distribution
	System       *System
	// Config is the effective configuration; nil: unknown.
	Config *Config
	// Process is the session's process; nil if unknown.
	Process *Process
	Calls   []Call
	// ProbeRound holds response times, from one session for all that share a connection; nil: not probed. EarlierRounds
	// holds earlier ones, the oldest first, if the cluster is polled.
	ProbeRound    *ProbeRound
	EarlierRounds []*ProbeRound
}

// Unresponsive reports whether processes were queried and none of them responded.
func (r *Runtime) Unresponsive() bool {
	if r == nil {
		return false
	}
	silent := false
	for _, n := range r.Nodes {
		switch n.Outcome {
		case Answered, Stale, OtherCluster:
			return false
		case NotAsked, Unimplemented:
		default:
			silent = true
		}
	}
	return silent
}

// System is a process's response to GetMetrics system_info.
type System struct {
	Name      string
	CPUs      int64
	CPUUsage  float64 // percent of the machine (or container), as reported by the process
	Memory    int64   // available to the process, in bytes
	MemoryUse int64
	Disk      int64
	DiskUse   int64
	Version   string // build_version
	BuildTime string
	GoVersion string
	Mode      string // DISTRIBUTED, STANDALONE
	StartedAt time.Time
	// Quota has the rates and queues that only some roles report; nil otherwise.
	Quota *QuotaMetrics
	// Jemalloc holds the allocator statistics of the C++ code (late 2.6 and 3.0); nil: not reported.
	Jemalloc *Jemalloc
}

// Jemalloc holds byte counts of jemalloc (stats.* in jemalloc's manual).
type Jemalloc struct {
	Allocated int64 // by the program
	Active    int64 // in pages with allocated memory
	Metadata  int64 // of jemalloc itself
	Resident  int64 // in pages of physical memory
	Mapped    int64 // in mapped extents
	Retained  int64 // of virtual memory not returned to the system
}

// QuotaMetrics are the metrics that Milvus bases rate limits on.
type QuotaMetrics struct {
	Rates       map[string]float64 // Milvus's average per second: NQPerSecond, InsertConsumeThroughput, DQLSearch, ...
	SearchQueue *ReadQueue
	QueryQueue  *ReadQueue
	// GrowingBytes is the memory of growing segments on a query node.
	GrowingBytes int64
	// SlowestChannel is the channel that lags most. It is consumed up to SlowestAt.
	SlowestChannel string
	SlowestAt      TSO
	FlowGraphs     int64
	Collections    []CollectionID
}

// ReadQueue is the read scheduler's queue.
type ReadQueue struct {
	Unsolved, Ready, Receive, Execute int64
	AvgWait                           time.Duration
}

// Process is one operating system process that was queried over HTTP.
type Process struct {
	// Address is the host and port of its HTTP server (metrics, health, pprof). It is "" if the metrics are
	// from a file and the address is unknown.
	Address string
	// Nodes are the sessions of the process: role and id.
	Nodes   []Ref
	Outcome Outcome
	Reason  string
	// Healthz is the response of /healthz in one line; "" unknown.
	Healthz string
	// LogLevel is the log level: debug, info, warn, ...; "" unknown.
	LogLevel string
	// Metrics is the newest scrape and Before the previous one, for rates; nil: unknown.
	Metrics, Before *Metrics
	// Earlier has the StorageCounters of a scrape of up to two minutes ago, if the cluster is polled. It
	// catches operations that run every few seconds and miss the period between two rounds. nil: no earlier
	// scrape of this process.
	Earlier *Metrics
	// SlowRequests are the requests in a proxy's slow query list (2.5 and later); nil: unknown, or not a proxy.
	SlowRequests []SlowRequest
	// ClientRequests are measurements by clients (3.0 and later), which one proxy reports for all; nil:
	// unknown, or another process.
	ClientRequests []SlowRequest
	// Config is the full configuration of a proxy's process, including keys of coordinators, as of its start or
	// current (2.6 and later); nil: unknown. ConfigOf is the proxy, e.g. "proxy-4".
	Config   *Config
	ConfigOf string
	// Connections are the clients of a proxy. Dependencies is the health of etcd and the message queue
	// according to a proxy; only one proxy is queried for it (2.5 and later). nil: unknown, or not a proxy.
	Connections  []Connection
	Dependencies []Dependency
	Calls        []Call
}
