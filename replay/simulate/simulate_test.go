package simulate

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/replay/schedule"
)

const ms = time.Millisecond

// pair is two nodes, of which the second has so many times as much to do as the first.
func pair(read schedule.Knobs, times int, proxies int) *Cluster {
	c := &Cluster{Wire: ms, Proxy: ms, Proxies: float64(proxies)}
	shard := Shard{Leader: 0, Segments: []Segment{{Node: 0, Mean: 2 * ms}}}
	for i := range 2 {
		c.Nodes = append(c.Nodes, Node{ID: int64(7 + i), Name: []string{"querynode-7", "querynode-8"}[i], Read: read, Overhead: ms})
	}
	for range times {
		shard.Segments = append(shard.Segments, Segment{Node: 1, Mean: 2 * ms})
	}
	c.Collections = []Collection{{Name: "books", Weight: 2, Replicas: [][]Shard{{shard}}}}
	return c
}

func simulated(t *testing.T, c *Cluster, l Load) *Outcome {
	t.Helper()
	if l.Duration == 0 {
		l.Duration, l.Warmup = 20*time.Second, time.Second
	}
	o, err := Run(context.Background(), c, l)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestALoneRequestTakesWhatItsPartsTake(t *testing.T) {
	t.Parallel()
	read := schedule.Defaults("2.4", 4)
	for _, c := range []struct {
		name    string
		cluster *Cluster
		nq      int
		want    time.Duration
	}{
		// The proxy, two hops there and back, and the worker: 1 ms, and 3 segments of 2 ms side by side.
		{"side by side", pair(read, 3, 1), 1, ms + 2*ms + ms + 2*ms},
		{"two rounds on four cores", pair(read, 5, 1), 1, ms + 2*ms + ms + 4*ms},
		{"without proxies", pair(read, 3, 0), 1, 2*ms + ms + 2*ms},
		// Six pieces of work of 2 ms on four cores, evenly.
		{"two vectors", pair(read, 3, 0), 2, 2*ms + ms + 3*ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := simulated(t, c.cluster, Load{Sessions: 1, NQ: c.nq})
			if o.P50 < c.want-c.want/500 || o.P50 > c.want+c.want/500 || o.Min != c.want {
				t.Errorf("it took %v, at least %v, want %v", o.P50, o.Min, c.want)
			}
			if want := float64(c.nq) / c.want.Seconds(); math.Abs(o.QPS/want-1) > 0.01 || o.Bound != "sessions" {
				t.Errorf("%.1f queries a second, bound by %s, want %.1f", o.QPS, o.Bound, want)
			}
			most, err := Capacity(context.Background(), c.cluster, c.nq)
			if err != nil || most.Alone < c.want-10 || most.Alone > c.want+10 {
				t.Errorf("Capacity says %v alone (%v), want %v", most.Alone, err, c.want)
			}
		})
	}
}

func TestTheBoundIsNamed(t *testing.T) {
	t.Parallel()
	few := schedule.Knobs{Cores: 16, ConcurrencyRatio: 0.125} // two at once
	replicas := pair(schedule.Knobs{Cores: 4, ConcurrencyRatio: 10}, 7, 0)
	second := replicas.Collections[0].Replicas[0][0]
	second.Leader = 1
	second.Segments = nil
	for _, s := range replicas.Collections[0].Replicas[0][0].Segments {
		second.Segments = append(second.Segments, Segment{Node: 1 - s.Node, Mean: s.Mean})
	}
	replicas.Collections[0].Replicas = append(replicas.Collections[0].Replicas, []Shard{second})
	for _, c := range []struct {
		name    string
		cluster *Cluster
		load    Load
		bound   string
		qps     float64 // that Capacity says
	}{
		{"cores", pair(schedule.Knobs{Cores: 4, ConcurrencyRatio: 10}, 7, 0), Load{Sessions: 60}, "node querynode-8's cores", 4 / 0.015},
		{"two replicas", replicas, Load{Sessions: 120}, "node querynode-8's cores", 4 / 0.009},
		{"a scheduler", pair(few, 7, 0), Load{Sessions: 60}, "scheduler of querynode-7", 2 / 0.003},
		{"proxies", pair(schedule.Knobs{Cores: 16, ConcurrencyRatio: 10}, 7, 1), Load{Sessions: 60}, "proxies", 1000},
		{"cores, four vectors each", pair(schedule.Knobs{Cores: 4, ConcurrencyRatio: 10}, 7, 0), Load{Sessions: 60, NQ: 4}, "node querynode-8's cores", 4 * 4 / 0.057},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := simulated(t, c.cluster, c.load)
			most, err := Capacity(context.Background(), c.cluster, c.load.NQ)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(most.QPS/c.qps-1) > 0.001 || math.Abs(o.QPS/most.QPS-1) > 0.03 {
				t.Errorf("%.1f queries a second, at most %.1f, want %.1f", o.QPS, most.QPS, c.qps)
			}
			if o.Bound != c.bound && !(len(c.cluster.Collections[0].Replicas) == 2 && strings.HasSuffix(o.Bound, "cores")) {
				t.Errorf("bound by %s, want %s", o.Bound, c.bound)
			}
			if most.Bound != c.bound && len(c.cluster.Collections[0].Replicas) == 1 {
				t.Errorf("Capacity is bound by %s, want %s", most.Bound, c.bound)
			}
		})
	}
}

