package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// Fault is something that happens to a cluster that is well.
type Fault struct {
	Name, What string
	// Events are the kinds of events of which history has to have one, about something that one of Objects names. What begins with @ is
	// a process of the lab, and stands for its session.
	Events, Objects []string
	// Checks are those of which one reports it; none: nothing is wrong then.
	Checks []string
	// Late is how long it may take by itself until it is to be seen: a lease runs for 30 seconds after its process died.
	Late time.Duration
	// Held is how long it lasts until it is looked at and mended.
	Held         time.Duration
	Inject, Mend action
}

type action func(ctx context.Context, l *lab.Lab) error

const lease = 35 * time.Second // 30 s, and what etcd and Milvus take to notice

// faults are all, in an order in which each leaves what the next one needs.
func faults() []*Fault {
	return append(append(nodes(), metadata()...), slow()...)
}

// nodes are those of processes.
func nodes() []*Fault {
	return []*Fault{
		{
			Name: "node-killed", What: "a query node is killed", Events: []string{"node_lost", "node_left"}, Objects: []string{"@querynode2"},
			Checks: []string{"node-unreachable", "replica-dead-node", "shard-leaderless", "shard-not-serviceable", "stale-session"}, Late: lease, Held: 60 * time.Second,
			Inject: send("querynode2", syscall.SIGKILL), Mend: bring("querynode2"),
		},
		{
			Name: "node-stopped", What: "a query node is told to end (SIGTERM)", Events: []string{"node_stopping", "node_left"}, Objects: []string{"@querynode3"},
			Checks: []string{"node-stopping"}, Late: 5 * time.Second, Held: 25 * time.Second,
			Inject: send("querynode3", syscall.SIGTERM), Mend: bring("querynode3"),
		},
		{
			Name: "node-joined", What: "a fourth query node starts", Events: []string{"node_joined"}, Objects: []string{"querynode"},
			Late: 20 * time.Second, Held: 40 * time.Second, Inject: bring("querynode4"), Mend: leave("querynode4"),
		},
		{
			Name: "coordinator-killed", What: "QueryCoord is killed", Events: []string{"node_left", "node_lost"}, Objects: []string{"@querycoord"},
			Checks: []string{"role-missing", "node-unreachable"}, Late: lease, Held: 60 * time.Second,
			Inject: send("querycoord", syscall.SIGKILL), Mend: bring("querycoord"),
		},
		{
			Name: "index-node-killed", What: "the index node is killed", Events: []string{"node_lost", "node_left"}, Objects: []string{"@indexnode"},
			Checks: []string{"role-missing", "node-unreachable"}, Late: lease, Held: 60 * time.Second,
			Inject: send("indexnode", syscall.SIGKILL), Mend: bring("indexnode"),
		},
	}
}

// metadata are those of what clients and operators do.
func metadata() []*Fault {
	return []*Fault{
		{
			Name: "auto-balance-off", What: "`queryCoord.autoBalance` false in etcd", Events: []string{"config_changed"}, Objects: []string{"queryCoord/autoBalance", "queryCoord.autoBalance"},
			Checks: []string{"auto-balance-off", "bad-switches"}, Held: 30 * time.Second, Inject: put("queryCoord/autoBalance", "false"), Mend: del("queryCoord/autoBalance"),
		},
		{
			Name: "config-changed", What: "`queryNode.scheduler.maxReadConcurrentRatio` 0.1 in etcd", Events: []string{"config_changed"}, Objects: []string{"maxReadConcurrentRatio"},
			Checks: []string{"bad-switches"}, Held: 30 * time.Second,
			Inject: put("queryNode/scheduler/maxReadConcurrentRatio", "0.1"), Mend: del("queryNode/scheduler/maxReadConcurrentRatio"),
		},
		{
			Name: "released", What: "a collection is released", Events: []string{"collection_released"}, Objects: []string{"wide"}, Held: 10 * time.Second,
			Inject: client(time.Minute, "release", "wide"),
		},
		{
			Name: "index-dropped", What: "its index is dropped", Events: []string{"index_dropped"}, Objects: []string{"wide", "vec"}, Held: 10 * time.Second,
			Checks: []string{"collection-unindexed"}, Inject: client(time.Minute, "unindex", "wide"),
		},
		{
			Name: "dropped", What: "it is dropped", Events: []string{"collection_dropped"}, Objects: []string{"wide"}, Held: 10 * time.Second,
			Inject: client(time.Minute, "drop", "wide"),
		},
		{
			Name: "flush-storm", What: "forty flushes of 100 rows each", Events: []string{"segment_flushed", "segment_sealed", "segment_created"}, Objects: []string{"many", ""},
			Late: 20 * time.Second, Held: 20 * time.Second, Checks: []string{"small-segments"}, Inject: client(4*time.Minute, "storm", "many", "40", "100"),
		},
		{
			Name: "compaction", What: "they are compacted", Events: []string{"segment_compacted"}, Objects: []string{"many", ""},
			Late: 60 * time.Second, Held: 20 * time.Second, Inject: client(4*time.Minute, "compact", "many"),
		},
	}
}

