package rules_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// offset has the well cluster read live by a machine whose clock is ahead.
func (w *world) offset(ahead time.Duration) {
	w.Origin.Kind, w.Origin.ByClock = "etcd", true
	w.now = modeltest.Now.Add(ahead)
	w.Origin.Taken = w.now
	w.runtime.From, w.runtime.To = w.runtime.From.Add(ahead), w.runtime.To.Add(ahead)
}

// TestClockOfTheReader: whoever reads a cluster that is well by a clock that is off finds no more in it, and what is
// wrong is found with the ages that it has.
func TestClockOfTheReader(t *testing.T) {
	for _, ahead := range []time.Duration{0, 5 * time.Minute, 3 * time.Hour, -5 * time.Minute, -3 * time.Hour} {
		w := well()
		w.serve()
		w.grow(2900, 3000, time.Minute)
		w.remembers(2900, 3000, time.Second)
		p := &model.Process{Address: "10.0.0.4:9091", Outcome: model.Answered, Metrics: &model.Metrics{}}
		w.query(nodeA).Process = p
		w.runtime.Processes = append(w.runtime.Processes, p)
		w.offset(ahead)
		for _, f := range check.Run(w.build(), w.now, append(servingChecks(), named("channel-consumption-lag"), named("node-idle"), named("checkpoint-lag"))).Findings {
			t.Errorf("%s ahead: %s %s", ahead, f.Check, f.Message)
		}

		w = well()
		w.serve()
		w.fresh(2800, time.Hour)
		w.offset(ahead)
		r := check.Run(w.build(), w.now, []*check.Check{named("segment-not-loaded")})
		if len(r.Findings) != 1 || !strings.HasSuffix(r.Findings[0].Message, "flushed up to 60 min ago but served by no node") {
			t.Errorf("%s ahead: %v", ahead, r.Findings)
		}
		if !r.Now.Equal(w.now) {
			t.Errorf("the report is of %s, not of the clock of who made it", r.Now)
		}
	}
}

// TestClockOfADeadRootCoord: what it reserved says nothing about the time once it does not answer.
func TestClockOfADeadRootCoord(t *testing.T) {
	w := well()
	w.serve()
	w.offset(time.Hour)
	w.live("rootcoord").Outcome = model.Refused
	if ahead := facts.ClockAhead(w.build()); ahead != 0 {
		t.Errorf("ahead by %s", ahead)
	}
	hold(t, named("clock-regression"), []verdict{
		{"and another clock", func(w *world) { w.serve(); w.offset(time.Hour); w.live("rootcoord").Outcome = model.Refused }, []string{"warning nodes/rootcoord-1 timestamps are 60 min behind"}, ""},
		{"RootCoord answers", func(w *world) { w.serve(); w.offset(time.Hour) }, []string{"info nodes/rootcoord-1 timestamps are 60 min behind"}, ""},
	})
}

// TestAskedBefore: a collection that was loaded between the answers of processes and the metadata is none without a leader.
func TestAskedBefore(t *testing.T) {
	apart := func(d time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			w.runtime.From, w.runtime.To = w.runtime.From.Add(-d), w.runtime.To.Add(-d)
			w.runtime.Loaded, w.runtime.ShardLeaders, w.runtime.Replicas = []*model.LoadedCollection{}, nil, nil
			for _, id := range []model.NodeID{nodeA, nodeB} {
				w.query(id).Distribution = &model.Distribution{}
			}
		}
	}
	hold(t, named("no-shard-leader"), []verdict{{"a minute", apart(time.Minute), nil, ""}, {"now", apart(0), nil, ""}})
	hold(t, named("load-state-mismatch"), []verdict{
		{"a minute", apart(time.Minute), []string{"info collections/1000 is Loaded in etcd, but neither QueryCoord nor any query node has it: they were asked 60 s before"}, ""},
		{"now", apart(0), []string{"error collections/1000 is Loaded in etcd, but QueryCoord does not list it"}, ""},
	})
}
