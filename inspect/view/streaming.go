package view

import (
	"cmp"
	"math"
	"slices"
	"time"

	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// These columns come from the metrics of streaming nodes (2.6 and later). They were never verified against a
// live server.

// States of a log without a value in the metrics. The log accepts writes, its node does not have it, or the
// node has it read-only, which no metric shows.
const (
	walOpen     = "Open"
	walAbsent   = "NotOpen"
	walReadOnly = "ReadOnly"
)

// walOf returns the metrics of a pchannel's log from its assigned node. Without metrics it returns the cell
// to show instead: none for a pchannel without streaming or without such a log on its node, unknown if the
// metrics were not read or are incomplete.
func walOf(e *Env, p *model.PChannel) (*model.WAL, table.Cell) {
	if !p.Streaming {
		return nil, none()
	}
	s := e.Cluster.Runtime.Streaming()
	for _, w := range s.WALs(p.Name) {
		if w.Node == p.Node {
			return w, table.Cell{}
		}
	}
	if p.Node == 0 || s.Node(p.Node).Complete() {
		return nil, none()
	}
	return nil, unknown()
}

// walColumn returns a column function that computes the cell from the metrics of a pchannel's log.
func walColumn(cell func(*model.WAL) table.Cell) func(*Env, *model.PChannel) table.Cell {
	return func(e *Env, p *model.PChannel) table.Cell {
		w, absent := walOf(e, p)
		if w == nil {
			return absent
		}
		return cell(w)
	}
}

// walState returns the state of a log on its assigned node.
func walState(e *Env, p *model.PChannel) table.Cell {
	w, absent := walOf(e, p)
	switch {
	case w != nil && w.Open:
		return text(walOpen)
	case w != nil && w.Recovery != "":
		return text(w.Recovery)
	case absent.Absent == table.Unknown || !p.Streaming || p.Node == 0:
		return absent
	case p.AccessMode == walReadOnly:
		return text(walReadOnly)
	case !scrapedFully(w, e, p):
		return unknown()
	}
	return text(walAbsent)
}

// scrapedFully reports whether the metrics of a log were read in full. Only then does a missing series mean that
// the log is not there.
func scrapedFully(w *model.WAL, e *Env, p *model.PChannel) bool {
	if w != nil && w.Process != nil {
		return w.Process.Metrics != nil && !w.Process.Metrics.Partial
	}
	return e.Cluster.Runtime.Streaming().Node(p.Node).Complete()
}

// openWALColumn returns a column function for logs, for values that only a writable log has. The cell is unknown if
// the log is not open and the metrics were truncated.
func openWALColumn(cell func(*model.WAL) table.Cell) func(*Env, *model.PChannel) table.Cell {
	return func(e *Env, p *model.PChannel) table.Cell {
		w, absent := walOf(e, p)
		switch {
		case w == nil:
			return absent
		case !w.Open && !scrapedFully(w, e, p):
			return unknown()
		}
		return cell(w)
	}
}

// walHolders returns all nodes on which a log accepts writes.
func walHolders(e *Env, p *model.PChannel) table.Cell {
	if !p.Streaming {
		return none()
	}
	s := e.Cluster.Runtime.Streaming()
	var nodes []model.NodeID
	for _, w := range s.WALs(p.Name) {
		if w.Open {
			nodes = append(nodes, w.Node)
		}
	}
	if len(nodes) == 0 && p.Node != 0 && !s.Node(p.Node).Complete() {
		return unknown()
	}
	return nodeCells(e, nodes, "streamingnode")
}

// tickColumn returns a column function for a time tick. The cell is unknown without the metric.
func tickColumn(of func(*model.WAL) time.Time) func(*Env, *model.PChannel) table.Cell {
	return walColumn(func(w *model.WAL) table.Cell {
		if of(w).IsZero() {
			return unknown()
		}
		return timeCell(of(w))
	})
}

// lagColumn returns a column function for the lag of a time tick behind the confirmed end of the log.
func lagColumn(of func(*model.WAL) time.Time) func(*Env, *model.PChannel) table.Cell {
	return walColumn(func(w *model.WAL) table.Cell {
		if w.Confirmed.IsZero() || of(w).IsZero() {
			return unknown()
		}
		return count(int64(max(0, w.Confirmed.Sub(of(w)))))
	})
}

// roundedCount returns the cell of a count or of bytes. NaN and values that overflow are unknown.
func roundedCount(v float64) table.Cell {
	if !(math.Abs(v) < math.MaxInt64) {
		return unknown()
	}
	return count(int64(math.Round(v)))
}

// appendColumn returns a column function for the appends to a log in its process's window.
func appendColumn(cell func(*metrics.Window, []model.Pair) table.Cell) func(*Env, *model.PChannel) table.Cell {
	return walColumn(func(w *model.WAL) table.Cell {
		if w.Process == nil {
			return unknown()
		}
		return cell(metrics.NewWindow(w.Process.Before, w.Process.Metrics), []model.Pair{
			{Key: "channel_name", Value: w.PChannel}, {Key: "node_id", Value: w.Node.String()},
		})
	})
}

// rate returns the increase of a counter per second over the series with some labels. The cell is none
// without such series, and unknown without a window.
func rate(w *metrics.Window, name metrics.Name, match ...model.Pair) (float64, table.Cell) {
	sum, ok := w.Counter(name, match...)
	switch seconds := w.Seconds(); {
	case !ok:
		return 0, none()
	case seconds <= 0:
		return 0, unknown()
	default:
		return sum / seconds, table.Cell{}
	}
}

var pchannelStreaming = []column[*model.PChannel]{
	col(table.Column{
		Name: "wal_state", Title: "WAL", Kind: table.State, Show: table.Hidden, Priority: 2,
		Doc: "State of the log on its streaming node, from metrics (2.6). Open: accepts writes; persist-recovering, " +
			"stream-recovering: being read after assignment; ReadOnly: assigned for reading, e.g. in an upgrade (no " +
			"metric has more details); NotOpen: the node does not have it.",
	},
		walState).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "wal_nodes", Kind: table.NamedIDs, Show: table.Hidden,
		Doc: "All nodes that accept writes to it, from their metrics: more than one while it moves, otherwise a " +
			"conflict.",
	},
		walHolders).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "wal_term", Kind: table.Int, Show: table.Hidden,
		Doc: "Term in which the node accepts writes to it: normally that of the assignment.",
	},
		openWALColumn(func(w *model.WAL) table.Cell { return countOrNone(w.Term) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "wal_queue", Show: table.Hidden,
		Doc: "Queue under the log, as the node names it: woodpecker, pulsar, kafka, rocksmq.",
	},
		openWALColumn(func(w *model.WAL) table.Cell { return text(w.Queue) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "wal_throttle", Kind: table.List, Show: table.Hidden,
		Doc: "Rate limits that slow down or reject its writes now: source and mode (3.0).",
	},
		walColumn(func(w *model.WAL) table.Cell {
			var words []string
			for _, t := range w.Throttles {
				words = append(words, t.Source+" "+t.Mode)
			}
			return list(words)
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "appends_per_second", Kind: table.Number, Show: table.Hidden, Priority: 3,
		Doc: "Messages per second appended to it, between two scrapes, else since the process started; including " +
			"failed ones.",
	},
		appendColumn(func(w *metrics.Window, labels []model.Pair) table.Cell {
			v, c := rate(w, metrics.WALAppends, labels...)
			c.Float = v
			return c
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "failed_appends_per_second", Kind: table.Number, Show: table.Hidden,
		Doc: "Of these, messages that failed (status error).",
	},
		appendColumn(func(w *metrics.Window, labels []model.Pair) table.Cell {
			_, c := rate(w, metrics.WALAppends, labels...)
			if c.Absent == table.Present {
				c.Float, _ = rate(w, metrics.WALAppends,
					append(slices.Clone(labels), model.Pair{Key: "status", Value: "error"})...)
			}
			return c
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "append_bytes_per_second", Kind: table.Bytes, Show: table.Hidden, Priority: 3,
		Doc: "Bytes of these messages per second.",
	},
		appendColumn(func(w *metrics.Window, labels []model.Pair) table.Cell {
			h, ok := w.Histogram(metrics.WALAppendBytes, labels...)
			switch seconds := w.Seconds(); {
			case !ok:
				return none()
			case seconds <= 0:
				return unknown()
			default:
				return roundedCount(h.Sum / seconds)
			}
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "append_ms", Kind: table.Number, Show: table.Hidden,
		Doc: "Mean time to append a message, in milliseconds.",
	},
		appendColumn(func(w *metrics.Window, labels []model.Pair) table.Cell {
			h, _ := w.Histogram(metrics.WALAppend, labels...)
			low, _, ok := h.Mean()
			if !ok {
				return none()
			}
			return number(low)
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "growing_bytes", Title: "GROWING", Kind: table.Bytes, Show: table.Hidden, Priority: 3,
		Doc: "Bytes of its growing segments, as its streaming node counts them (2.6).",
	},
		walColumn(func(w *model.WAL) table.Cell { return roundedCount(w.Growing) })).
		withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "growing_rows", Kind: table.Int, Show: table.Hidden, Doc: "Rows of these; deletes count, too.",
	},
		walColumn(func(w *model.WAL) table.Cell { return roundedCount(w.GrowingRows) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "flush_lag_seconds", Kind: table.Duration, Show: table.Hidden, Priority: 3,
		Doc: "How far its flusher is behind the end of the log: confirmed_at less flushed_at.",
	},
		lagColumn(func(w *model.WAL) time.Time { return w.Flushed })).withNeeds(model.PartRuntime).asLive(),
	col(table.Column{
		Name: "recovery_lag_seconds", Kind: table.Duration, Show: table.Hidden,
		Doc: "Part of the log that a node must read if the channel moves to it: confirmed_at less persisted_at.",
	},
		lagColumn(func(w *model.WAL) time.Time { return w.Persisted })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "allocated_at", Kind: table.Time, Show: table.Hidden,
		Doc: "Newest time tick allocated for it.",
	},
		tickColumn(func(w *model.WAL) time.Time { return w.Allocated })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "confirmed_at", Kind: table.Time, Show: table.Hidden,
		Doc: "Time tick up to which all messages are in the log.",
	},
		tickColumn(func(w *model.WAL) time.Time { return w.Confirmed })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "flushed_at", Kind: table.Time, Show: table.Hidden,
		Doc: "Time tick up to which the flusher has consumed it; what it has consumed may still be in buffers.",
	},
		tickColumn(func(w *model.WAL) time.Time { return w.Flushed })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "recovered_at", Kind: table.Time, Show: table.Hidden,
		Doc: "Time tick up to which the node has recorded it in memory.",
	},
		tickColumn(func(w *model.WAL) time.Time { return w.Recovered })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "persisted_at", Kind: table.Time, Show: table.Hidden,
		Doc: "The same in etcd: the last written checkpoint.",
	},
		tickColumn(func(w *model.WAL) time.Time { return w.Persisted })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "buffer_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Its write-ahead buffer: readers at the end of the log are served from it.",
	},
		walColumn(func(w *model.WAL) table.Cell { return roundedCount(w.Buffer) })).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "buffer_capacity_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Capacity of that buffer.",
	},
		walColumn(func(w *model.WAL) table.Cell { return roundedCount(w.BufferCapacity) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "buffer_from", Kind: table.Time, Show: table.Hidden,
		Doc: "The oldest time tick in that buffer: readers further back read the queue.",
	},
		tickColumn(func(w *model.WAL) time.Time { return w.BufferFrom })).withNeeds(model.PartRuntime),
	col(table.Column{Name: "inflight_txns", Kind: table.Int, Show: table.Hidden, Doc: "Open transactions on it."},
		walColumn(func(w *model.WAL) table.Cell { return roundedCount(w.InflightTxns) })).withNeeds(model.PartRuntime),
}

