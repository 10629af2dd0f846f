package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

const streamed = "by-dev-rootcoord-dml_0" // the pchannel of wellCh0

// series is a sample of a streaming node's metrics.
type series struct {
	name   string
	value  float64
	labels []model.Pair
}

// ofLog is a series of a log of node 30.
func ofLog(name string, value float64, more ...string) series {
	s := series{name, value, []model.Pair{{Key: "channel_name", Value: streamed}, {Key: "node_id", Value: "30"}}}
	for i := 0; i < len(more); i += 2 {
		s.labels = append(s.labels, model.Pair{Key: more[i], Value: more[i+1]})
	}
	return s
}

var (
	watermark = series{"milvus_wal_growing_segment_hwm_bytes", 1000, []model.Pair{{Key: "node_id", Value: "30"}}}
	opened    = ofLog("milvus_wal_info", 1, "term", "2", "wal_name", "woodpecker")
)

// streaming makes the cluster one of 2.6: its first pchannel is assigned to streaming node 30, which started two hours ago and was scraped twice,
// with these series in both.
func (w *world) streaming(list ...series) {
	w.asked()
	n := w.another("streamingnode", 30)
	w.PChannels[0].Streaming, w.PChannels[0].Node, w.PChannels[0].Term, w.PChannels[0].State = true, 30, 2, "Assigned"
	w.VChannels[0].Watcher, w.VChannels[0].WatchState = 30, "Assigned"
	n.Process = &model.Process{Address: "10.0.0.30:9091", Outcome: model.Answered}
	n.Process.Metrics, n.Process.Before = scraped(0, list), scraped(-15*time.Second, list)
	other := &model.Process{Address: "10.0.0.2:9091", Outcome: model.Answered, Metrics: scraped(0, nil)}
	for _, x := range w.runtime.Nodes {
		if x.Process == nil {
			x.Process = other
		}
	}
	w.runtime.Processes = append(w.runtime.Processes, other, n.Process)
}

func scraped(ago time.Duration, list []series) *model.Metrics {
	m := modeltest.Scrape(modeltest.Now.Add(ago), map[string][]model.Series{"process_start_time_seconds": {{Value: float64(backT(2 * time.Hour).Unix())}}})
	for _, s := range list {
		modeltest.AddSeries(m, s.name, model.Series{Labels: s.labels, Value: s.value})
	}
	return m
}

func (w *world) streamingProcess() *model.Process {
	return w.runtime.Processes[len(w.runtime.Processes)-1]
}

