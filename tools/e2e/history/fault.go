package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// Fault is something that happens to a healthy cluster.
type Fault struct {
	Name, What string
	// Events lists kinds of events. The history must have an event of one of these kinds whose object Objects
	// names. A word that begins with @ is a process of the lab and stands for its session.
	Events, Objects []string
	// Keys lists the etcd keys whose first change shows when etcd knew of the fault. A key with @ is the
	// session of a process. A key with a hyphen at its end is a prefix. Without keys the fault is known at
	// once.
	Keys []string
	// Checks lists the checks of which one reports the fault. Without checks nothing is wrong.
	Checks []string
	// Early is how long before the injection the event may be dated. A stopped checkpoint is dated at its
	// last move.
	Early time.Duration
	// Late is how long after the mending the event may still come. A lease lasts 30 s after the death of its
	// process.
	Late time.Duration
	// Hold is the time from the injection to the look and the mending.
	Hold   time.Duration
	Inject injection
	Mend   action
}

type action func(ctx context.Context, l *lab.Lab) error

// injection injects a fault and returns the time right before the signal or the request was sent.
type injection func(ctx context.Context, l *lab.Lab) (time.Time, error)

const (
	lease            = 35 * time.Second // 30 s, plus the time until etcd and Milvus notice
	sessions, config = "by-dev/meta/session/", "by-dev/config/"
)

// faults returns all faults, in an order in which each leaves the state that the next one needs.
func faults() []*Fault {
	return append(append(nodes(), metadata()...), slow()...)
}

// nodes returns the faults of processes.
func nodes() []*Fault {
	return []*Fault{
		{
			// The look is while the session lasts, which is 20 s or more. Five seconds after that, the other
			// nodes serve its segments and nothing is wrong.
			Name: "node-killed", What: "a query node is killed", Events: []string{"node_lost", "node_left"},
			Objects: []string{"@querynode2"}, Keys: []string{"@querynode2"},
			Checks: []string{
				"node-unreachable", "replica-dead-node", "no-shard-leader", "shard-not-serviceable", "stale-session",
			}, Late: lease, Hold: 3 * time.Second,
			Inject: injectSignal("querynode2", syscall.SIGKILL), Mend: bring("querynode2"),
		},
		{
			Name: "node-stopped", What: "a query node is terminated (SIGTERM)",
			Events: []string{"node_stopping", "node_left"}, Objects: []string{"@querynode3"},
			Keys:   []string{"@querynode3"},
			Checks: []string{"node-stopping"}, Late: 5 * time.Second, Hold: 25 * time.Second,
			Inject: injectSignal("querynode3", syscall.SIGTERM), Mend: bring("querynode3"),
		},
		{
			Name: "node-joined", What: "a fourth query node starts", Events: []string{"node_joined"},
			Objects: []string{"querynode"}, Keys: []string{sessions + "querynode-"},
			Late: 20 * time.Second, Hold: 40 * time.Second, Inject: injectNow(bring("querynode4")),
			Mend: leave("querynode4"),
		},
		{
			Name: "coordinator-killed", What: "QueryCoord is killed", Events: []string{"node_left", "node_lost"},
			Objects: []string{"@querycoord"}, Keys: []string{"@querycoord"},
			Checks: []string{"role-missing", "node-unreachable"}, Late: lease, Hold: 45 * time.Second,
			Inject: injectSignal("querycoord", syscall.SIGKILL), Mend: bring("querycoord"),
		},
		{
			Name: "index-node-killed", What: "the index node is killed", Events: []string{"node_lost", "node_left"},
			Objects: []string{"@indexnode"}, Keys: []string{"@indexnode"},
			Checks: []string{"role-missing", "node-unreachable"}, Late: lease, Hold: 45 * time.Second,
			Inject: injectSignal("indexnode", syscall.SIGKILL), Mend: bring("indexnode"),
		},
	}
}

