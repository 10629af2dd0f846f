package simulate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"kitescope/replay/schedule"
)

// TestQuota holds what is used of a quota, and how long work takes, against small steps of time.
func TestQuota(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const step = 1e-6
	for range 300 {
		q := quota{cores: 0.1 + 2*r.Float64(), most: 0.001 + 0.05*r.Float64()}
		q.left = q.most * r.Float64()
		for range 8 {
			used, seconds := 3*r.Float64(), 0.05*r.Float64()
			left, want := q.left, 0.0
			for range int(seconds / step) {
				left = min(q.most, left+step*q.cores)
				speed := min(1, left/(step*used))
				left -= step * speed * used
				want += step * speed
			}
			before := q
			got := q.spend(seconds, used)
			if math.Abs(got-want) > 2e-5 || math.Abs(q.left-left) > 2e-5 {
				t.Fatalf("%+v: %v s on %v cores: %v at full speed, %v left, in steps %v and %v", before, seconds, used, got, q.left, want, left)
			}
			if takes := before.takes(got, used); math.Abs(takes-seconds) > 1e-9 {
				t.Fatalf("%+v: %v s on %v cores take %v, not %v", before, got, used, takes, seconds)
			}
		}
	}
}

// TestShortWorkFitsIntoAQuota: a request that needs less than a node's share of a period goes at full speed, however small that share is; one that asks
// for more has to wait for it.
func TestShortWorkFitsIntoAQuota(t *testing.T) {
	at := func(limit float64, period, work, pause time.Duration) float64 {
		c := &Cluster{
			Nodes: []Node{{ID: 1, Limit: limit, Period: period, Read: schedule.Defaults("2.3.5", 2)}},
			Delay: pause,
			Collections: []Collection{{
				Name: "c", Weight: 1, Replicas: [][]Shard{{{Segments: []Segment{{Mean: work}}}}},
			}},
		}
		o, err := Run(t.Context(), c, Load{Sessions: 1, NQ: 1, K: 10, Duration: 20 * time.Second, Warmup: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return o.QPS
	}
	const ms = time.Millisecond
	for _, x := range []struct {
		name        string
		limit       float64
		period      time.Duration
		work, pause time.Duration
		least, most float64
	}{
		{"a quarter of the time is needed, 0.4 are there", 0.4, 100 * ms, ms, 3 * ms, 249, 251},
		{"in short periods as well", 0.4, 5 * ms, ms, 3 * ms, 249, 251},
		{"half of the time is needed, 0.4 are there", 0.4, 100 * ms, 2 * ms, 2 * ms, 195, 205},
		{"a long one waits for many periods", 0.25, 5 * ms, 50 * ms, 0, 4.9, 5.1},
	} {
		if got := at(x.limit, x.period, x.work, x.pause); got < x.least || got > x.most {
			t.Errorf("%s: %.1f requests per second, want %v to %v", x.name, got, x.least, x.most)
		}
	}
}
