package main

import (
	"context"
	"errors"
	"time"

	"kitescope/tools/e2e/lab"
)

// Want describes the verdict that an on-call person needs first.
type Want struct {
	// Nothing is set if the cluster works as configured. No finding may be first then.
	Nothing bool
	// Phases lists phases of which one has to be first. Any phase may be first if the list is empty.
	Phases []string
	// Words has one list for each thing to be named. The first verdict must contain one word of each list. A
	// word that begins with @ is a process of the lab and stands for its session and its address.
	Words [][]string
	// Never lists phases that must not be first.
	Never []string
}

type action func(ctx context.Context, l *lab.Lab) error

// Situation is a cause of latency in a healthy cluster. The first stream of Load is measured.
type Situation struct {
	Name, What, Cure string
	Want             Want
	Load             []lab.Stream
	// Set creates the cause before the load begins. During creates it under load.
	Set, During action
	// Mend removes the cause. FixedLoad is the load after that, if the cause is in the requests. Without both
	// there is nothing to cure.
	Mend      action
	FixedLoad []lab.Stream
	// Restore returns the cluster to the state that the next situation expects.
	Restore action
}

// hasCure reports whether the situation has a cure.
func (s *Situation) hasCure() bool { return s.Mend != nil || s.FixedLoad != nil }

func docs(consistency string) lab.Stream {
	return lab.Stream{
		Request: "search", Collection: "docs", Threads: 2, NQ: 60, Limit: 10, Params: map[string]int{"ef": 64},
		Consistency: consistency, Pause: 0.03,
	}
}

var (
	inserts = lab.Stream{Request: "insert", Collection: "docs", Threads: 1, Batch: 10, Pause: 0.3}
	pics    = lab.Stream{Request: "search", Collection: "pics", Threads: 2, NQ: 100, Limit: 10, Pause: 0.05}
)

// situations returns all situations, in an order in which each leaves the state that the next one needs.
func situations() []*Situation {
	consistency := Want{Phases: []string{"consistency_wait"}}
	return []*Situation{
		{
			Name: "healthy", What: "HNSW, two threads, Bounded, no inserts", Want: Want{Nothing: true},
			Load: []lab.Stream{docs("Bounded")},
		},
		{
			Name: "bounded-inserts", What: "Bounded consistency, with inserts", Want: Want{Nothing: true},
			Load: []lab.Stream{docs("Bounded"), inserts}, Restore: recreateDocs,
		},
		{
			Name: "strong", What: "Strong consistency, no inserts", Cure: "Bounded", Want: consistency,
			Load: []lab.Stream{docs("Strong")}, FixedLoad: []lab.Stream{docs("Bounded")},
		},
		{
			Name: "strong-inserts", What: "Strong consistency, with inserts", Cure: "Bounded", Want: consistency,
			Load: []lab.Stream{docs("Strong"), inserts}, FixedLoad: []lab.Stream{docs("Bounded"), inserts},
			Restore: recreateDocs,
		},
		topk(), nq(), slowNode(), duty(), scheduler(), kafka(), proxy(), growing(), small(), oneLeader(),
	}
}

func topk() *Situation {
	wide := lab.Stream{
		Request: "search", Collection: "wide", Threads: 1, NQ: 1, Limit: 16384, Fields: []string{"vec"}, Different: 4,
	}
	less := wide
	less.Limit, less.Fields = 100, nil
	return &Situation{
		Name: "topk", What: "16,384 results, with their vectors", Cure: "100 results, without vectors",
		Want: Want{Words: [][]string{{"topk", "top k", "limit", "vectors returned", "output field"}}},
		Load: []lab.Stream{wide}, FixedLoad: []lab.Stream{less},
	}
}

func nq() *Situation {
	many := docs("Bounded")
	many.NQ, many.Threads, many.Different = 1000, 1, 4
	few := many
	few.NQ = 10
	return &Situation{
		Name: "nq", What: "1,000 vectors in a search", Cure: "10 vectors in a search",
		Want: Want{
			Phases: []string{"kernel_sealed", "read_queue", "thread_wait"},
			Words:  [][]string{{"nq", "vectors a search", "vectors in a search", "query vectors"}},
		},
		Load: []lab.Stream{many}, FixedLoad: []lab.Stream{few},
	}
}

func slowNode() *Situation {
	return &Situation{
		Name: "slow-node", What: "a query node limited to 0.2 cores by a cgroup", Cure: "no limit",
		Want: Want{Words: [][]string{{"@querynode2"}}},
		Load: []lab.Stream{pics},
		Set:  func(_ context.Context, l *lab.Lab) error { return l.Limit("querynode2", 0.2) },
		Mend: takeBack,
	}
}

func duty() *Situation {
	return &Situation{
		Name: "stopped-node", What: "a query node stopped and continued, running 20% of each half second",
		Cure: "left running",
		Want: Want{Words: [][]string{{"@querynode2"}}},
		Load: []lab.Stream{pics},
		Set: func(ctx context.Context, l *lab.Lab) error {
			l.DutyCycle(ctx, "querynode2", 500*time.Millisecond, 80)
			return nil
		},
		Mend: takeBack,
	}
}

// scheduler returns a situation in which each node runs one search at a time. The collection has one segment,
// so processors are idle.
func scheduler() *Situation {
	return &Situation{
		Name: "scheduler",
		What: "`queryNode.scheduler.maxReadConcurrentRatio` 0.1, so one task at a time on each node, of six threads",
		Cure: "4",
		Want: Want{
			Phases: []string{"read_queue"},
			Words:  [][]string{{"maxreadconcurrentratio", "read scheduler", "scheduler"}},
		},
		Load: []lab.Stream{{Request: "search", Collection: "one", Threads: 6, NQ: 1, Limit: 10, Filtered: true}},
		Set:  setting("queryNode/scheduler/maxReadConcurrentRatio", "0.1"),
		Mend: setting("queryNode/scheduler/maxReadConcurrentRatio", "4"),
		Restore: func(ctx context.Context, l *lab.Lab) error {
			_, err := l.Etcdctl(ctx, "del", "by-dev/config/queryNode/scheduler/maxReadConcurrentRatio")
			return err
		},
	}
}

