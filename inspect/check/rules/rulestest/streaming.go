package rulestest

import (
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// PChannel is the physical channel of the metrics of LogSeries.
const PChannel = "by-dev-rootcoord-dml_0"

// Series is a sample of a streaming node's metrics.
type Series struct {
	Name   string
	Value  float64
	Labels []model.Pair
}

// LogSeries returns a series of a log of node 30.
func LogSeries(name string, value float64, more ...string) Series {
	s := Series{name, value, []model.Pair{{Key: "channel_name", Value: PChannel}, {Key: "node_id", Value: "30"}}}
	for i := 0; i < len(more); i += 2 {
		s.Labels = append(s.Labels, model.Pair{Key: more[i], Value: more[i+1]})
	}
	return s
}

// RunStreaming makes the cluster one of 2.6. Its first pchannel is assigned to streaming node 30, which started two
// hours ago and was scraped twice, with the given series in both scrapes.
func (w *World) RunStreaming(list ...Series) {
	w.AddResponses()
	n := w.Another("streamingnode", 30)
	w.PChannels[0].Streaming, w.PChannels[0].Node, w.PChannels[0].Term, w.PChannels[0].State = true, 30, 2, "Assigned"
	w.VChannels[0].Watcher, w.VChannels[0].WatchState = 30, "Assigned"
	n.Process = &model.Process{Address: "10.0.0.30:9091", Outcome: model.Answered}
	n.Process.Metrics, n.Process.Before = ScrapeAt(0, list), ScrapeAt(-15*time.Second, list)
	other := &model.Process{Address: "10.0.0.2:9091", Outcome: model.Answered, Metrics: ScrapeAt(0, nil)}
	for _, x := range w.Runtime.Nodes {
		if x.Process == nil {
			x.Process = other
		}
	}
	w.Runtime.Processes = append(w.Runtime.Processes, other, n.Process)
}

// ScrapeAt returns metrics scraped at an offset from the time of the cluster.
func ScrapeAt(ago time.Duration, list []Series) *model.Metrics {
	m := modeltest.Scrape(modeltest.Now.Add(ago),
		map[string][]model.Series{"process_start_time_seconds": {{Value: float64(TimeAgo(2 * time.Hour).Unix())}}})
	for _, s := range list {
		modeltest.AddSeries(m, s.Name, model.Series{Labels: s.Labels, Value: s.Value})
	}
	return m
}

// StreamingProcess returns the process that RunStreaming added.
func (w *World) StreamingProcess() *model.Process {
	return w.Runtime.Processes[len(w.Runtime.Processes)-1]
}

// AddCache gives the first query node a cache of 1,000 MiB with 800 MiB in memory. It was scraped twice, 30 s apart,
// with the given counters in each scrape.
func (w *World) AddCache(before, now map[string]float64) *model.Process {
	w.RunStreaming()
	n := w.Query(NodeA)
	list := func(counts map[string]float64) (all []Series) {
		place := []model.Pair{{Key: "location", Value: "memory"}}
		all = []Series{
			{"internal_cache_capacity_bytes", 1000 << 20, place},
			{"internal_cache_low_watermark_bytes", 750 << 20, place},
			{"internal_cache_loaded_bytes", 800 << 20, place},
		}
		for name, v := range counts {
			all = append(all, Series{"internal_cache_" + name, v, place})
		}
		return all
	}
	n.Process = &model.Process{
		Address: n.Address, Outcome: model.Answered, Metrics: ScrapeAt(0, list(now)),
		Before: ScrapeAt(-30*time.Second, list(before)),
	}
	w.Runtime.Processes = append(w.Runtime.Processes, n.Process)
	return n.Process
}