func TestWALNotOpen(t *testing.T) {
	lacks := func(change func(*world)) func(*world) {
		return func(w *world) {
			w.streaming(watermark)
			if change != nil {
				change(w)
			}
		}
	}
	hold(t, named("wal-not-open"), []verdict{
		{"before 2.6", func(w *world) { w.streaming(watermark); w.PChannels[0].Streaming = false }, nil, ""},
		{"not asked", func(w *world) { w.streaming(watermark); w.runtime = nil }, nil, "the nodes were not asked"},
		{"no metrics", func(w *world) { w.streaming(watermark); w.streamingProcess().Metrics = nil }, nil, "no streaming node reported its metrics"},
		{"open", func(w *world) { w.streaming(watermark, opened) }, nil, ""},
		{"not there", lacks(nil), []string{"error pchannels/" + streamed + " streaming node 30 does not have the log"}, ""},
		{"in an older term", func(w *world) { w.streaming(watermark, ofLog("milvus_wal_info", 1, "term", "1")) }, []string{"error pchannels/" + streamed + " in term 1, and is assigned term 2"}, ""},
		{"being read", func(w *world) {
			w.streaming(watermark, ofLog("milvus_wal_recovery_info", 1, "state", "persist-recovering"))
		}, []string{"info pchannels/" + streamed + " persist-recovering"}, ""},
		{"one scrape", lacks(func(w *world) { w.streamingProcess().Before = nil }), nil, "whether " + streamed + " stays closed"},
		{"restarted between the scrapes", lacks(func(w *world) {
			w.streamingProcess().Before.Families["process_start_time_seconds"].Series[0].Value--
		}), nil, "whether " + streamed + " stays closed"},
		{"started just now", lacks(func(w *world) {
			for _, m := range []*model.Metrics{w.streamingProcess().Metrics, w.streamingProcess().Before} {
				m.Families["process_start_time_seconds"].Series[0].Value = float64(backT(4 * time.Minute).Unix())
			}
		}), nil, ""},
		{"its metrics were cut", lacks(func(w *world) { w.streamingProcess().Metrics.Partial = true }), nil, "streaming node 30: read in part"},
		{"the metrics of one node were not read", lacks(func(w *world) {
			w.another("streamingnode", 31)
			w.PChannels[1].Streaming, w.PChannels[1].Node, w.PChannels[1].State = true, 31, "Assigned"
		}), []string{"error pchannels/" + streamed}, ""},
		{"being assigned", lacks(func(w *world) { w.PChannels[0].State = "Assigning" }), nil, ""},
		{"assigned to a node without a session, another check's", lacks(func(w *world) {
			w.Sessions = slices.DeleteFunc(w.Sessions, func(s *model.Session) bool { return s.Node == 30 })
		}), nil, ""},
		{"assigned to be read only, as in an upgrade", lacks(func(w *world) { w.PChannels[0].AccessMode = "ReadOnly" }), nil, ""},
		{"another node reads it: it moved", lacks(func(w *world) {
			w.another("streamingnode", 31).Process = &model.Process{Address: "10.0.0.31:9091", Metrics: scraped(0, []series{ofLog31("milvus_wal_recovery_info", "state", "stream-recovering")})}
			w.runtime.Processes = append(w.runtime.Processes, w.runtime.Nodes[len(w.runtime.Nodes)-1].Process)
		}), nil, "whether " + streamed + " moved"},
		{"scraped twice at one time", lacks(func(w *world) { w.streamingProcess().Before.At = w.streamingProcess().Metrics.At }), nil, "whether " + streamed + " stays closed"},
		{"read whole, and says nothing of logs in its first minutes", func(w *world) {
			w.streaming()
			own := w.streamingProcess()
			w.runtime.Processes = append(w.runtime.Processes, &model.Process{Metrics: scraped(0, []series{{"milvus_wal_growing_segment_hwm_bytes", 1, []model.Pair{{Key: "node_id", Value: "32"}}}})})
			for _, m := range []*model.Metrics{own.Metrics, own.Before} {
				m.Families["process_start_time_seconds"].Series[0].Value = float64(backT(30 * time.Second).Unix())
			}
		}, nil, ""},
		{"read whole, and says nothing of logs for hours", func(w *world) {
			w.streaming()
			w.runtime.Processes = append(w.runtime.Processes, &model.Process{Metrics: scraped(0, []series{{"milvus_wal_growing_segment_hwm_bytes", 1, []model.Pair{{Key: "node_id", Value: "32"}}}})})
		}, nil, "streaming node 30: nothing about logs is in them"},
	})
}

// ofLog31 is a series of the same log of node 31.
func ofLog31(name string, more ...string) series {
	s := ofLog(name, 1, more...)
	s.labels[1].Value = "31"
	return s
}

