package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// setting is a key below config/ that someone left in etcd.
type setting struct{ key, value string }

var settings = []setting{
	{"dataCoord/enableCompaction", "false"},
	{"dataCoord/compaction/enableAutoCompaction", "false"},
	{"quotaAndLimits/limitWriting/forceDeny", "true"},
	{"quotaAndLimits/limitReading/forceDeny", "true"},
}

func metadataKinds() []*Kind {
	return []*Kind{settingInEtcd(), nodeWithoutBalance(), loadRecordRemoved(), noIndexNode()}
}

func settingInEtcd() *Kind {
	return &Kind{
		Name: "setting in etcd", Weight: 8, Targets: func(a Args) []string { return []string{"config"} },
		Draw: func(d *dice) Args {
			s := pick(d, settings)
			return Args{What: s.key, Value: s.value}
		},
		Want: func(a Args) Want {
			last := a.What[strings.LastIndex(a.What, "/")+1:]
			return Want{
				Checks: []string{"bad-switches", "quota-denied"},
				Names:  [][]string{{last, strings.ReplaceAll(a.What, "/", ".")}},
				Follow: []string{"quota-denied", "bad-switches"},
			}
		},
		Inject: func(ctx context.Context, l *Lab, a Args) error {
			l.Undo(func() error {
				_, err := l.Etcdctl(context.WithoutCancel(ctx), "del", "by-dev/config/"+a.What)
				return err
			})
			_, err := l.Etcdctl(ctx, "put", "by-dev/config/"+a.What, a.Value)
			return err
		},
		Observe: func(ctx context.Context, l *Lab, a Args) Observation {
			text, err := l.Etcdctl(ctx, "get", "--print-value-only", "by-dev/config/"+a.What)
			return Observation{
				Present: err == nil && strings.TrimSpace(string(text)) == a.Value,
				What:    "by-dev/config/" + a.What + " is " + strings.TrimSpace(string(text)),
			}
		},
		Heal:  func(_ context.Context, l *Lab, _ Args) error { l.UndoAll(); return nil },
		Limit: 30 * time.Second, Hold: 20 * time.Second,
	}
}

func nodeWithoutBalance() *Kind {
	return &Kind{
		Name: "node added, auto-balance off", Weight: 2,
		Targets: func(Args) []string { return []string{"config", "querynode4"} }, Draw: noArgs, Alone: true, Anew: true,
		Want: func(Args) Want {
			return Want{
				Checks: []string{"auto-balance-off", "node-idle"}, Names: [][]string{{"@querynode4", "autoBalance"}},
				Follow: []string{"auto-balance-off", "node-idle", "bad-switches", "imbalance-rows", "cpu-skew"},
			}
		},
		Inject: func(ctx context.Context, l *Lab, _ Args) error {
			if _, err := l.Etcdctl(ctx, "put", "by-dev/config/queryCoord/autoBalance", "false"); err != nil {
				return err
			}
			return errors.Join(lab.Sleep(ctx, 10*time.Second), l.EnsureRunning(ctx, "querynode4"))
		},
		Observe: func(ctx context.Context, l *Lab, _ Args) Observation {
			s, err := l.stateNow(ctx)
			if err != nil {
				return Observation{What: err.Error()}
			}
			empty := 0
			for _, n := range s.Nodes {
				if len(n.Sealed) == 0 {
					empty++
				}
			}
			return Observation{
				Present: empty > 0 && len(s.Nodes) == 4,
				What:    fmt.Sprintf("%d of %d query nodes serve nothing", empty, len(s.Nodes)),
			}
		},
		Heal: func(ctx context.Context, l *Lab, _ Args) error {
			_, err := l.Etcdctl(ctx, "del", "by-dev/config/queryCoord/autoBalance")
			return errors.Join(err, l.StopGracefully(ctx, "querynode4"))
		},
		Limit: 200 * time.Second, Hold: 150 * time.Second,
	}
}

