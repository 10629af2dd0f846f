package impact

import (
	"math"

	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// flushes are counted apart from requests: a proxy's flush ends when DataCoord has sealed the segments, and the client then waits until
// data nodes have written them, with calls that no release counts.
type flushes struct {
	// sealed is the number of segments that DataCoord counts as not yet written at both scrapes.
	sealed float64
	// of has the writes of each process that flushes, by the names of its sessions.
	of map[string]written
}

// written is how many bytes a process wrote to the storage in how many seconds. Releases up to 2.3 count a flush when it is queued, and each
// try to write, but bytes only once they are written (internal/datanode/flush_manager.go).
type written struct{ bytes, seconds float64 }

func (f *flushes) add(p *model.Process, w *metrics.Window) {
	if w.SinceStart {
		return
	}
	sealed := func(w *metrics.Window) (n float64) {
		for _, state := range []string{"Sealed", "Flushing"} {
			counted, _ := w.Gauge(metrics.SegmentStates, model.Pair{Key: "segment_state", Value: state})
			n += counted
		}
		return n
	}
	f.sealed += min(sealed(metrics.NewWindow(nil, p.Before)), sealed(w))
	bytes, ok := w.Counter(metrics.FlushedBytes)
	if !ok {
		return
	}
	for _, ref := range p.Nodes {
		f.of[ref.ID] = written{bytes, w.Seconds()}
	}
}

// waiting returns the number of sealed segments of channels whose watcher has written nothing, and for how many seconds that was seen.
func (f *flushes) waiting(c *model.Cluster) (segments, seconds float64) {
	if f.sealed == 0 {
		return 0, 0
	}
	seconds = math.Inf(1)
	for _, s := range c.Segments {
		if s.State != model.SegmentSealed && s.State != model.SegmentFlushing {
			continue
		}
		v := c.VChannel(s.VChannel)
		if v == nil {
			continue
		}
		watcher := c.SessionIn(v.Watcher, c.WatcherRole(v))
		if watcher == nil {
			continue
		}
		if by, ok := f.of[watcher.Name()]; ok && by.bytes == 0 {
			segments, seconds = segments+1, min(seconds, by.seconds)
		}
	}
	return min(segments, f.sealed), seconds
}