func TestWALOpenTwice(t *testing.T) {
	second := series{"milvus_wal_info", 1, []model.Pair{{Key: "channel_name", Value: streamed}, {Key: "node_id", Value: "31"}, {Key: "term", Value: "1"}}}
	twice := func(w *world) { w.streaming(watermark, opened, second) } // in a standalone of two, as it were
	hold(t, named("wal-open-twice"), []verdict{
		{"before 2.6", func(w *world) { w.streaming(watermark); w.PChannels[0].Streaming = false }, nil, ""},
		{"not asked", func(w *world) { w.streaming(watermark); w.runtime = nil }, nil, "the nodes were not asked"},
		{"no metrics", func(w *world) { w.streaming(watermark); w.streamingProcess().Metrics = nil }, nil, "no streaming node reported its metrics"},
		{"once", func(w *world) { w.streaming(watermark, opened) }, nil, ""},
		{"twice", twice, []string{"warning pchannels/" + streamed + " is open on streaming node 30 (term 2) and on 31 (term 1)"}, ""},
		{"one scrape", func(w *world) { twice(w); w.streamingProcess().Before = nil }, nil, "whether " + streamed + " is moving"},
		{"of one node, told by two addresses of it", func(w *world) {
			w.streaming(watermark, opened)
			again := *w.streamingProcess()
			w.runtime.Processes = append(w.runtime.Processes, &again)
		}, nil, ""},
		{"a query node that can hold no log was not read", func(w *world) { w.streaming(watermark, opened); w.another("querynode", 40).Outcome = model.Refused }, nil, ""},
		{"one in a streaming node was not read", func(w *world) {
			w.streaming(watermark, opened)
			w.another("querynode", 40).Outcome = model.Refused
			w.Sessions[len(w.Sessions)-1].Labels = []model.Pair{{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"}}
		}, nil, "metrics of querynode-40"},
		{"since the scrape before", func(w *world) {
			twice(w)
			w.streamingProcess().Before = scraped(-15*time.Second, []series{watermark, opened, {"milvus_wal_growing_segment_hwm_bytes", 1, second.labels[1:2]}})
		}, nil, ""},
	})
}

func TestWALFlushLag(t *testing.T) {
	ticks := func(behind, before float64) func(*world) {
		at := func(lag float64) []series {
			return []series{opened, ofLog("milvus_wal_last_confirmed_time_tick", 1764000000), ofLog("milvus_wal_flusher_time_tick", 1764000000-lag)}
		}
		return func(w *world) {
			w.streaming(at(behind)...)
			w.streamingProcess().Before = scraped(-15*time.Second, at(before))
		}
	}
	hold(t, named("wal-flush-lag"), []verdict{
		{"seconds", ticks(2, 2), nil, ""},
		{"just below", ticks(299, 299), nil, ""},
		{"behind", ticks(301, 300), []string{"warning pchannels/" + streamed + " 5 min behind the end of the log"}, ""},
		{"the same as before", ticks(301, 301), []string{"warning pchannels/" + streamed}, ""},
		{"catching up", ticks(301, 400), []string{"info pchannels/" + streamed + " and catches up"}, ""},
		{"not told", func(w *world) {
			w.streaming(opened, ofLog("milvus_wal_last_confirmed_time_tick", 1764000000), ofLog("milvus_wal_flusher_time_tick", 0))
		}, nil, ""},
		{"of a log that is not open", func(w *world) {
			w.streaming(ofLog("milvus_wal_last_confirmed_time_tick", 1764000000), ofLog("milvus_wal_flusher_time_tick", 1763990000))
		}, nil, ""},
		{"one scrape", func(w *world) { ticks(301, 400)(w); w.streamingProcess().Before = nil }, []string{"info pchannels/" + streamed + " whether it catches up is not known"}, ""},
	})
}

// TestInfoExplainsNothing: what is under way, and may be over in a minute, is the cause of no trouble.
func TestInfoExplainsNothing(t *testing.T) {
	passing := []string{"wal-not-open", "wal-flush-lag", "growing-over-watermark", "cache-loads-failing"}
	tried := 0
	for _, x := range rules.All() {
		for _, cause := range x.FollowsFrom {
			if !slices.Contains(passing, cause.Check) {
				continue
			}
			tried++
			of := func(s check.Severity) bool {
				about := check.Finding{Severity: s, Objects: []model.Ref{
					{Resource: "nodes", ID: "streamingnode-30"}, {Resource: "pchannels", ID: streamed}, {Resource: "vchannels", ID: streamed + "_1v0"},
				}}
				effect := about
				effect.Severity = check.Error
				return cause.Of == nil || cause.Of(nil, &effect, &about)
			}
			if of(check.Info) || !of(check.Warning) {
				t.Errorf("%s follows from %s: of an info %v, of a warning %v", x.ID, cause.Check, of(check.Info), of(check.Warning))
			}
		}
	}
	if tried < 8 {
		t.Errorf("%d causes", tried)
	}
}

// TestChannelsOfOneLog: lagging vchannels are explained by their log however many are on it, and a log's trouble by the memory of its node's
// process whichever of its sessions names that.
func TestChannelsOfOneLog(t *testing.T) {
	follows := func(c *model.Cluster, id, from string, effect, cause *check.Finding) bool {
		i := slices.IndexFunc(named(id).FollowsFrom, func(x check.Cause) bool { return x.Check == from })
		return named(id).FollowsFrom[i].Of(c, effect, cause)
	}
	result := judged(t, named("checkpoint-lag"), func(w *world) {
		w.PChannels[0].Streaming = true
		w.VChannels[0].Checkpoint.At = model.TSOFromTime(backT(time.Hour))
	})
	if len(result.Findings) != 1 {
		t.Fatalf("%d findings", len(result.Findings))
	}
	log := &check.Finding{Severity: check.Warning, Object: model.Ref{Resource: "pchannels", ID: streamed}}
	for _, from := range []string{"wal-not-open", "wal-flush-lag"} {
		if !follows(nil, "checkpoint-lag", from, result.Findings[0], log) {
			t.Errorf("%s: %+v", from, result.Findings[0].Objects)
		}
	}
	process := &model.Process{Address: "10.0.0.30:9091"}
	c := model.Build(model.Parts{}).WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{
		{Role: "querynode", Node: 30, Process: process}, {Role: "streamingnode", Node: 30, Process: process}, {Role: "querynode", Node: 4, Address: "10.0.0.4:1"}, {Role: "querynode", Node: 5},
	}}))
	lag := &check.Finding{Severity: check.Warning, Objects: []model.Ref{{Resource: "nodes", ID: "streamingnode-30"}}}
	full := func(node string) *check.Finding {
		return &check.Finding{Severity: check.Error, Object: model.Ref{Resource: "nodes", ID: node}}
	}
	for _, id := range []string{"wal-flush-lag", "wal-throttled", "cache-loads-failing"} {
		if !follows(c, id, "memory-pressure", lag, full("querynode-30")) || !follows(c, id, "memory-pressure", lag, full("streamingnode-30")) ||
			follows(c, id, "memory-pressure", lag, full("querynode-4")) || follows(c, id, "memory-pressure", lag, full("querynode-5")) {
			t.Errorf("%s: of the same process, or another", id)
		}
	}
}

