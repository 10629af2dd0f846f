package model

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// WAL is what a streaming node says on /metrics of the write-ahead log of one pchannel (Milvus 2.6 and later: pkg/metrics,
// streaming_service_metrics.go; each series has node_id and channel_name). It was never seen from a live server.
//
// A number that is not told is NaN, a time zero.
type WAL struct {
	Node     NodeID
	PChannel string
	// Process is whose scrape it is of, nil where a scrape alone was read.
	Process *Process
	// Open is that the node takes writes of it, in a term, into a queue: milvus_wal_info (metricsutil, NewWriteMetrics; its Close deletes it).
	Open  bool
	Term  int64
	Queue string
	// Recovery is the state of its recovery storage: "persist-recovering", "stream-recovering", "working" (recovery,
	// recoveryStorageStateWorking). Flusher is that of its flusher: "in_recovery", "working", "closing" (flusherImpl, flusherState).
	Recovery, Flusher string
	// Time ticks: the newest that was given out, up to which all is in the log, that the flusher has consumed, that recovery has seen
	// and that it has in its checkpoint in etcd.
	Allocated, Confirmed, Flushed, Recovered, Persisted time.Time
	// Growing and GrowingRows are of its growing segments of L0 and L1, in bytes and in rows.
	Growing, GrowingRows float64
	// Buffer is the write-ahead buffer, that readers at the end of the log are served from, in bytes.
	Buffer, BufferCapacity float64
	BufferFrom, BufferTo   time.Time
	// InflightTxns are transactions that are not ended.
	InflightTxns float64
	// Throttles are what limits the rate of its writes now (3.0 and later); none where all is normal.
	Throttles []Throttle
}

// Throttle is a rate limit on the writes of a log: pkg/streaming/util/ratelimit, AdaptiveRateLimitController.
type Throttle struct {
	// Source is who asks for it, Mode "slowdown", "recovery" (still slowed down, on its way back) or "reject".
	Source, Mode string
	// Rate is what it lets through, in bytes a second.
	Rate float64
}

// StreamingNode is what one streaming node says of itself as a whole; a number that is not told is NaN.
type StreamingNode struct {
	Node    NodeID
	Process *Process
	WALs    []*WAL // by pchannel
	// Growing are the bytes of all its growing segments. Above HighWater they are flushed until they are below LowWater: 0.2 and 0.1 of its memory
	// (streaming.flush.growingSegmentBytesHwmThreshold). The two are told after the first minute (stats, sealWorker).
	Growing, HighWater, LowWater float64
}

// Broadcasts counts tasks of StreamingCoord that write one message into several channels, of which all have to acknowledge it.
type Broadcasts struct {
	Message, State string // "CreateCollection", "WaitAck"
	Tasks          int64
}

// StreamingMetrics is what all scrapes tell of streaming.
type StreamingMetrics struct {
	Nodes []*StreamingNode // by id
	// Broadcasts are StreamingCoord's, of its process Coordinator; nil: none, or not told.
	Broadcasts  []Broadcasts
	Coordinator *Process
	byPChannel  map[string][]*WAL
}

// The metrics of streaming that are read here.
const (
	walInfo          = "milvus_wal_info"
	walRecoveryInfo  = "milvus_wal_recovery_info"
	walFlusherInfo   = "milvus_wal_flusher_info"
	walThrottle      = "milvus_wal_rate_limit_controller_state"
	walHighWater     = "milvus_wal_growing_segment_hwm_bytes"
	walLowWater      = "milvus_wal_growing_segment_lwm_bytes"
	walPressure      = "milvus_wal_growing_segment_flush_pressure_bytes" // 3.0: what is held against the watermarks
	broadcasterTasks = "milvus_streamingcoord_broadcaster_task_total"    // broadcaster, broadcasterMetrics
)

// walGauges are the numbers of one log.
var walGauges = map[string]func(*WAL) *float64{
	"milvus_wal_growing_segment_bytes":             func(w *WAL) *float64 { return &w.Growing },
	"milvus_wal_growing_segment_rows_total":        func(w *WAL) *float64 { return &w.GrowingRows },
	"milvus_wal_write_ahead_buffer_size_bytes":     func(w *WAL) *float64 { return &w.Buffer },
	"milvus_wal_write_ahead_buffer_capacity_bytes": func(w *WAL) *float64 { return &w.BufferCapacity },
	"milvus_wal_inflight_txn":                      func(w *WAL) *float64 { return &w.InflightTxns },
}

