package rules_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// simulateLeaders simulates searches that query the leaders of all shards at once, from clients that start the next
// search immediately. Node k is the leader of leads[k] shards and has two servers. simulateLeaders returns the mean
// duration of a search, and the mean wait of one task on the first node.
func simulateLeaders(rng *rand.Rand, clients int, takes float64, leads ...int) (whole, queued float64) {
	const requests = 30_000
	nodes := make([]rulestest.Servers, len(leads))
	for i := range nodes {
		nodes[i] = make(rulestest.Servers, 2)
	}
	next := make([]float64, clients)
	for i := range next {
		next[i] = float64(i)
	}
	for range requests {
		i := slices.Index(next, slices.Min(next))
		at, last := next[i], 0.0
		for k, shards := range leads {
			for range shards {
				q, ended := nodes[k].Assign(at, rng.ExpFloat64()*takes)
				last = max(last, ended)
				if k == 0 {
					queued += q / float64(requests*shards)
				}
			}
		}
		whole += (last - at) / requests
		next[i] = last
	}
	return whole, queued
}

// TestGainOfSpreadLeaders checks the gain of spreading leaders: searches wait for a node that leads all shards,
// and for about half as long if half of its shards are elsewhere.
func TestGainOfSpreadLeaders(t *testing.T) {
	const takes, searches = 40, 200
	rng := rand.New(rand.NewPCG(7, 1))
	whole, queued := simulateLeaders(rng, 4, takes, 6, 0)
	after, _ := simulateLeaders(rng, 4, takes, 3, 3)
	change := func(idle float64) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Serve()
			a := w.Query(rulestest.NodeA).Distribution
			for len(a.Leaders) < 6 {
				a.Leaders = append(a.Leaders, model.LeaderView{
					Channel: rulestest.Channel0, Collection: rulestest.CollID,
					Growing: []model.GrowingView{{ID: model.SegmentID(9000 + len(a.Leaders))}}, GrowingRows: 10_000,
				})
			}
			w.Query(rulestest.NodeB).Distribution.Leaders = nil
			w.AddSearches(rulestest.Traffic{Searches: searches, Ms: whole + 2, Sealed: 1})
			kind := model.Pair{Key: "query_type", Value: "search"}
			add := func(name string, each float64, labels ...model.Pair) {
				modeltest.AddTimes(w.Query(rulestest.NodeA).Process.Metrics, "milvus_querynode_"+name, 6*searches, each,
					append(labels, kind)...)
			}
			add("sq_req_latency", idle*(queued+takes), model.Pair{Key: "scope", Value: "FromLeader"})
			add("sq_queue_latency", idle*queued)
			add("sq_segment_latency", idle*takes, model.Pair{Key: "segment_state", Value: "Growing"})
			add("sq_core_latency", idle*takes)
		}
	}
	s := rulestest.GainOf(t, rulestest.ByID("imbalance-leaders"), change(1))
	rulestest.CheckGain(t, &s, whole-after)
	if r := rulestest.RunCheck(t, rulestest.ByID("imbalance-leaders"), change(0.01)); len(r.Findings) != 1 ||
		len(r.Findings[0].Slows) > 0 {
		t.Errorf("searches do not wait for it: %+v", r.Findings)
	}
}