func kafka() *Situation {
	return &Situation{
		Name: "kafka",
		What: "Kafka stopped for 2 s and continued for 1 s, again and again; Strong consistency, inserts",
		Cure: "left running",
		Want: Want{
			Phases: []string{"consistency_wait"}, Words: [][]string{{"kafka", "queue", "timetick", "time tick"}},
		},
		Load: []lab.Stream{docs("Strong"), inserts},
		During: func(ctx context.Context, l *lab.Lab) error {
			l.DutyCycle(ctx, "kafka", 3*time.Second, 67)
			return nil
		},
		Mend: takeBack, Restore: recreateDocs,
	}
}

func proxy() *Situation {
	s := docs("Bounded")
	s.Threads, s.NQ, s.Pause = 8, 1, 0
	return &Situation{
		Name: "proxy", What: "a proxy limited to 0.1 cores by a cgroup", Cure: "no limit",
		Want: Want{Words: [][]string{{"@proxy", "proxy"}, {"cpu", "core", "processor"}}},
		Load: []lab.Stream{s},
		Set:  func(_ context.Context, l *lab.Lab) error { return l.Limit("proxy", 0.1) },
		Mend: takeBack,
	}
}

func growing() *Situation {
	return &Situation{
		Name: "growing", What: "120,000 of 123,000 rows growing, searched by brute force",
		Cure: "flushed, with an HNSW index",
		Want: Want{Phases: []string{"kernel_growing"}},
		Load: []lab.Stream{
			{
				Request: "search", Collection: "grow", Threads: 2, NQ: 60, Limit: 10, Params: map[string]int{"ef": 64},
				Pause: 0.05,
			},
		},
		Set:  client(3*time.Minute, "grow", "grow", "120000"),
		Mend: client(8*time.Minute, "seal", "grow"),
	}
}

func small() *Situation {
	return &Situation{
		Name: "small-segments", What: "60 segments of 400 rows", Cure: "compacted",
		Want: Want{Words: [][]string{{"segments"}, {"small", "compact"}}},
		Load: []lab.Stream{
			{
				Request: "search", Collection: "many", Threads: 2, NQ: 20, Limit: 10, Params: map[string]int{"ef": 64},
				Pause: 0.05,
			},
		},
		Set:  client(6*time.Minute, "pieces", "many", "60", "400"),
		Mend: client(8*time.Minute, "compact", "many"),
	}
}

// oneLeader returns a situation in which one node leads all shards. The other nodes are restarted with auto-balance
// off, so their shards stay on the remaining node. All rows are growing, and only leaders hold growing rows.
// Each node is limited to a part of a core, so the leader is short of CPU time and not the machine.
func oneLeader() *Situation {
	const auto = "queryCoord/autoBalance"
	nodes := lab.QueryNodes[1:]
	return &Situation{
		Name: "one-leader",
		What: "all six shards led by one node, with 60,000 growing rows; each query node has 0.3 cores",
		Cure: "loaded again, on the nodes that lead nothing",
		Want: Want{Words: [][]string{{"@querynode1"}, {"lead", "shard"}}},
		Load: []lab.Stream{{Request: "search", Collection: "led", Threads: 4, NQ: 10, Limit: 10}},
		Set: func(ctx context.Context, l *lab.Lab) error {
			if err := setting(auto, "false")(ctx, l); err != nil {
				return err
			}
			if err := client(3*time.Minute, "make", "led")(ctx, l); err != nil {
				return err
			}
			for _, n := range nodes {
				if err := l.StopGracefully(ctx, n); err != nil {
					return err
				}
			}
			if err := l.EnsureRunning(ctx, nodes...); err != nil {
				return err
			}
			return errors.Join(client(3*time.Minute, "grow", "led", "60000")(ctx, l), limitAll(l, 0.3))
		},
		Mend: client(3*time.Minute, "reload", "led"),
		Restore: func(ctx context.Context, l *lab.Lab) error {
			l.UndoAll()
			_, err := l.Etcdctl(ctx, "del", "by-dev/config/"+auto)
			return errors.Join(err, client(time.Minute, "drop", "led")(ctx, l))
		},
	}
}

func limitAll(l *lab.Lab, cores float64) error {
	var errs error
	for _, n := range lab.QueryNodes {
		errs = errors.Join(errs, l.Limit(n, cores))
	}
	return errs
}

func takeBack(_ context.Context, l *lab.Lab) error {
	l.UndoAll()
	return nil
}

func client(limit time.Duration, words ...string) action {
	return func(ctx context.Context, l *lab.Lab) error { return l.Client(ctx, limit, words...) }
}

// recreateDocs recreates the collection that received inserts, because growing rows are searched row by row.
func recreateDocs(ctx context.Context, l *lab.Lab) error {
	return client(3*time.Minute, "make", "docs")(ctx, l)
}

// setting returns an action that changes a setting of all processes at runtime through etcd, which they poll
// every five seconds.
func setting(key, value string) action {
	return func(ctx context.Context, l *lab.Lab) error {
		if _, err := l.Etcdctl(ctx, "put", "by-dev/config/"+key, value); err != nil {
			return err
		}
		return lab.Sleep(ctx, 12*time.Second)
	}
}
