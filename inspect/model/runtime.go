package model

import (
	"strings"
	"time"
)

// Runtime is what the processes of a cluster said when they were asked: an overlay
// on the metadata, never mixed into it. What a process did not say is unknown: a nil
// pointer, and a Call that says why. Build one with BuildRuntime; it is immutable.
type Runtime struct {
	RuntimeParts

	nodes      map[sessionKey]*LiveNode
	queryNodes []*LiveNode
	blind      []*LiveNode // of them, those that did not say what they serve
	served     map[SegmentID][]Served
	several    []SegmentID // sealed on more than one node
	leaders    map[string][]ShardView
	recovery   map[string]*Recovery
	loaded     map[CollectionID]*LoadedCollection
	wanted     map[SegmentID]uint8
	grouped    func() *byCollection
	streaming  func() *StreamingMetrics
}

// RuntimeParts is what a decoder hands to BuildRuntime, in any order.
type RuntimeParts struct {
	// Kind is "live", "recording" or "bundle"; Location is the file it comes from, "" if live.
	Kind, Location string
	// From and To are when the first question was asked and the last answer came; zero if a recording does not say.
	From, To time.Time
	// Nodes are the sessions that were asked, each role of each process.
	Nodes []*LiveNode
	// Processes are what /metrics and the like say, once per process, however many roles it has.
	Processes []*Process
	// Replicas are QueryCoord's, with shard leaders; nil: unknown.
	Replicas []*LiveReplica
	// ShardLeaders are QueryCoord's answers to "who leads", one per vchannel; nil: unknown.
	ShardLeaders []ShardLeader
	// Loaded are the collections that QueryCoord holds loaded; nil: unknown.
	Loaded []*LoadedCollection
	// Groups are QueryCoord's resource groups; nil: unknown.
	Groups []*LiveResourceGroup
	// BalanceActive is QueryCoord's word on whether automatic balancing runs (2.5 and later); nil: unknown.
	BalanceActive *bool
	// Collector is DataCoord's garbage collector, where MixCoord tells of it (2.6 and later); nil: unknown.
	Collector *GarbageCollector
	// Checkers are QueryCoord's periodic tasks (2.5 and later), by id; nil: unknown.
	Checkers []Checker
	// QueryNodeStates are the query nodes as QueryCoord has them (2.5 and later), by id; nil: unknown.
	QueryNodeStates []NodeState
	// StreamingNodeStates are the streaming nodes as MixCoord has them (later 2.6 and 3.0), by id; nil: unknown.
	StreamingNodeStates []NodeState
	// StreamingBalance is whether MixCoord moves channels between streaming nodes (later 2.6 and 3.0); nil: unknown.
	StreamingBalance *bool
	// Recovery is what DataCoord says should be served, per vchannel; nil: unknown.
	Recovery []*Recovery
	// DataSegments are DataCoord's segments as it holds them in memory, where it was asked; nil: unknown.
	DataSegments []DataSegment
	// Tasks are those that coordinators and data nodes have in memory (2.5 and later), also ones that ended of late; nil:
	// unknown. Each has Told.
	Tasks []*Task
	// Targets are QueryCoord's current ones (2.5 and later), where it was asked; nil: unknown.
	Targets []CurrentTarget
	// StoredBytes is what the binlogs of each collection take in storage, as DataCoord counts it for its quota (2.2 and later);
	// nil: unknown.
	StoredBytes map[CollectionID]int64
	// Queue is the message queue's own account, nil if it was not asked.
	Queue *Queue
	// Logged are requests of access logs, which somebody named: no process tells them.
	Logged []SlowRequest
	// Skipped says what was not asked, and why: "message queue: RocksMQ is inside the process".
	Skipped []Skipped
	// Cluster prefix of channel names that was sent along; "" if unknown.
	ClusterKey string
}

// Skipped is a source of facts that was left out, and why.
type Skipped struct{ What, Reason string }

type sessionKey struct {
	role string
	node NodeID
}

// Outcome is how a question to a process ended.
type Outcome uint8

// The outcomes. They are different troubles with different remedies.
const (
	// NotAsked is the zero value: unknown.
	NotAsked Outcome = iota
	// Answered: the process answered, and its answer was understood.
	Answered
	// Unreachable: no route, no such host, no connection within the deadline.
	Unreachable
	// Refused: the host answers and nothing listens on the port.
	Refused
	// TimedOut: connected, and no answer within the deadline.
	TimedOut
	// Unimplemented: this version does not know the call.
	Unimplemented
	// Stale: another process answers at the address of the session (code 904, node id mismatch).
	Stale
	// OtherCluster: a process of another cluster answers at the address.
	OtherCluster
	// Denied: credentials or a certificate are missing or wrong.
	Denied
	// NotReady: the process answers that it is not healthy: starting, stopping, standby.
	NotReady
	// Garbled: the answer is no answer to this question.
	Garbled
	// TooLarge: the answer is larger than the limit.
	TooLarge
	// CutOff: the connection was closed before the answer was complete.
	CutOff
	// Failed: the process answered with an error of its own.
	Failed
)

var outcomeNames = [...]string{
	"not asked", "answered", "unreachable", "refused", "timed out", "unimplemented", "stale", "other cluster", "denied", "not ready", "garbled", "too large", "cut off", "failed",
}

func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "outcome " + NodeID(o).String()
}