func loadRecordRemoved() *Kind {
	return &Kind{
		Name: "load record removed", Weight: 3, Targets: collectionTarget,
		Draw: func(d *dice) Args { return Args{Collection: pick(d, loaded)} },
		Want: func(a Args) Want {
			return Want{
				Checks: []string{"load-state-mismatch"}, Names: [][]string{{a.Collection}},
				Follow: []string{"records-missing", "replica-short", "segment-loaded-dropped"},
			}
		},
		Inject: removeLoadRecord, Limit: 60 * time.Second, Hold: 20 * time.Second,
		Observe: func(ctx context.Context, l *Lab, a Args) Observation {
			text, err := l.Etcdctl(ctx, "get", "--prefix", "--keys-only", "by-dev/meta/querycoord-collection-loadinfo/")
			return Observation{
				Present: err == nil,
				What:    fmt.Sprintf("collections to be loaded: %d", len(strings.Fields(string(text)))),
			}
		},
		Heal: func(_ context.Context, l *Lab, _ Args) error { l.UndoAll(); return nil },
	}
}

func noIndexNode() *Kind {
	return &Kind{
		Name: "index asked for, no index node", Weight: 4,
		Targets: func(Args) []string { return []string{"indexnode", "unindexed"} }, Draw: noArgs,
		Want: func(Args) Want {
			return Want{
				Checks: append([]string{"index-stuck"}, missingChecks...),
				Names:  [][]string{append([]string{"@indexnode"}, roleNames["indexnode"]...)},
				Follow: []string{"index-stuck", "index-missing"},
			}
		},
		Inject: func(ctx context.Context, l *Lab, _ Args) error {
			// After SIGTERM it would take more than a minute to end.
			return errors.Join(l.Signal("indexnode", syscall.SIGKILL),
				l.Client(ctx, 90*time.Second, "unindexed", "chaos_unindexed", "4000"))
		},
		Observe: func(ctx context.Context, l *Lab, _ Args) Observation {
			s := missing(ctx, l, Args{Processes: []string{"indexnode"}})
			s.Processes = nil
			return s
		},
		Heal: func(ctx context.Context, l *Lab, _ Args) error {
			return errors.Join(l.EnsureRunning(ctx, "indexnode"),
				l.Client(ctx, 60*time.Second, "drop", "chaos_unindexed"))
		},
		Limit: 60 * time.Second, Hold: 40 * time.Second,
	}
}

func collectionTarget(a Args) []string { return []string{a.Collection} }

// removeLoadRecord removes the load records of a collection and its partitions from etcd. QueryCoord keeps
// serving the collection until its next start. Removing only the collection's record has no effect, because
// QueryCoord rebuilds it from those of the partitions (upgradeRecover in
// internal/querycoordv2/meta/collection_manager.go).
func removeLoadRecord(ctx context.Context, l *Lab, a Args) error {
	state, err := l.stateNow(ctx)
	if err != nil {
		return err
	}
	id := state.collection(a.Collection)
	for _, prefix := range []string{
		"by-dev/meta/querycoord-collection-loadinfo/" + id, "by-dev/meta/querycoord-partition-loadinfo/" + id + "/",
	} {
		if err := l.removeKeys(ctx, prefix); err != nil {
			return err
		}
	}
	return nil
}

// removeKeys deletes keys and restores them when the fault is taken back.
func (l *Lab) removeKeys(ctx context.Context, prefix string) error {
	text, err := l.Etcdctl(ctx, "get", "--prefix", prefix, "-w", "json")
	if err != nil {
		return err
	}
	var answer struct {
		KVs []struct{ Key, Value []byte } `json:"kvs"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	if len(answer.KVs) == 0 {
		return fmt.Errorf("no key begins with %s", prefix)
	}
	for _, kv := range answer.KVs {
		l.Undo(func() error {
			cmd := exec.CommandContext(context.WithoutCancel(ctx), "etcdctl", "--endpoints", lab.EtcdAddress, "put",
				string(kv.Key))
			cmd.Env, cmd.Stdin = l.Env(), bytes.NewReader(kv.Value)
			return cmd.Run()
		})
	}
	_, err = l.Etcdctl(ctx, "del", "--prefix", prefix)
	return err
}
