package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

func noArgs(*dice) Args { return Args{} }

func serviceKinds() []*Kind {
	etcd := func(Args) []string { return []string{"etcd"} }
	noEtcd := func(Args) Want {
		return Want{
			Unreadable: true, Checks: []string{"etcd-unreachable", "etcd-no-leader"},
			Names: [][]string{{"etcd", lab.EtcdAddress}},
		}
	}
	return append(queueKinds(), []*Kind{
		{
			Name: "etcd hung", Weight: 3, Draw: noArgs, Targets: etcd, Want: noEtcd, Alone: true,
			Inject:  func(_ context.Context, l *Lab, _ Args) error { return l.Signal("etcd", syscall.SIGSTOP) },
			Observe: etcdSilent, Limit: 15 * time.Second, Hold: 12 * time.Second,
			Heal: func(ctx context.Context, l *Lab, _ Args) error {
				if err := l.Signal("etcd", syscall.SIGCONT); err != nil {
					return err
				}
				return restartLost(ctx, l)
			},
		},
		{
			Name: "etcd killed and restarted", Weight: 3, Draw: noArgs, Targets: etcd, Want: noEtcd, Alone: true,
			Inject:  func(ctx context.Context, l *Lab, _ Args) error { return l.StopEtcd(ctx) },
			Observe: etcdSilent, Limit: 10 * time.Second, Hold: 8 * time.Second,
			Heal: func(ctx context.Context, l *Lab, _ Args) error {
				if err := l.StartEtcd(ctx); err != nil {
					return err
				}
				return restartLost(ctx, l)
			},
		},
		{
			Name: "etcd full", Weight: 4, Draw: noArgs, Targets: etcd, Alone: true,
			Want: func(Args) Want {
				return Want{
					Checks: []string{"etcd-alarm", "etcd-size"}, Names: [][]string{{"NOSPACE", "quota", "space"}},
					Follow: []string{"etcd-size", "etcd-alarm", "checkpoint-lag", "clock-regression", "timetick-lag"},
				}
			},
			Inject: fillEtcd, Limit: 20 * time.Second, Hold: 20 * time.Second, Heal: emptyEtcd,
			Observe: func(ctx context.Context, l *Lab, _ Args) Observation {
				text, err := l.Etcdctl(ctx, "alarm", "list")
				return Observation{
					Present: strings.Contains(string(text), "NOSPACE"),
					What:    fmt.Sprintf("alarms: %s %v", strings.TrimSpace(string(text)), errors.Unwrap(err)),
				}
			},
		},
	}...)
}

func queueKinds() []*Kind {
	queue := func(Args) []string { return []string{"queue"} }
	wantQueue := func(Args) Want {
		return Want{
			Checks: []string{"queue-unreachable"}, Names: [][]string{{"kafka", "queue", lab.KafkaAddress}},
			Follow: append([]string{"queue-lag", "channel-consumption-lag", "quota-denied"},
				consequences["rootcoord"]...),
		}
	}
	return []*Kind{
		{
			Name: "queue hung", Weight: 4, Draw: noArgs, Targets: queue, Want: wantQueue,
			Inject: signalOf("kafka", syscall.SIGSTOP), Limit: 40 * time.Second, Hold: 30 * time.Second,
			Observe: func(_ context.Context, l *Lab, _ Args) Observation {
				return Observation{Present: l.State("kafka") == "T", What: "kafka is in state " + l.State("kafka")}
			},
			Heal: func(ctx context.Context, l *Lab, _ Args) error {
				if err := l.Signal("kafka", syscall.SIGCONT); err != nil {
					return err
				}
				return restartLost(ctx, l)
			},
		},
		{
			Name: "queue killed", Weight: 3, Draw: noArgs, Targets: queue, Want: wantQueue,
			Inject: signalOf("kafka", syscall.SIGKILL), Limit: 30 * time.Second, Hold: 20 * time.Second,
			Observe: func(_ context.Context, l *Lab, _ Args) Observation {
				return Observation{Present: l.State("kafka") == "", What: "kafka is dead"}
			},
			Heal: func(ctx context.Context, l *Lab, _ Args) error {
				if err := l.StartKafka(ctx); err != nil {
					return err
				}
				return restartLost(ctx, l)
			},
		},
		{
			Name: "topic deleted", Weight: 3, Targets: queue, Fresh: true, Alone: true,
			Draw: func(d *dice) Args { return Args{What: "by-dev-rootcoord-dml_" + strconv.Itoa(d.r.IntN(6))} },
			Want: func(a Args) Want {
				return Want{
					Checks: []string{"queue-lag", "queue-unreachable", "topic-missing"}, Names: [][]string{{a.What}},
					Follow: append([]string{"channel-consumption-lag"}, consequences["rootcoord"]...),
				}
			},
			Inject: func(ctx context.Context, l *Lab, a Args) error {
				err := l.KafkaTool(ctx, "org.apache.kafka.tools.TopicCommand", "--delete", "--topic", a.What)
				if err != nil {
					err = l.KafkaTool(ctx, "kafka.admin.TopicCommand", "--delete", "--topic", a.What)
				}
				return err
			},
			Observe: func(_ context.Context, _ *Lab, a Args) Observation {
				return Observation{Present: true, What: a.What + " was deleted with all that was in it"}
			},
			Heal: func(context.Context, *Lab, Args) error { return nil }, Limit: 90 * time.Second,
			Hold: 30 * time.Second,
		},
	}
}

func signalOf(process string, s syscall.Signal) func(context.Context, *Lab, Args) error {
	return func(_ context.Context, l *Lab, _ Args) error { return l.Signal(process, s) }
}

func etcdSilent(ctx context.Context, l *Lab, _ Args) Observation {
	err := l.PingEtcd(ctx)
	return Observation{Present: err != nil, What: fmt.Sprintf("etcdctl: %v", err)}
}

// restartLost waits for processes that lost their session to end, and starts them again.
func restartLost(ctx context.Context, l *Lab) error {
	if err := lab.Sleep(ctx, 10*time.Second); err != nil {
		return err
	}
	return bringBack(ctx, l, Args{Processes: lab.AllProcesses})
}

// filler is the prefix of keys outside Milvus's root path.
const filler = "chaos/filler/"

// fillEtcd restarts etcd with a small quota and fills it.
func fillEtcd(ctx context.Context, l *Lab, _ Args) error {
	if err := l.StopEtcd(ctx); err != nil {
		return err
	}
	info, err := os.Stat(l.Run() + "/etcd/member/snap/db")
	if err != nil {
		return err
	}
	if err := l.StartEtcd(ctx, "--quota-backend-bytes="+strconv.FormatInt(info.Size()+512<<10, 10)); err != nil {
		return err
	}
	for i := range 200 {
		if _, err := l.Etcdctl(ctx, "put", filler+strconv.Itoa(i), strings.Repeat("x", 60<<10)); err != nil {
			if strings.Contains(err.Error(), "database space exceeded") {
				return nil
			}
			return err
		}
	}
	return errors.New("etcd did not get full")
}

func emptyEtcd(ctx context.Context, l *Lab, _ Args) error {
	if err := l.StopEtcd(ctx); err != nil {
		return err
	}
	if err := l.StartEtcd(ctx, "--quota-backend-bytes=1073741824"); err != nil {
		return err
	}
	for _, words := range [][]string{{"alarm", "disarm"}, {"del", "--prefix", filler}, {"alarm", "disarm"}} {
		if _, err := l.Etcdctl(ctx, words...); err != nil {
			return err
		}
	}
	return restartLost(ctx, l)
}