// streamingNodeCell returns a column function for a streaming node as a whole. The cell is none for other
// roles.
func streamingNodeCell(cell func(*model.StreamingNode) table.Cell) func(*Env, *model.Session) table.Cell {
	return func(e *Env, s *model.Session) table.Cell {
		if s.Role != "streamingnode" {
			return none()
		}
		n := e.Cluster.Runtime.Streaming().Node(s.Node)
		if n == nil {
			return unknown()
		}
		return cell(n)
	}
}

var nodeStreaming = []column[*model.Session]{
	col(table.Column{
		Name: "pchannels", Kind: table.Int, Show: table.Wide, Priority: 5,
		Doc: "Physical channels assigned to a streaming node (2.6).",
	},
		func(e *Env, s *model.Session) table.Cell {
			if s.Role != "streamingnode" {
				return none()
			}
			return count(int64(len(assignedTo(e, s.Node))))
		}).withNeeds(model.PartChannels),
	col(table.Column{
		Name: "wals_open", Kind: table.Int, Show: table.Hidden,
		Doc: "Logs that a streaming node accepts writes to, from its metrics: normally as many as pchannels.",
	},
		streamingNodeCell(func(n *model.StreamingNode) table.Cell {
			if !n.Complete() {
				return unknown() // the missing part may have more logs
			}
			open := 0
			for _, w := range n.WALs {
				if w.Open {
					open++
				}
			}
			return count(int64(open))
		})).withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "growing_bytes", Title: "GROWING SIZE", Kind: table.Bytes, Show: table.Hidden,
		Doc: "Bytes of a streaming node's growing segments, as it counts them itself.",
	},
		streamingNodeCell(func(n *model.StreamingNode) table.Cell { return roundedCount(n.Growing) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "growing_hwm_bytes", Kind: table.Bytes, Show: table.Hidden,
		Doc: "High-water mark: above it growing segments are flushed until growing_lwm_bytes. Unknown in the first " +
			"minute of the process.",
	},
		streamingNodeCell(func(n *model.StreamingNode) table.Cell { return roundedCount(n.HighWater) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "growing_lwm_bytes", Kind: table.Bytes, Show: table.Hidden, Doc: "Low-water mark of the same.",
	},
		streamingNodeCell(func(n *model.StreamingNode) table.Cell { return roundedCount(n.LowWater) })).
		withNeeds(model.PartRuntime),
	col(table.Column{
		Name: "broadcasts", Kind: table.Pairs, Show: table.Hidden,
		Doc: "Tasks of StreamingCoord that write a message to several channels, by state, from the metrics of its " +
			"process; none for other processes. Tombstone: done, kept for a while.",
	},
		func(e *Env, s *model.Session) table.Cell {
			all := e.Cluster.Runtime.Streaming()
			if !canCoordinate(s) {
				return none()
			}
			n := cmp.Or(liveNode(e, s), sameProcess(e, s))
			switch {
			case n == nil || n.Process == nil || n.Process.Metrics == nil || n.Process.Metrics.Partial:
				return unknown() // it may have broadcasts
			case n.Process != all.Coordinator:
				return none()
			}
			sums := map[string]int64{}
			for _, b := range all.Broadcasts {
				sums[b.State] += b.Tasks
			}
			var flat []string
			for _, state := range sortedKeys(sums) {
				flat = append(flat, state, model.NodeID(sums[state]).String())
			}
			return list(flat)
		}).withNeeds(model.PartRuntime),
}

// canCoordinate reports whether a session's role can run StreamingCoord: MixCoord, or RootCoord if roles are
// separate.
func canCoordinate(s *model.Session) bool {
	return s.Role == "mixcoord" || s.Role == "rootcoord" || s.Role == "streamingcoord"
}

// assignedTo returns the pchannels of a streaming node according to the metadata.
func assignedTo(e *Env, id model.NodeID) []*model.PChannel {
	var list []*model.PChannel
	for _, p := range e.Cluster.PChannels {
		if p.Streaming && p.Node == id {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *model.PChannel) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