// slow are those that take a while to be seen.
func slow() []*Fault {
	return []*Fault{
		{
			Name: "kafka-stopped", What: "Kafka is stopped (SIGSTOP)", Events: []string{"checkpoint_stopped"}, Objects: []string{"dml", ""},
			Checks: []string{"queue-unreachable", "timetick-lag", "channel-consumption-lag", "consistency-wait", "checkpoint-lag"}, Late: 30 * time.Second, Held: 150 * time.Second,
			Inject: send("kafka", syscall.SIGSTOP), Mend: send("kafka", syscall.SIGCONT),
		},
		{
			Name: "checkpoint-held", What: "the data node is stopped (SIGSTOP): checkpoints stand still", Events: []string{"checkpoint_stopped", "node_lost", "node_left"}, Objects: []string{"dml", "@datanode"},
			Checks: []string{"process-slow", "node-unreachable", "role-missing", "checkpoint-lag", "channel-unwatched"}, Late: lease, Held: 150 * time.Second,
			Inject: send("datanode", syscall.SIGSTOP), Mend: bring("datanode"),
		},
	}
}

func send(process string, s syscall.Signal) action {
	return func(_ context.Context, l *lab.Lab) error { return l.Signal(process, s) }
}

func bring(processes ...string) action {
	return func(ctx context.Context, l *lab.Lab) error { return l.Bring(ctx, processes...) }
}

func leave(process string) action {
	return func(ctx context.Context, l *lab.Lab) error { return l.Leave(ctx, process) }
}

func client(limit time.Duration, words ...string) action {
	return func(ctx context.Context, l *lab.Lab) error { return l.Client(ctx, limit, words...) }
}

func put(key, value string) action {
	return func(ctx context.Context, l *lab.Lab) error {
		_, err := l.Etcdctl(ctx, "put", "by-dev/config/"+key, value)
		return err
	}
}

func del(key string) action {
	return func(ctx context.Context, l *lab.Lab) error {
		_, err := l.Etcdctl(ctx, "del", "by-dev/config/"+key)
		return err
	}
}

// names are what each process of the lab is called by in history: its session.
func names(ctx context.Context, l *lab.Lab) (map[string]string, error) {
	sessions, err := l.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for process, s := range sessions {
		all[process] = s.Role + "-" + strconv.FormatInt(s.ID, 10)
	}
	if len(all) == 0 {
		return nil, errors.New("etcd has no sessions")
	}
	return all, nil
}

// words are the objects of a fault, processes by their sessions.
func (f *Fault) words(called map[string]string) ([]string, error) {
	var list []string
	for _, o := range f.Objects {
		if o == "" || o[0] != '@' {
			list = append(list, o)
			continue
		}
		name := called[o[1:]]
		if name == "" {
			return nil, fmt.Errorf("%s has no session", o[1:])
		}
		list = append(list, name)
	}
	return list, nil
}
