package model

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// WAL holds a streaming node's metrics of the write-ahead log of one pchannel (Milvus 2.6 and later:
// pkg/metrics, streaming_service_metrics.go; each series has node_id and channel_name). It was never observed
// on a live server.
//
// Numbers that are not exported are NaN, and times zero.
type WAL struct {
	Node     NodeID
	PChannel string
	// Process is the scraped process, nil for a scrape on its own.
	Process *Process
	// Open is true if the node accepts writes in a term, to a queue: milvus_wal_info (metricsutil,
	// NewWriteMetrics; Close deletes the metric).
	Open  bool
	Term  int64
	Queue string
	// Recovery is the state of the recovery storage: "persist-recovering", "stream-recovering", "working"
	// (recovery, recoveryStorageStateWorking). Flusher is the state of the flusher: "in_recovery", "working",
	// "closing" (flusherImpl, flusherState).
	Recovery, Flusher string
	// Time ticks. Allocated is the newest one. The log is complete up to Confirmed. Flushed is consumed by the
	// flusher, Recovered by the recovery storage. Persisted is in the checkpoint in etcd.
	Allocated, Confirmed, Flushed, Recovered, Persisted time.Time
	// Growing and GrowingRows are the bytes and rows of growing segments in L0 and L1.
	Growing, GrowingRows float64
	// Buffer is the size in bytes of the write-ahead buffer, which serves readers at the end of the log.
	Buffer, BufferCapacity float64
	BufferFrom, BufferTo   time.Time
	// InflightTxns is the number of open transactions.
	InflightTxns float64
	// Throttles are the current rate limits of writes (3.0 and later), empty in the normal state.
	Throttles []Throttle
}

// Throttle is a rate limit of a log's writes: pkg/streaming/util/ratelimit, AdaptiveRateLimitController.
type Throttle struct {
	// Source requests the limit. Mode is "slowdown", "recovery" (still limited, but recovering) or "reject".
	Source, Mode string
	// Rate is the limit in bytes per second.
	Rate float64
}

// StreamingNode holds the metrics of a streaming node as a whole. Numbers that are not exported are NaN.
type StreamingNode struct {
	Node    NodeID
	Process *Process
	WALs    []*WAL // by pchannel
	// Growing is the bytes of all its growing segments. Above HighWater they are flushed until they are below
	// LowWater: 0.2 and 0.1 of its memory (streaming.flush.growingSegmentBytesHwmThreshold). The two are
	// exported after the first minute (stats, sealWorker).
	Growing, HighWater, LowWater float64
}

// Broadcasts counts tasks of StreamingCoord that write a message to several channels, all of which must
// acknowledge it.
type Broadcasts struct {
	Message, State string // "CreateCollection", "WaitAck"
	Tasks          int64
}

// StreamingMetrics holds the streaming metrics of all scrapes.
type StreamingMetrics struct {
	Nodes []*StreamingNode // by id
	// Broadcasts are the tasks of StreamingCoord, whose process is Coordinator; nil: none, or not exported.
	Broadcasts  []Broadcasts
	Coordinator *Process
	byPChannel  map[string][]*WAL
}

// Names of the streaming metrics.
const (
	walInfo          = "milvus_wal_info"
	walRecoveryInfo  = "milvus_wal_recovery_info"
	walFlusherInfo   = "milvus_wal_flusher_info"
	walThrottle      = "milvus_wal_rate_limit_controller_state"
	walHighWater     = "milvus_wal_growing_segment_hwm_bytes"
	walLowWater      = "milvus_wal_growing_segment_lwm_bytes"
	walPressure      = "milvus_wal_growing_segment_flush_pressure_bytes" // 3.0: compared with the watermarks
	broadcasterTasks = "milvus_streamingcoord_broadcaster_task_total"    // broadcaster, broadcasterMetrics
)

// walGauges maps the gauges of a log to fields of WAL.
var walGauges = map[string]func(*WAL) *float64{
	"milvus_wal_growing_segment_bytes":             func(w *WAL) *float64 { return &w.Growing },
	"milvus_wal_growing_segment_rows_total":        func(w *WAL) *float64 { return &w.GrowingRows },
	"milvus_wal_write_ahead_buffer_size_bytes":     func(w *WAL) *float64 { return &w.Buffer },
	"milvus_wal_write_ahead_buffer_capacity_bytes": func(w *WAL) *float64 { return &w.BufferCapacity },
	"milvus_wal_inflight_txn":                      func(w *WAL) *float64 { return &w.InflightTxns },
}

// walTimes maps the time ticks of a log, in Unix seconds (tsoutil.PhysicalTimeSeconds), to fields of WAL.
var walTimes = map[string]func(*WAL) *time.Time{
	"milvus_wal_last_allocated_time_tick":              func(w *WAL) *time.Time { return &w.Allocated },
	"milvus_wal_last_confirmed_time_tick":              func(w *WAL) *time.Time { return &w.Confirmed },
	"milvus_wal_flusher_time_tick":                     func(w *WAL) *time.Time { return &w.Flushed },
	"milvus_wal_recovery_in_mem_time_tick":             func(w *WAL) *time.Time { return &w.Recovered },
	"milvus_wal_recovery_persisted_time_tick":          func(w *WAL) *time.Time { return &w.Persisted },
	"milvus_wal_write_ahead_buffer_earliest_time_tick": func(w *WAL) *time.Time { return &w.BufferFrom },
	"milvus_wal_write_ahead_buffer_latest_time_tick":   func(w *WAL) *time.Time { return &w.BufferTo },
}

