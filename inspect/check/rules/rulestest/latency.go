package rulestest

import (
	"math"
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// Traffic describes the requests in a window of ten seconds and the latencies that each process measured, in
// milliseconds.
type Traffic struct {
	Searches, Ms                           float64
	Consistency, Queue, Sealed, Core, Grow float64
	Segments                               float64 // per node
	Slow                                   map[model.NodeID]float64
	// Mixed makes the metrics those of 2.1 and 2.2, which count leaders and workers together, and the consistency
	// wait in the queue.
	Mixed bool
	// Start leaves only one scrape.
	Start bool
	Cores float64 // cores that each query node uses, 0 for half a core
}

// AddMetrics adds a process with two scrapes, ten seconds apart, to each session of some roles.
func (w *World) AddMetrics(x Traffic, roles ...string) {
	const window = 10
	scrape := func(at time.Time, cpu float64) *model.Metrics {
		return modeltest.Scrape(at, map[string][]model.Series{
			"process_cpu_seconds_total":     {{Value: cpu}},
			"process_start_time_seconds":    {{Value: float64(modeltest.Now.Add(-time.Hour).Unix())}},
			"go_memstats_alloc_bytes_total": {{Value: cpu * 1e6}},
		})
	}
	cores := x.Cores
	if cores == 0 {
		cores = 0.5
	}
	for _, n := range w.AddResponses().Nodes {
		for _, role := range roles {
			if n.Role != role || n.Process != nil {
				continue
			}
			n.Process = &model.Process{
				Address: n.Address, Nodes: []model.Ref{n.Ref()}, Outcome: model.Answered,
				Metrics: scrape(modeltest.Now, 100+window*cores),
				Before:  scrape(modeltest.Now.Add(-window*time.Second), 100),
			}
			if x.Start {
				n.Process.Before = nil
			}
			w.Runtime.Processes = append(w.Runtime.Processes, n.Process)
		}
	}
}

// AddMetricsToAll adds a process with hardly any metrics to each session.
func (w *World) AddMetricsToAll() {
	w.AddMetrics(Traffic{}, "proxy", "rootcoord", "mixcoord", "datacoord", "querycoord", "querynode", "datanode",
		"indexnode", "streamingnode")
}

// AddSearches adds the searches of x to the metrics of every process that counts them.
func (w *World) AddSearches(x Traffic) {
	w.AddMetrics(x, "proxy", "querynode", "rootcoord")
	kind := model.Pair{Key: "query_type", Value: "search"}
	for _, n := range w.Runtime.Nodes {
		add := func(name string, count, each float64, labels ...model.Pair) {
			modeltest.AddTimes(n.Process.Metrics, "milvus_"+name, count, each, append([]model.Pair{kind}, labels...)...)
		}
		switch n.Role {
		case "proxy":
			add("proxy_sq_latency", x.Searches, x.Ms)
			add("proxy_sq_wait_result_latency", x.Searches, x.Ms-1)
			if !x.Mixed {
				add("proxy_collection_sq_latency", x.Searches, x.Ms, model.Pair{Key: "collection_name", Value: "docs"})
			}
		case "querynode":
			times := 1.0
			if s := x.Slow[n.Node]; s > 0 {
				times = s
			}
			w.AddNodeSearches(x, times, add)
		}
	}
}

// AddNodeSearches adds the measurements of a query node.
func (w *World) AddNodeSearches(
	x Traffic, times float64, add func(name string, count, each float64, labels ...model.Pair),
) {
	segments := max(1, x.Segments)
	core := x.Core
	if core == 0 {
		core = x.Sealed
	}
	scope := func(name string) []model.Pair { return []model.Pair{{Key: "scope", Value: name}} }
	call := x.Queue + times*x.Sealed
	if x.Mixed {
		add("querynode_sq_req_latency", 2*x.Searches, x.Ms-2)
		add("querynode_sq_queue_latency", 2*x.Searches, x.Queue+x.Consistency)
	} else {
		add("querynode_sq_req_latency", x.Searches, x.Ms-2, scope("OnLeader")...)
		add("querynode_sq_req_latency", x.Searches, call, scope("FromLeader")...)
		add("querynode_sq_wait_tsafe_latency", x.Searches, x.Consistency)
		add("querynode_sq_queue_latency", x.Searches, x.Queue)
	}
	add("querynode_sq_segment_latency", x.Searches*segments, times*x.Sealed, model.Pair{
		Key: "segment_state", Value: "Sealed",
	})
	add("querynode_sq_core_latency", x.Searches*segments, times*core)
	if x.Grow > 0 {
		add("querynode_sq_segment_latency", x.Searches, x.Grow, model.Pair{Key: "segment_state", Value: "Growing"})
		add("querynode_sq_core_latency", x.Searches, x.Grow)
		add("querynode_sq_req_latency", x.Searches, x.Queue+x.Grow, scope("FromLeader")...)
		add("querynode_sq_queue_latency", x.Searches, x.Queue)
	}
}

// Servers holds the time at which each server is free, in milliseconds.
type Servers []float64

// Assign assigns the work to the server that is free first. Calls must be in order of arrival.
func (s Servers) Assign(at, ms float64) (queued, ended float64) {
	i := slices.Index(s, slices.Min(s))
	start := max(at, s[i])
	s[i] = start + ms
	return start - at, s[i]
}

// GainOf returns the slowdown in the only finding of a check, including its predicted gain.
func GainOf(t *testing.T, x *check.Check, change func(*World)) check.Slowdown {
	t.Helper()
	r := RunCheck(t, x, change)
	if len(r.Findings) != 1 || len(r.Findings[0].Slows) != 1 {
		t.Fatalf("%s: %s, findings %+v", x.ID, r.Status, r.Findings)
	}
	s := r.Findings[0].Slows[0]
	if s.Gain.Low < 0 || s.Gain.Low > s.Gain.High || s.Gain.High > s.Mean {
		t.Errorf("gain %v of %g ms is out of range", s.Gain, s.Mean)
	}
	return s
}

// CheckGain compares the middle of the predicted gain with the measured one. They must agree within 25%, unless
// both are at most a tenth of the mean request.
func CheckGain(t *testing.T, s *check.Slowdown, measured float64) {
	t.Helper()
	const within, little = 0.25, 0.1
	middle := (s.Gain.Low + s.Gain.High) / 2
	t.Logf("predicted gain %.1f to %.1f of %.1f ms, measured %.1f", s.Gain.Low, s.Gain.High, s.Mean, measured)
	if math.Abs(middle-measured) > within*math.Abs(measured) && math.Max(middle, measured) > little*s.Mean {
		t.Errorf("predicted gain %.1f to %.1f of %.1f ms, measured %.1f", s.Gain.Low, s.Gain.High, s.Mean, measured)
	}
}
