package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"kitescope/tools/e2e/lab"
)

// decoys returns events that every cluster goes through. They must not cause a finding of severity warning or
// above.
func decoys() []*Kind {
	ofCollections := func(d *dice) Args { return Args{Collection: pick(d, loaded)} }
	return []*Kind{
		decoy("inserts and a flush", 3, ofCollections, func(ctx context.Context, l *Lab, a Args) error {
			return errors.Join(l.Client(ctx, 60*time.Second, "insert", a.Collection, "250", "12"),
				l.Client(ctx, 90*time.Second, "flush", a.Collection))
		}),
		decoy("searches", 3, func(d *dice) Args { return Args{Value: strconv.Itoa(1 + d.r.IntN(4))} },
			func(ctx context.Context, l *Lab, a Args) error {
				return l.StartClient(ctx, "search", "35", a.Value)
			}),
		decoy("deletes and a compaction", 3, ofCollections, func(ctx context.Context, l *Lab, a Args) error {
			return l.Client(ctx, 120*time.Second, "delete", a.Collection, "200")
		}),
		decoy("index built anew", 3, func(d *dice) Args {
			return Args{
				Collection: pick(d, []string{"photos_cos", "songs_ip"}),
				What:       pick(d, []string{"HNSW", "IVF_SQ8", "IVF_FLAT"}),
			}
		}, func(ctx context.Context, l *Lab, a Args) error {
			return l.StartClient(ctx, "reindex", a.Collection, a.What)
		}),
		decoy("released and loaded", 3, ofCollections, func(ctx context.Context, l *Lab, a Args) error {
			return errors.Join(l.Client(ctx, 60*time.Second, "release", a.Collection), lab.Sleep(ctx, 12*time.Second),
				l.Client(ctx, 120*time.Second, "load", a.Collection, "100"))
		}),
		partReleased(),
		decoy("altered", 1, ofCollections, func(ctx context.Context, l *Lab, a Args) error {
			return l.Client(ctx, 60*time.Second, "alter", a.Collection)
		}),
		decoy("collections come and go", 4, func(d *dice) Args { return Args{Value: strconv.Itoa(d.r.IntN(1000))} },
			func(ctx context.Context, l *Lab, a Args) error {
				return l.StartClient(ctx, "churn", "45", a.Value)
			}),
		decoy("etcd compacted and defragmented", 1, noArgs, func(ctx context.Context, l *Lab, _ Args) error {
			_, err := l.Etcdctl(ctx, "defrag")
			return err
		}),
		nodeAddedAndRemoved(),
	}
}

func decoy(name string, weight int, draw func(*dice) Args, inject func(context.Context, *Lab, Args) error) *Kind {
	return &Kind{
		Name: name, Weight: weight, Decoy: true, Draw: draw, Inject: inject,
		Targets: func(a Args) []string { return []string{a.Collection, "clients"} },
		Want:    func(Args) Want { return Want{} },
		Observe: func(context.Context, *Lab, Args) Observation {
			return Observation{Present: true, What: "nothing is wrong"}
		},
		Heal:  func(_ context.Context, l *Lab, _ Args) error { l.EndBackground(true); return nil },
		Limit: 25 * time.Second, Hold: 25 * time.Second,
	}
}

func partReleased() *Kind {
	k := decoy("partition released by hand", 2, func(*dice) Args { return Args{Collection: "pages_pq"} },
		func(ctx context.Context, l *Lab, a Args) error {
			return l.Client(ctx, 60*time.Second, "part", a.Collection, "release")
		})
	k.Heal = func(ctx context.Context, l *Lab, a Args) error {
		return l.Client(ctx, 120*time.Second, "part", a.Collection, "load")
	}
	return k
}

// nodeAddedAndRemoved adds a query node and removes it like Kubernetes does. A finding about it is allowed while
// it stops.
func nodeAddedAndRemoved() *Kind {
	k := decoy("query node added, then taken away", 3, noArgs, func(ctx context.Context, l *Lab, _ Args) error {
		return l.EnsureRunning(ctx, "querynode4")
	})
	k.Alone = true
	k.Want = func(Args) Want { return Want{Follow: []string{"stopping-node-serving"}} }
	k.Heal = func(ctx context.Context, l *Lab, _ Args) error { return l.StopGracefully(ctx, "querynode4") }
	k.Limit, k.Hold = 60*time.Second, 60*time.Second
	k.Observe = func(context.Context, *Lab, Args) Observation {
		return Observation{Present: true, What: fmt.Sprintf("querynode4 joined at %d", lab.Ports["querynode4"].GRPC)}
	}
	return k
}
