package simulate

import (
	"context"
	"math"
	"testing"
	"time"

	"kitescope/replay/schedule"
)

// many is one collection on two nodes of eight cores, each with so many segments of unequal cost.
func many(segments int, correlation float64, read schedule.Knobs, batch float64) *Cluster {
	c := &Cluster{Wire: 200 * time.Microsecond, Collections: []Collection{{Name: "c", Weight: 1, Correlation: correlation}}}
	shard := Shard{Leader: 0}
	for i := range 2 {
		c.Nodes = append(c.Nodes, Node{ID: int64(i), Read: read, Overhead: 100 * time.Microsecond})
		for j := range segments {
			mean := time.Duration(1+j%3) * 100 * time.Microsecond
			shard.Segments = append(shard.Segments, Segment{Node: i, Mean: mean, SD: mean / 2, Batch: batch})
		}
	}
	c.Collections[0].Replicas = [][]Shard{{shard}}
	return c
}

// A task's segments in one draw say nearly the same as each for itself: over 300 s of these loads within 5% of the mean and 7% of the p99. The shorter
// ones here have chance in them too.
func TestSegmentsInOneDraw(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range []struct {
		name     string
		cluster  *Cluster
		merges   bool
		use      float64
		sessions int
	}{
		{"3 segments, half in use", many(3, 0, schedule.Defaults("2.2", 8), 1), false, 0.5, 0},
		{"3 segments, much in use", many(3, 0, schedule.Defaults("2.2", 8), 1), false, 0.85, 0},
		{"30 segments, little in use", many(30, 0, schedule.Defaults("2.4", 8), 1), false, 0.2, 0},
		{"30 segments, half in use", many(30, 0, schedule.Defaults("2.4", 8), 1), false, 0.5, 0},
		{"30 segments, much in use", many(30, 0, schedule.Defaults("2.4", 8), 1), false, 0.7, 0},
		{"30 segments that vary together", many(30, 1, schedule.Defaults("2.4", 8), 1), false, 0.6, 0},
		{"100 segments, sessions", many(100, 0.3, schedule.Defaults("2.4", 8), 1), false, 0, 6},
		{"6 segments, sessions that are merged", many(6, 0.3, schedule.Defaults("2.2", 8), 0.5), true, 0, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for i := range c.cluster.Nodes {
				c.cluster.Nodes[i].Read.Grouping = c.merges
			}
			most, err := Capacity(ctx, c.cluster, 1)
			if err != nil {
				t.Fatal(err)
			}
			l := Load{Rate: c.use * most.QPS, Sessions: c.sessions, NQ: 1, K: 10, Duration: 15 * time.Second, Warmup: time.Second, Seed: 4}
			one, err := Run(ctx, c.cluster, l)
			if err != nil {
				t.Fatal(err)
			}
			l.BySegment = true
			each, err := Run(ctx, c.cluster, l)
			if err != nil {
				t.Fatal(err)
			}
			mean, tail := float64(one.Mean)/float64(each.Mean)-1, float64(one.P99)/float64(each.P99)-1
			t.Logf("QPS %.0f, by segment %.0f; mean %v, %v (%+.1f%%); p99 %v, %v (%+.1f%%); use %.3f, %.3f",
				one.QPS, each.QPS, one.Mean, each.Mean, 100*mean, one.P99, each.P99, 100*tail, one.Nodes[0].Use, each.Nodes[0].Use)
			if math.Abs(mean) > 0.08 || math.Abs(tail) > 0.12 || math.Abs(one.QPS/each.QPS-1) > 0.08 {
				t.Errorf("one draw is too far off")
			}
		})
	}
}