// metadata returns the faults that clients and operators cause.
func metadata() []*Fault {
	return []*Fault{
		{
			Name: "auto-balance-off", What: "`queryCoord.autoBalance` false in etcd",
			Events: []string{"config_changed"}, Objects: []string{"queryCoord/autoBalance", "queryCoord.autoBalance"},
			Keys:   []string{config + "queryCoord/autoBalance"},
			Checks: []string{"auto-balance-off", "bad-switches"}, Hold: 30 * time.Second,
			Inject: injectNow(put("queryCoord/autoBalance", "false")), Mend: del("queryCoord/autoBalance"),
		},
		{
			Name: "config-changed", What: "`queryNode.scheduler.maxReadConcurrentRatio` 0.1 in etcd",
			Events: []string{"config_changed"}, Objects: []string{"maxReadConcurrentRatio"},
			Keys:   []string{config + "queryNode/scheduler/maxReadConcurrentRatio"},
			Checks: []string{"bad-switches"}, Hold: 30 * time.Second,
			Inject: injectNow(put("queryNode/scheduler/maxReadConcurrentRatio", "0.1")),
			Mend:   del("queryNode/scheduler/maxReadConcurrentRatio"),
		},
		{
			Name: "released", What: "a collection is released", Events: []string{"collection_released"},
			Objects: []string{"wide"}, Hold: 10 * time.Second,
			Inject: injectRequest(time.Minute, "release", "wide"),
		},
		{
			Name: "index-dropped", What: "the index of a collection is dropped",
			Events: []string{"index_dropped"}, Objects: []string{"wide", "vec"}, Hold: 10 * time.Second,
			Checks: []string{"collection-unindexed"}, Inject: injectRequest(time.Minute, "unindex", "wide"),
		},
		{
			Name: "dropped", What: "a collection is dropped",
			Events: []string{"collection_dropped"}, Objects: []string{"wide"}, Hold: 10 * time.Second,
			Inject: injectRequest(time.Minute, "drop", "wide"),
		},
		{
			Name: "flush-storm", What: "forty flushes of 100 rows each",
			Events: []string{"segment_flushed", "segment_sealed", "segment_created"}, Objects: []string{"many"},
			Late: 20 * time.Second, Hold: 20 * time.Second, Checks: []string{"small-segments"},
			Inject: injectRequest(4*time.Minute, "storm", "many", "40", "100"),
		},
		{
			Name: "compaction", What: "the flushed segments are compacted",
			Events: []string{"segment_compacted"}, Objects: []string{"many"},
			Late: 60 * time.Second, Hold: 20 * time.Second, Inject: injectRequest(4*time.Minute, "compact", "many"),
		},
	}
}

// slow returns the faults that are detected late. A checkpoint is written once a minute and counts as stopped
// after three minutes without one.
func slow() []*Fault {
	const minute, still = 65 * time.Second, 220 * time.Second
	return []*Fault{
		{
			Name: "kafka-stopped", What: "Kafka is stopped (SIGSTOP)", Events: []string{"checkpoint_stopped"},
			Objects: []string{"dml"},
			Checks: []string{
				"queue-unreachable", "timetick-lag", "channel-consumption-lag", "consistency-wait", "checkpoint-lag",
			}, Early: minute, Hold: still,
			Inject: injectSignal("kafka", syscall.SIGSTOP), Mend: send("kafka", syscall.SIGCONT),
		},
		{
			Name: "checkpoint-held", What: "the data node is stopped (SIGSTOP): checkpoints do not advance",
			Events: []string{"checkpoint_stopped", "node_lost", "node_left"}, Objects: []string{"dml", "@datanode"},
			Keys:   []string{"@datanode"},
			Checks: []string{"process-slow", "node-unreachable", "role-missing", "checkpoint-lag", "channel-unwatched"},
			Early:  minute, Late: lease, Hold: still,
			Inject: injectSignal("datanode", syscall.SIGSTOP), Mend: bring("datanode"),
		},
	}
}

func send(process string, s syscall.Signal) action {
	return func(_ context.Context, l *lab.Lab) error { return l.Signal(process, s) }
}

func injectSignal(process string, s syscall.Signal) injection { return injectNow(send(process, s)) }

// injectNow turns an action into an injection that takes effect at once.
func injectNow(do action) injection {
	return func(ctx context.Context, l *lab.Lab) (time.Time, error) {
		at := time.Now().UTC()
		return at, do(ctx, l)
	}
}

func bring(processes ...string) action {
	return func(ctx context.Context, l *lab.Lab) error { return l.EnsureRunning(ctx, processes...) }
}

func leave(process string) action {
	return func(ctx context.Context, l *lab.Lab) error { return l.StopGracefully(ctx, process) }
}

// injectRequest returns an injection by a client, which reports when it begins.
func injectRequest(limit time.Duration, words ...string) injection {
	return func(ctx context.Context, l *lab.Lab) (time.Time, error) { return l.ClientStarted(ctx, limit, words...) }
}

func put(key, value string) action {
	return func(ctx context.Context, l *lab.Lab) error {
		_, err := l.Etcdctl(ctx, "put", config+key, value)
		return err
	}
}

func del(key string) action {
	return func(ctx context.Context, l *lab.Lab) error {
		_, err := l.Etcdctl(ctx, "del", config+key)
		return err
	}
}

// words returns the objects of a fault, with processes named by their sessions as in the history.
func (f *Fault) words(sessions map[string]lab.Session) ([]string, error) {
	return resolveNames(f.Objects, sessions, func(s *lab.Session) string {
		return s.Role + "-" + strconv.FormatInt(s.ID, 10)
	})
}

// keys returns the keys whose first change shows when etcd knew of the fault.
func (f *Fault) keys(sessions map[string]lab.Session) ([]string, error) {
	return resolveNames(f.Keys, sessions, func(s *lab.Session) string { return s.Key })
}

// resolveNames replaces each @process by the name of its session.
func resolveNames(list []string, sessions map[string]lab.Session, name func(*lab.Session) string) ([]string, error) {
	var words []string
	for _, o := range list {
		process, ok := strings.CutPrefix(o, "@")
		if !ok {
			words = append(words, o)
			continue
		}
		s, ok := sessions[process]
		if !ok {
			return nil, fmt.Errorf("%s has no session", process)
		}
		words = append(words, name(&s))
	}
	return words, nil
}