// walTimes are its time ticks, in Unix seconds (tsoutil.PhysicalTimeSeconds).
var walTimes = map[string]func(*WAL) *time.Time{
	"milvus_wal_last_allocated_time_tick":              func(w *WAL) *time.Time { return &w.Allocated },
	"milvus_wal_last_confirmed_time_tick":              func(w *WAL) *time.Time { return &w.Confirmed },
	"milvus_wal_flusher_time_tick":                     func(w *WAL) *time.Time { return &w.Flushed },
	"milvus_wal_recovery_in_mem_time_tick":             func(w *WAL) *time.Time { return &w.Recovered },
	"milvus_wal_recovery_persisted_time_tick":          func(w *WAL) *time.Time { return &w.Persisted },
	"milvus_wal_write_ahead_buffer_earliest_time_tick": func(w *WAL) *time.Time { return &w.BufferFrom },
	"milvus_wal_write_ahead_buffer_latest_time_tick":   func(w *WAL) *time.Time { return &w.BufferTo },
}

// Streaming is what all scrapes tell of streaming nodes and logs, never nil.
func (r *Runtime) Streaming() *StreamingMetrics {
	switch {
	case r == nil:
		return &StreamingMetrics{}
	case r.streaming == nil: // not built
		return r.readStreaming()
	}
	return r.streaming()
}

// WALs are what streaming nodes say of the log of a pchannel, by node: one, as a rule.
func (s *StreamingMetrics) WALs(pchannel string) []*WAL { return s.byPChannel[pchannel] }

// Node is a streaming node, nil if its metrics are not known.
func (s *StreamingMetrics) Node(id NodeID) *StreamingNode {
	i, ok := slices.BinarySearchFunc(s.Nodes, id, func(n *StreamingNode, id NodeID) int { return cmp.Compare(n.Node, id) })
	if !ok {
		return nil
	}
	return s.Nodes[i]
}

func (r *Runtime) readStreaming() *StreamingMetrics {
	all := &StreamingMetrics{byPChannel: map[string][]*WAL{}}
	for _, p := range r.Processes {
		for _, n := range p.Metrics.StreamingNodes() {
			n.Process = p
			for _, w := range n.WALs {
				w.Process = p
			}
			all.Nodes = append(all.Nodes, n)
		}
		if tasks := p.Metrics.Broadcasts(); p.Metrics != nil && p.Metrics.Families[broadcasterTasks] != nil {
			all.Broadcasts, all.Coordinator = append(all.Broadcasts, tasks...), p
		}
	}
	slices.SortStableFunc(all.Nodes, func(a, b *StreamingNode) int { return cmp.Compare(a.Node, b.Node) })
	for _, n := range all.Nodes {
		for _, w := range n.WALs {
			all.byPChannel[w.PChannel] = append(all.byPChannel[w.PChannel], w)
		}
	}
	return all
}

// Whole reports whether the node's metrics were read whole: what they do not tell, is not.
func (n *StreamingNode) Whole() bool {
	return n != nil && n.Process != nil && n.Process.Metrics != nil && !n.Process.Metrics.Partial
}

// StreamingNodes are the streaming nodes that a scrape tells of: one, or none.
func (m *Metrics) StreamingNodes() []*StreamingNode {
	r := walReader{nodes: map[NodeID]*StreamingNode{}, logs: map[walKey]*WAL{}}
	for _, s := range m.Samples(walHighWater) {
		r.node(&s).HighWater = positive(s.Value)
	}
	for _, s := range m.Samples(walLowWater) {
		r.node(&s).LowWater = positive(s.Value)
	}
	r.infos(m)
	for family, field := range walGauges {
		for _, s := range m.Samples(family) {
			if f := field(r.log(&s)); s.Value >= 0 { // of growing segments there is one of each level
				*f = s.Value + told(*f)
			}
		}
	}
	for family, field := range walTimes {
		for _, s := range m.Samples(family) {
			*field(r.log(&s)) = tickTime(s.Value)
		}
	}
	return r.finish(m)
}

