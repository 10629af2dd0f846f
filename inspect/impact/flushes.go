package impact

import (
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// flushes holds the work of data nodes that requests do not cover. A proxy counts a flush as ended once
// DataCoord has sealed the segments. The client then waits until data nodes have written them, with calls
// that no release counts.
type flushes struct {
	// sealed is the number of sealed and flushing segments that DataCoord counts, the smaller count of both
	// scrapes. ended is the growth of its count of flushed and dropped segments, and seconds the length of its
	// window. A compaction, which turns flushed segments into dropped ones and adds one, also lets it grow.
	sealed, ended, seconds float64
	// bySession maps the session names of each process that writes segments to its writes.
	bySession map[string]writes
}

// writes holds the number of bytes that a process wrote to the storage, and the length of its window in seconds.
// Releases up to 2.3 count each attempt (internal/datanode/flush_manager.go).
type writes struct{ bytes, seconds float64 }

func (f *flushes) add(p *model.Process, w *metrics.Window) {
	if w.SinceStart {
		return
	}
	before := metrics.NewWindow(nil, p.Before)
	count := func(w *metrics.Window, states ...string) (n float64, ok bool) {
		for _, state := range states {
			if counted, has := w.Gauge(metrics.SegmentStates, model.Pair{Key: "segment_state", Value: state}); has {
				n, ok = n+counted, true
			}
		}
		return n, ok
	}
	if now, ok := count(w, "Sealed", "Flushing"); ok {
		was, _ := count(before, "Sealed", "Flushing")
		ended, _ := count(w, "Flushed", "Dropped")
		had, _ := count(before, "Flushed", "Dropped")
		f.sealed, f.ended, f.seconds = f.sealed+min(was, now), f.ended+ended-had, w.Seconds()
	}
	if bytes, ok := w.Counter(metrics.FlushedBytes); ok {
		for _, ref := range p.Nodes {
			f.bySession[ref.ID] = writes{bytes, w.Seconds()}
		}
	}
}

// waiting returns the number of segments that wait to be written, and the length in seconds of the shortest
// window in which this was observed. It counts all sealed and flushing segments if the count of flushed and
// dropped segments stayed the same. Otherwise it counts those of channels whose watcher wrote nothing, without as many
// as ended. The result is at most the number that DataCoord counts.
func (f *flushes) waiting(c *model.Cluster) (segments, seconds float64) {
	if f.sealed == 0 {
		return 0, 0
	}
	seconds = f.seconds
	for _, s := range c.Segments {
		switch by, known := f.watcher(c, s); {
		case s.State != model.SegmentSealed && s.State != model.SegmentFlushing:
		case f.ended == 0: // it shrinks when dropped segments are collected
			segments++
		case known && by.bytes == 0:
			segments, seconds = segments+1, min(seconds, by.seconds)
		}
	}
	// Of those that were sealed when etcd was read, some may have ended.
	return max(0, min(segments, f.sealed)-max(0, f.ended)), seconds
}

// watcher returns the writes of the node that consumes the channel of a segment.
func (f *flushes) watcher(c *model.Cluster, s *model.Segment) (w writes, known bool) {
	v := c.VChannel(s.VChannel)
	if v == nil {
		return writes{}, false
	}
	node := c.SessionIn(v.Watcher, c.WatcherRole(v))
	if node == nil {
		return writes{}, false
	}
	w, known = f.bySession[node.Name()]
	return w, known
}
