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
	// ended is the number of flushes that ended in the window of the process that writes, seconds the shortest such window.
	ended, seconds float64
}

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
	if w.Missing(metrics.Flushes) != "" {
		return
	}
	f.seconds = min(f.seconds, w.Seconds())
	w.EachCounter(metrics.Flushes, func(labels []model.Pair, n float64) {
		if label(labels, "status") != "total" {
			f.ended += n
		}
	})
}

// waiting returns the number of segments that wait to be written while no flush ends, and for how many seconds that was seen.
func (f *flushes) waiting(c *model.Cluster) (segments, seconds float64) {
	if f.sealed == 0 || f.ended > 0 || math.IsInf(f.seconds, 1) {
		return 0, 0
	}
	for _, s := range c.Sessions {
		if (s.Role == "datanode" || s.Role == "streamingnode") && !reported(c, s) {
			return 0, 0
		}
	}
	for _, s := range c.Segments {
		if s.State == model.SegmentSealed || s.State == model.SegmentFlushing {
			segments++
		}
	}
	return min(segments, f.sealed), f.seconds
}
