package latency_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/latency"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// separateNodes returns the simulations of two collections that are searched concurrently, each on its own nodes. The
// kernel times of the two collections are independent.
func separateNodes(seed uint64) []*simulation {
	rng := rand.New(rand.NewPCG(seed, 5))
	var list []*simulation
	for i := range 2 {
		s := &simulation{
			rng: rng, requests: 500, threads: 4, collection: fmt.Sprintf("docs_%d", i), first: 2 * i, together: 1,
		}
		s.sealed, s.growing = []float64{2, 30}[(int(seed)+i)%2]*(1+rng.Float64()),
			[]float64{20, 2}[(int(seed)/2+i)%2]*(1+rng.Float64())
		s.spread, s.reduce, s.wire, s.proxy, s.decode, s.queue = 0.3, 0.2, 0.2, 2+10*rng.Float64(), 0.1, 3
		s.nodes = []simNode{{1}, {1}}
		s.shards = []simShard{
			{leader: 0, sealed: []int{2, 2}, growing: 1}, {leader: 1, sealed: []int{2, 2}, growing: 1},
		}
		list = append(list, s)
	}
	return list
}

// twoCollections returns a cluster with two collections. Its query nodes report the segments and shards of the
// simulations if withDistribution is true.
func twoCollections(t *testing.T, texts map[string]string, list []*simulation, withDistribution bool) *model.Cluster {
	t.Helper()
	d := live.NewDecoder()
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for name, text := range texts {
		role := strings.TrimRight(name, "0123456789")
		id, _ := strconv.Atoi(strings.TrimPrefix(name, role))
		d.Add(live.Record{
			Role: role, Address: fmt.Sprintf("10.0.0.%d:9091", id), Method: "GET /metrics", At: at,
			Response: []byte(text),
		})
	}
	p := d.Runtime("recording", "").RuntimeParts
	var parts model.Parts
	for i, s := range list {
		c := model.CollectionID(i + 1)
		parts.Collections = append(parts.Collections, &model.Collection{
			ID: c, Name: s.collection, ConsistencyLevel: "Bounded",
		})
		for _, n := range p.Nodes {
			at := int(n.Node) - 1 - s.first
			if n.Role != "querynode" || at < 0 || at >= len(s.nodes) || !withDistribution {
				continue
			}
			if n.Distribution == nil {
				n.Distribution = &model.Distribution{}
			}
			for k, shard := range s.shards {
				for j := range shard.sealed[at] {
					n.Distribution.Sealed = append(n.Distribution.Sealed, model.ServedSegment{
						ID: model.SegmentID(1000*i + 100*k + 10*at + j), Collection: c,
					})
				}
				if shard.leader == at {
					n.Distribution.Leaders = append(n.Distribution.Leaders, model.LeaderView{
						Channel: fmt.Sprintf("c%d_%d", i, k), Collection: c,
					})
				}
			}
		}
	}
	return model.Build(parts).WithRuntime(model.BuildRuntime(p))
}

// wrongKernels returns the mean error of the kernel phases of the collections, as a fraction of their requests.
func wrongKernels(t *testing.T, c *model.Cluster, list []*simulation, truths []truth) (sum float64) {
	t.Helper()
	l := latency.Compute(c)
	for i, s := range list {
		b := l.Find(s.collection, latency.Search)
		if b == nil {
			t.Fatalf("no search of %s", s.collection)
		}
		checkSums(t, b)
		got, _ := leaves(b)
		for _, name := range []string{"kernel_sealed", "kernel_growing"} {
			sum += math.Abs(got[name]-truths[i].phase[name]) / truths[i].total
		}
	}
	return sum / float64(2*len(list))
}

// TestOwnersOfNodes checks that kernel times are assigned to the right collection if each collection has its
// own nodes and these report which collections they serve.
func TestOwnersOfNodes(t *testing.T) {
	const seeds = 4
	var with, without float64
	for seed := range uint64(seeds) {
		list := separateNodes(seed)
		o := &observations{series: map[string][]float64{}}
		var truths []truth
		for _, s := range list {
			truths = append(truths, s.runOn(o))
		}
		texts := o.texts()
		with += wrongKernels(t, twoCollections(t, texts, list, true), list, truths) / seeds
		without += wrongKernels(t, twoCollections(t, texts, list, false), list, truths) / seeds
	}
	t.Logf("kernels are off by %.1f%% of a request, %.1f%% where nobody tells what is served", 100*with, 100*without)
	if without < 0.02 || with > 0.1*without {
		t.Errorf("kernels are off by %.3f of a request, %.3f where nobody tells what is served", with, without)
	}
}