func TestMoreThanCanBeDoneIsSaid(t *testing.T) {
	t.Parallel()
	read := schedule.Knobs{Cores: 4, ConcurrencyRatio: 10}
	most := 4 / 0.015
	less := simulated(t, pair(read, 7, 0), Load{Rate: 0.9 * most, Seed: 2})
	if less.Saturated || less.Bound != "the rate" || less.Refused != 0 {
		t.Errorf("at 90%%: saturated %v, bound by %s, %d refused", less.Saturated, less.Bound, less.Refused)
	}
	more := simulated(t, pair(read, 7, 0), Load{Rate: 1.2 * most, Seed: 2})
	if !more.Saturated || math.Abs(more.QPS/most-1) > 0.03 || more.Mean < 10*less.Mean {
		t.Errorf("at 120%%: saturated %v, %.1f of %.1f queries a second, mean %v", more.Saturated, more.QPS, most, more.Mean)
	}
	read.Waiting = 20
	full := simulated(t, pair(read, 7, 0), Load{Rate: 1.5 * most, Seed: 2})
	if !full.Saturated || full.Refused == 0 || full.P99 > time.Second {
		t.Errorf("at 150%% with a bounded queue: saturated %v, %d refused, p99 %v", full.Saturated, full.Refused, full.P99)
	}
	busy := simulated(t, pair(read, 7, 0), Load{Sessions: 200, Seed: 2})
	if busy.Saturated || busy.Refused == 0 {
		t.Errorf("200 sessions at a bounded queue: saturated %v, %d refused", busy.Saturated, busy.Refused)
	}
}

func TestTooMuchEndsEarly(t *testing.T) {
	t.Parallel()
	o := simulated(t, pair(schedule.Knobs{Cores: 1}, 1, 0), Load{Rate: 1e6, Duration: time.Hour, Warmup: time.Minute})
	if !o.Saturated || o.Simulated > time.Minute || o.QPSHigh != 0 {
		t.Errorf("saturated %v after %v, interval to %.0f", o.Saturated, o.Simulated, o.QPSHigh)
	}
}

func TestMergingSavesWhatVectorsShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		batch  float64
		merged bool
		least  float64
		most   float64
	}{
		{0.1, false, 0.97, 1.01},
		{0.1, true, 2, 8},
		{1, true, 0.97, 1.4}, // only Overhead is shared
	} {
		cluster := pair(schedule.Defaults("2.4", 4), 7, 0)
		for i := range cluster.Nodes {
			cluster.Nodes[i].Read.Grouping = c.merged
		}
		segments := cluster.Collections[0].Replicas[0][0].Segments
		for i := range segments {
			segments[i].Batch = c.batch
		}
		most, err := Capacity(context.Background(), cluster, 1)
		if err != nil {
			t.Fatal(err)
		}
		o := simulated(t, cluster, Load{Sessions: 64, K: 10})
		if gain := o.QPS / most.QPS; gain < c.least || gain > c.most || o.QPS > most.Merged*1.01 {
			t.Errorf("batch %v, merged %v: %.2f times as many as alone, want %v to %v; at most %.1f, merged %.1f", c.batch, c.merged, gain, c.least, c.most,
				most.QPS, most.Merged)
		}
		if (o.Nodes[1].Grouped > 0) != c.merged {
			t.Errorf("%d tasks ran with others", o.Nodes[1].Grouped)
		}
	}
}

// It uses all cores, and must not depend on how many there are: so it is not parallel to others.
func TestTheSameSeedHasTheSameOutcome(t *testing.T) {
	fleet := fleet(50, 1, 10, 20*time.Microsecond)
	l := Load{Rate: 2000, NQ: 1, Duration: 4 * time.Second, Warmup: time.Second, Seed: 9}
	first := simulated(t, fleet, l)
	before := runtime.GOMAXPROCS(1)
	second := simulated(t, fleet, l)
	runtime.GOMAXPROCS(before)
	first.Took, second.Took = 0, 0
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the same seed differs:\n%s", diff)
	}
	l.Seed++
	if third := simulated(t, fleet, l); third.Mean == first.Mean {
		t.Error("another seed has the same mean")
	}
}