// Streaming returns the streaming metrics of all scrapes, never nil.
func (r *Runtime) Streaming() *StreamingMetrics {
	switch {
	case r == nil:
		return &StreamingMetrics{}
	case r.streaming == nil: // not built
		return r.readStreaming()
	}
	return r.streaming()
}

// WALs returns the metrics of a pchannel's log by node, usually from a single node.
func (s *StreamingMetrics) WALs(pchannel string) []*WAL { return s.byPChannel[pchannel] }

// Node returns a streaming node, nil if its metrics are unknown.
func (s *StreamingMetrics) Node(id NodeID) *StreamingNode {
	i, ok := slices.BinarySearchFunc(s.Nodes, id, func(n *StreamingNode, id NodeID) int {
		return cmp.Compare(n.Node, id)
	})
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

// Complete reports whether the scrape of the node is complete, so that missing series do not exist.
func (n *StreamingNode) Complete() bool {
	return n != nil && n.Process != nil && n.Process.Metrics != nil && !n.Process.Metrics.Partial
}

// StreamingNodes returns the streaming nodes in a scrape, usually one or none.
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
			if f := field(r.log(&s)); s.Value >= 0 { // levels are separate series
				*f = s.Value + orZero(*f)
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

// Broadcasts returns the pending tasks of StreamingCoord.
func (m *Metrics) Broadcasts() (list []Broadcasts) {
	for _, s := range m.Samples(broadcasterTasks) {
		if s.Value >= 1 && s.Value < math.MaxInt32 {
			list = append(list, Broadcasts{
				s.Label("message_type"), EnumWord(s.Label("state"), "BROADCAST_TASK_STATE_"), int64(s.Value),
			})
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

// node returns the node of a series. It returns an unlisted node if the node_id is invalid.
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

// log returns the log of a series. It returns an unlisted log if the node or the channel is missing.
func (r *walReader) log(s *Series) *WAL {
	n := r.node(s)
	key := walKey{n.Node, s.Label("channel_name")}
	w := r.logs[key]
	if w == nil {
		no := math.NaN()
		w = &WAL{
			Node: n.Node, PChannel: key.pchannel, Growing: no, GrowingRows: no, Buffer: no, BufferCapacity: no,
			InflightTxns: no,
		}
		if r.nodes[n.Node] == n && key.pchannel != "" {
			r.logs[key] = w
			n.WALs = append(n.WALs, w)
		}
	}
	return w
}

// infos reads metrics whose values are in labels.
func (r *walReader) infos(m *Metrics) {
	for _, s := range m.Samples(walInfo) {
		if term, err := strconv.ParseInt(s.Label("term"), 10, 64); err == nil && s.Value > 0 {
			if w := r.log(&s); !w.Open || term > w.Term { // an earlier term may remain
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

// finish computes the sums and sorts the lists.
func (r *walReader) finish(m *Metrics) (list []*StreamingNode) {
	for _, n := range r.nodes {
		slices.SortFunc(n.WALs, func(a, b *WAL) int { return cmp.Compare(a.PChannel, b.PChannel) })
		for _, w := range n.WALs {
			slices.SortFunc(w.Throttles, func(a, b Throttle) int { return cmp.Compare(a.Source, b.Source) })
			// A series is deleted at 0 (stats, metricsHelper). In a partial scrape it may be in the missing rest.
			if !math.IsNaN(n.HighWater) && !m.Partial {
				w.Growing, w.GrowingRows = orZero(w.Growing), orZero(w.GrowingRows)
			}
			if !math.IsNaN(w.Growing) {
				n.Growing = orZero(n.Growing) + w.Growing
			}
		}
		switch pressure, ok := m.Sum(walPressure, Pair{"node_id", n.Node.String()}); {
		case ok:
			n.Growing = pressure
		case m.Partial: // only some series were read
			n.Growing = math.NaN()
		case !math.IsNaN(n.HighWater):
			n.Growing = orZero(n.Growing)
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *StreamingNode) int { return cmp.Compare(a.Node, b.Node) })
	return list
}

// orZero returns v, or 0 if v is NaN, i.e. not exported.
func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// positive returns v if it is above 0, else NaN. A gauge that was registered but never set is 0.
func positive(v float64) float64 {
	if v > 0 {
		return v
	}
	return math.NaN()
}

// tickTime converts a time tick to a time. It returns the zero time for an unset one.
func tickTime(seconds float64) time.Time {
	const beyond = 253402300800 // the year 10000
	if !(seconds > 0 && seconds < beyond) {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
}
