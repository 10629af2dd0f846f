package simulate

import (
	"context"
	"fmt"
	"testing"
	"time"

	"kitescope/replay/schedule"
)

// fleet is 500 nodes with 100,000 segments: of so many collections, each with shards of which each lies on so many nodes.
func fleet(collections, shards, across int, cost time.Duration) *Cluster {
	const nodes, segments = 500, 100_000
	c := &Cluster{Wire: 500 * time.Microsecond}
	for i := range nodes {
		c.Nodes = append(c.Nodes, Node{
			ID: int64(i), Name: fmt.Sprintf("querynode-%d", i), Read: schedule.Defaults("2.4", 16),
			Overhead: 200 * time.Microsecond, SegmentOverhead: time.Microsecond,
		})
	}
	each := segments / collections / shards / across
	for i := range collections {
		col := Collection{Name: fmt.Sprintf("c%d", i), Weight: 1, Correlation: 0.5}
		var replica []Shard
		for s := range shards {
			first := (i*shards + s) * across % nodes
			shard := Shard{Leader: first}
			for n := range across {
				for range each {
					shard.Segments = append(shard.Segments, Segment{Node: (first + n) % nodes, Mean: cost, SD: cost / 3})
				}
			}
			replica = append(replica, shard)
		}
		col.Replicas = [][]Shard{replica}
		c.Collections = append(c.Collections, col)
	}
	return c
}

// BenchmarkHour simulates an hour of 10,000 queries a second on 500 nodes with 100,000 segments: in full where each collection
// lies on a few nodes, as many requests as a minute of work allows where each request asks all nodes.
func BenchmarkHour(b *testing.B) {
	for _, c := range []struct {
		name     string
		cluster  *Cluster
		requests int64
	}{
		{"250_collections_on_4_nodes_each", fleet(250, 2, 2, 1200*time.Microsecond), 0},
		{"500_collections_on_1_node_each", fleet(500, 1, 1, 2400*time.Microsecond), 0},
		{"one_collection_on_all", fleet(1, 10, 50, 4*time.Microsecond), 150_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				l := Load{Rate: 10_000, Duration: time.Hour, Warmup: 2 * time.Second, Seed: 1, Requests: c.requests}
				o, err := Run(context.Background(), c.cluster, l)
				if err != nil {
					b.Fatal(err)
				}
				var tasks int64
				for _, n := range o.Nodes {
					tasks += n.Tasks
				}
				b.ReportMetric(float64(o.Requests), "requests")
				b.ReportMetric(float64(tasks), "tasks")
				b.ReportMetric(o.Simulated.Seconds(), "simulated-s")
				b.ReportMetric(float64(o.P99High-o.P99Low)/float64(2*max(1, o.P99))*100, "p99-within-%")
				b.ReportMetric(100*o.Nodes[0].Use, "use-%")
				b.Logf("%d answered of %v: %.0f QPS, mean %v, p99 %v (%v to %v), %s, saturated %v", o.Requests, o.Simulated, o.QPS, o.Mean, o.P99,
					o.P99Low, o.P99High, o.Bound, o.Saturated)
			}
		})
	}
}