// With is an outcome with what was said of it, "" for nothing.
func (o Outcome) With(reason string) string {
	if reason == "" {
		return o.String()
	}
	return o.String() + ": " + reason
}

// OutcomeOf is the Outcome of a word of its String; ok is false for others.
func OutcomeOf(word string) (Outcome, bool) {
	for i, name := range outcomeNames {
		if name == word {
			return Outcome(i), true
		}
	}
	return 0, false
}

// Call is one question to one session of a process.
type Call struct {
	Role    string
	Node    NodeID
	Address string
	// Method is the last part of the gRPC method, "GetDataDistribution", or "GET /metrics".
	Method string
	// About tells several calls of one method apart: a collection's id, a resource group; else "".
	About   string
	Outcome Outcome
	// Reason is the process's or the network's own word for it, "" if answered.
	Reason string
	Took   time.Duration
}

// OfTasks reports whether a question is one for tasks in memory. Releases do not know all of these, and nothing else depends
// on their answers.
func (c *Call) OfTasks() bool { return c.Method == "GetMetrics" && strings.Contains(c.About, "tasks") }

// OfTarget reports whether a question is one for QueryCoord's current targets, of which the same holds.
func (c *Call) OfTarget() bool { return c.Method == "GetMetrics" && c.About == "qc_target" }

// OfConfigs reports whether a question is one for the configuration that MixCoord does not report.
func (c *Call) OfConfigs() bool {
	return strings.HasPrefix(c.Method, "GET ") && (strings.HasSuffix(c.Method, "/_cluster/configs") || strings.HasSuffix(c.Method, "/config/get"))
}

// LiveNode is one session that was asked.
type LiveNode struct {
	Role    string
	Node    NodeID
	Address string
	// Outcome is the worst that matters: Answered if any call was answered and none
	// says that this is another process; else why nothing is known.
	Outcome Outcome
	Reason  string
	// State is the process's own word (commonpb.StateCode): Healthy, Initializing, Abnormal, StandBy, Stopping; "" unknown.
	State string
	// Distribution is what a query node serves; nil: unknown, or not a query node.
	Distribution *Distribution
	System       *System
	// Config is the effective configuration; nil: unknown.
	Config *Config
	// Process is the process that the session belongs to; nil if that is unknown.
	Process *Process
	Calls   []Call
	// Pace is how fast it answers, one session's for all that share a connection; nil: it was not asked several times. Past
	// is what that was before, the oldest first, where the cluster is asked again and again.
	Pace *Pace
	Past []*Pace
}

// Silent reports whether processes were asked and none of them answered.
func (r *Runtime) Silent() bool {
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

// System is a process's answer to GetMetrics system_info.
type System struct {
	Name      string
	CPUs      int64
	CPUUsage  float64 // percent of the machine (or container), as the process sees it
	Memory    int64   // bytes that it may use
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
	// Jemalloc is what the allocator of the C++ code counts (late 2.6 and 3.0); nil: not reported.
	Jemalloc *Jemalloc
}

// Jemalloc are bytes as jemalloc counts them (jemalloc's manual: stats.*).
type Jemalloc struct {
	Allocated int64 // by the program
	Active    int64 // in pages that hold any of it
	Metadata  int64 // of jemalloc itself
	Resident  int64 // in pages of physical memory
	Mapped    int64 // in extents that are mapped
	Retained  int64 // of virtual memory that was not given back to the system
}

// QuotaMetrics are the figures that Milvus limits rates by.
type QuotaMetrics struct {
	Rates       map[string]float64 // NQPerSecond, InsertConsumeThroughput, DQLSearch, ...: per second, as Milvus averages them
	SearchQueue *ReadQueue
	QueryQueue  *ReadQueue
	// GrowingBytes is the memory of growing segments on a query node.
	GrowingBytes int64
	// SlowestChannel has consumed least, up to SlowestAt.
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

// Process is one operating system process, asked over HTTP.
type Process struct {
	// Address is the host and port of its HTTP server: metrics, health, pprof; "" if its
	// metrics are from a file and nothing tells where it is.
	Address string
	// Nodes are the sessions of the process: role and id.
	Nodes   []Ref
	Outcome Outcome
	Reason  string
	// Healthz is the answer of /healthz, in one line; "" unknown.
	Healthz string
	// LogLevel is what it logs at: debug, info, warn, ...; "" unknown.
	LogLevel string
	// Metrics is the newest scrape, Before the one before it, for rates; nil: unknown.
	Metrics, Before *Metrics
	// Earlier has the StorageCounters of a scrape of up to two minutes ago, where the cluster is asked again and again: what is
	// tried every few seconds falls between two rounds. nil: the same process was not asked before.
	Earlier *Metrics
	// SlowRequests are those that a proxy remembers (2.5 and later); nil: unknown, or no proxy.
	SlowRequests []SlowRequest
	// ClientRequests are what clients measured (3.0 and later), told by one proxy for all; nil: unknown, or another process.
	ClientRequests []SlowRequest
	// Config is the whole configuration of a proxy's process, coordinators' keys included, as it was when the proxy started or is
	// now (2.6 and later); nil: unknown. ConfigOf is the proxy, "proxy-4".
	Config   *Config
	ConfigOf string
	// Connections are the clients of a proxy, Dependencies what it found of etcd and the message queue, of one proxy alone (2.5 and
	// later); nil: unknown, or no proxy.
	Connections  []Connection
	Dependencies []Dependency
	Calls        []Call
}