func TestLongLoadsAreCutIntoWindows(t *testing.T) {
	t.Parallel()
	c := queues(2, knobs(1, 1), ms, 0)
	short := simulated(t, c, Load{Rate: 500, Duration: 100 * time.Second, Warmup: time.Second, Seed: 1})
	long := simulated(t, c, Load{Rate: 500, Duration: 600 * time.Second, Warmup: time.Second, Seed: 1})
	if long.Simulated != 600*time.Second || math.Abs(float64(long.Requests)-3e5) > 3000 {
		t.Errorf("%d requests in %v", long.Requests, long.Simulated)
	}
	if long.MeanHigh-long.MeanLow >= short.MeanHigh-short.MeanLow {
		t.Errorf("six times as long, and the mean is no closer: %v to %v", long.MeanLow, long.MeanHigh)
	}
	few := simulated(t, c, Load{Rate: 500, Duration: 600 * time.Second, Warmup: time.Second, Seed: 1, Requests: 10_000})
	if few.Requests > 10_300 || few.Requests < 9000 || few.Simulated > 21*time.Second {
		t.Errorf("%d requests of 10,000, in %v", few.Requests, few.Simulated)
	}
}

func TestACancelledRunEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := Run(ctx, queues(1, knobs(1, 1), time.Microsecond, 0), Load{Rate: 900_000, Duration: 100 * time.Hour})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestWhatIsNoClusterIsRefused(t *testing.T) {
	t.Parallel()
	good := Load{Rate: 1, Duration: time.Second}
	for _, c := range []struct {
		name   string
		change func(c *Cluster, l *Load)
		want   string
	}{
		{"rate and sessions", func(_ *Cluster, l *Load) { l.Sessions = 1 }, "either a rate or sessions"},
		{"NaN", func(_ *Cluster, l *Load) { l.Rate = math.NaN() }, "either a rate or sessions"},
		{"no duration", func(_ *Cluster, l *Load) { l.Duration = 0 }, "duration 0s"},
		{"vectors", func(_ *Cluster, l *Load) { l.NQ = 1 << 20 }, "at most 16384 vectors"},
		{"no nodes", func(c *Cluster, _ *Load) { c.Nodes = nil }, "no nodes"},
		{"cores unknown", func(c *Cluster, _ *Load) { c.Nodes[0].Read.Cores = 0 }, "node querynode-7 has 0 cores: the number must be known"},
		{"leader", func(c *Cluster, _ *Load) { c.Collections[0].Replicas[0][0].Leader = 2 }, "leader 2 of 2 nodes"},
		{"segment", func(c *Cluster, _ *Load) { c.Collections[0].Replicas[0][0].Segments[0].Node = -1 }, "a segment on node -1 of 2"},
		{"weight", func(c *Cluster, _ *Load) { c.Collections[0].Weight = 0 }, "no collection has a share"},
		{"no limit", func(c *Cluster, l *Load) {
			c.Nodes[0].Overhead, c.Nodes[1].Overhead, c.Wire, c.Proxy = 0, 0, 0, 0
			c.Collections[0].Replicas[0][0].Segments = nil
			l.Rate, l.Sessions = 0, 1
		}, "the load has no limit"},
	} {
		cluster, l := pair(schedule.Defaults("", 2), 1, 0), good
		c.change(cluster, &l)
		if _, err := Run(context.Background(), cluster, l); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// Sessions that could have more tasks under way than are kept are refused: an outcome of what was left out would be none.
func TestTooManyTasksAtOnce(t *testing.T) {
	c := &Cluster{Nodes: make([]Node, 200)}
	var shard Shard
	for i := range c.Nodes {
		c.Nodes[i].Read = schedule.Defaults("2.4", 8)
		shard.Segments = append(shard.Segments, Segment{Node: i, Mean: time.Millisecond})
	}
	c.Collections = []Collection{{Name: "docs", Weight: 1, Replicas: [][]Shard{{shard}}}}
	_, err := Run(t.Context(), c, Load{Sessions: 5001, Duration: time.Second, Requests: 10})
	if err == nil || !strings.Contains(err.Error(), "5001 sessions with 200 tasks per request exceed 1000000 tasks at once") {
		t.Errorf("%v", err)
	}
	if o, err := Run(t.Context(), c, Load{Sessions: 100, Duration: time.Second, Requests: 200}); err != nil || o.Requests == 0 {
		t.Errorf("%+v, %v", o, err)
	}
}