func TestGrowingOverWatermark(t *testing.T) {
	growing := func(now, before float64) func(*world) {
		return func(w *world) {
			w.streaming(watermark, opened, ofLog("milvus_wal_growing_segment_bytes", now, "lv", "L1"))
			w.streamingProcess().Before = scraped(-15*time.Second, []series{watermark, ofLog("milvus_wal_growing_segment_bytes", before, "lv", "L1")})
		}
	}
	node := "nodes/streamingnode-30"
	hold(t, named("growing-over-watermark"), []verdict{
		{"below", growing(999, 1000), nil, ""},
		{"at it, twice", growing(1000, 1000), []string{"warning " + node + " stay above its high-water mark"}, ""},
		{"just passed", growing(1000, 999), []string{"info " + node}, ""},
		{"two scrapes that are close", func(w *world) {
			growing(1000, 1000)(w)
			w.streamingProcess().Before.At = backT(9 * time.Second)
		}, []string{"info " + node}, ""},
		{"the mark is not told", func(w *world) { w.streaming(opened, ofLog("milvus_wal_growing_segment_bytes", 5000, "lv", "L1")) }, nil, ""},
		{"nothing grows", func(w *world) { w.streaming(watermark, opened) }, nil, ""},
	})
}

func TestWALThrottled(t *testing.T) {
	limited := func(mode string) func(*world) {
		return func(w *world) {
			w.streaming(opened, ofLog("milvus_wal_rate_limit_controller_state", 1<<20, "source", "flusher", "state", mode))
		}
	}
	node := "nodes/streamingnode-30"
	hold(t, named("wal-throttled"), []verdict{
		{"normal", limited("normal"), nil, ""},
		{"slowed down", limited("slowdown"), []string{"warning " + node + " slows down writes to 1 log (flusher)"}, ""},
		{"rejected", limited("reject"), []string{"error " + node + " rejects writes to 1 log (flusher)"}, ""},
		{"on its way back", limited("recovery"), []string{"info " + node}, ""},
		{"of a log that is not open", func(w *world) {
			w.streaming(ofLog("milvus_wal_rate_limit_controller_state", 0, "source", "flusher", "state", "reject"))
		}, nil, ""},
	})
}

func TestBroadcastStuck(t *testing.T) {
	task := func(state string, since time.Duration) func(*world) {
		return func(w *world) {
			w.Tasks = append(w.Tasks, &model.Task{ID: 77, Type: "broadcast", SubType: "DropCollection", State: state, Progress: "1/2 acknowledged", StartedAt: backT(since)})
		}
	}
	hold(t, named("broadcast-stuck"), []verdict{
		{"none", nil, nil, ""},
		{"waits", task("WaitAck", 11*time.Minute), []string{"warning tasks/broadcast/77 DropCollection has not ended in 11 min: 1/2 acknowledged"}, ""},
		{"pending", task("Pending", time.Hour), []string{"warning tasks/broadcast/77"}, ""},
		{"under way", task("WaitAck", 9*time.Minute), nil, ""},
		{"over", task("Tombstone", time.Hour), nil, ""},
		{"acknowledged by none", func(w *world) { task("Pending", time.Hour)(w); w.Tasks[len(w.Tasks)-1].StartedAt = time.Time{} }, nil, ""},
		{"not read", func(w *world) { task("WaitAck", time.Hour)(w); w.Loaded &^= model.PartTasks }, nil, "could not be read"},
	})
	f := judged(t, named("broadcast-stuck"), func(w *world) {
		task("WaitAck", time.Hour)(w)
		w.Tasks[len(w.Tasks)-1].Unacknowledged = []string{wellCh0, streamed + "_vcchan", "by-dev-rootcoord-dml_1", "unknown_1v0"}
	}).Findings[0]
	want := []model.Ref{
		{Resource: "pchannels", ID: streamed, Name: streamed},
		facts.RefVChannel(wellCh0),
		{Resource: "pchannels", ID: "by-dev-rootcoord-dml_1", Name: "by-dev-rootcoord-dml_1"},
		facts.RefVChannel(wellCh1),
	}
	if !slices.Equal(f.Objects, want) {
		t.Errorf("it waits for %v", f.Objects)
	}
}