// Broadcasts are the tasks of StreamingCoord that are not done.
func (m *Metrics) Broadcasts() (list []Broadcasts) {
	for _, s := range m.Samples(broadcasterTasks) {
		if s.Value >= 1 && s.Value < math.MaxInt32 {
			list = append(list, Broadcasts{s.Label("message_type"), EnumWord(s.Label("state"), "BROADCAST_TASK_STATE_"), int64(s.Value)})
		}
	}
	slices.SortFunc(list, func(a, b Broadcasts) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.State, b.State))
	})
	return list
}

type walKey struct {
	node     NodeID
	pchannel string
}

// walReader collects the series of a scrape by node and log.
type walReader struct {
	nodes map[NodeID]*StreamingNode
	logs  map[walKey]*WAL
}

// node is the node that a series is of, one that is thrown away if it says none.
func (r *walReader) node(s *Series) *StreamingNode {
	id, err := strconv.ParseInt(s.Label("node_id"), 10, 64)
	n := r.nodes[NodeID(id)]
	if n == nil {
		n = &StreamingNode{Node: NodeID(id), Growing: math.NaN(), HighWater: math.NaN(), LowWater: math.NaN()}
		if err == nil {
			r.nodes[n.Node] = n
		}
	}
	return n
}

// log is the log that a series is of.
func (r *walReader) log(s *Series) *WAL {
	n := r.node(s)
	key := walKey{n.Node, s.Label("channel_name")}
	w := r.logs[key]
	if w == nil {
		no := math.NaN()
		w = &WAL{Node: n.Node, PChannel: key.pchannel, Growing: no, GrowingRows: no, Buffer: no, BufferCapacity: no, InflightTxns: no}
		if r.nodes[n.Node] == n && key.pchannel != "" {
			r.logs[key] = w
			n.WALs = append(n.WALs, w)
		}
	}
	return w
}

// infos reads what is told as a label.
func (r *walReader) infos(m *Metrics) {
	for _, s := range m.Samples(walInfo) {
		if term, err := strconv.ParseInt(s.Label("term"), 10, 64); err == nil && s.Value > 0 {
			if w := r.log(&s); !w.Open || term > w.Term { // that of a term before may linger
				w.Open, w.Term, w.Queue = true, term, s.Label("wal_name")
			}
		}
	}
	for _, s := range m.Samples(walRecoveryInfo) {
		if s.Value > 0 {
			r.log(&s).Recovery = s.Label("state")
		}
	}
	for _, s := range m.Samples(walFlusherInfo) {
		if s.Value > 0 {
			r.log(&s).Flusher = s.Label("state")
		}
	}
	for _, s := range m.Samples(walThrottle) {
		if mode := s.Label("state"); mode != "normal" && mode != "" {
			w := r.log(&s)
			w.Throttles = append(w.Throttles, Throttle{s.Label("source"), mode, s.Value})
		}
	}
}

// finish adds up what grows, and puts all in order.
func (r *walReader) finish(m *Metrics) (list []*StreamingNode) {
	for _, n := range r.nodes {
		slices.SortFunc(n.WALs, func(a, b *WAL) int { return cmp.Compare(a.PChannel, b.PChannel) })
		for _, w := range n.WALs {
			slices.SortFunc(w.Throttles, func(a, b Throttle) int { return cmp.Compare(a.Source, b.Source) })
			if !math.IsNaN(n.HighWater) && !m.Partial { // a series is deleted at 0 (stats, metricsHelper); in a scrape that was cut it may have come later
				w.Growing, w.GrowingRows = told(w.Growing), told(w.GrowingRows)
			}
			if !math.IsNaN(w.Growing) {
				n.Growing = told(n.Growing) + w.Growing
			}
		}
		switch pressure, ok := m.Sum(walPressure, Pair{"node_id", n.Node.String()}); {
		case ok:
			n.Growing = pressure
		case m.Partial: // what was read is a part of them
			n.Growing = math.NaN()
		case !math.IsNaN(n.HighWater):
			n.Growing = told(n.Growing)
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *StreamingNode) int { return cmp.Compare(a.Node, b.Node) })
	return list
}

// told is a number, 0 for one that is not told.
func told(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// positive is a number above 0, NaN for others: a gauge that was made and not set is 0.
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return math.NaN()
}

// tickTime is a time tick as a time, zero where none was set.
func tickTime(seconds float64) time.Time {
	const beyond = 253402300800 // the year 10000
	if !(seconds > 0 && seconds < beyond) {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
}
