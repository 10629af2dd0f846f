package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"kitescope/tools/e2e/lab"
)

// send returns an action that sends a signal to a process.
func send(process string, s syscall.Signal) func(context.Context, *World) error {
	return func(_ context.Context, w *World) error { return w.Signal(process, s) }
}

// killAndWait returns an action that kills a process and waits until its session has ended.
func killAndWait(process string) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		if err := w.Signal(process, syscall.SIGKILL); err != nil {
			return err
		}
		return lab.Wait(ctx, 90*time.Second, "end of the session of "+process, func() bool {
			all, err := w.Sessions(ctx)
			_, there := all[process]
			return err == nil && !there
		})
	}
}

// restart returns an action that kills the processes that run and starts all of them with the lab's settings.
func restart(processes ...string) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		for _, p := range processes {
			if w.State(p) != "" {
				if err := w.Signal(p, syscall.SIGKILL); err != nil {
					return err
				}
			}
			if err := lab.Wait(ctx, 10*time.Second, "end of "+p, func() bool { return w.State(p) == "" }); err != nil {
				return err
			}
		}
		return w.EnsureRunning(ctx, processes...)
	}
}

// ensureAllRunning starts the processes of the lab that are missing after a play.
func ensureAllRunning(ctx context.Context, w *World) error {
	return w.EnsureRunning(ctx, lab.AllProcesses...)
}

func startKafka(ctx context.Context, w *World) error {
	if w.State("kafka") != "" {
		return nil
	}
	return w.StartKafka(ctx)
}

// asFollow turns an action into a Play's Follow function.
func asFollow(f func(context.Context, *World) error) func(context.Context, *World, *Step) error {
	return func(ctx context.Context, w *World, _ *Step) error { return f(ctx, w) }
}

// restartWith returns an action that restarts a process with settings of its own.
func restartWith(process string, settings ...string) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		if w.State(process) != "" {
			if err := w.StopGracefully(ctx, process); err != nil {
				return err
			}
		}
		return w.Start(process, 0, settings...)
	}
}

// fillEtcd restarts etcd with a small quota and rewrites one key until the quota is used up. A compaction can
// delete that history.
func fillEtcd(ctx context.Context, w *World) error {
	if err := w.StopEtcd(ctx); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(w.Run(), "etcd", "member", "snap", "db"))
	if err != nil {
		return err
	}
	if err := w.StartEtcd(ctx, "--quota-backend-bytes="+strconv.FormatInt(info.Size()+16<<20, 10)); err != nil {
		return err
	}
	const filler = `v=$(head -c 12000 /dev/zero | tr '\0' x); for i in $(seq 3000); do etcdctl put fixes/filler $v >/dev/null 2>&1 || exit 0; done; exit 1`
	return w.shell(ctx, filler)
}

// emptyEtcd gives etcd its usual quota again.
func emptyEtcd(ctx context.Context, w *World) error {
	if err := w.StopEtcd(ctx); err != nil {
		return err
	}
	if err := w.StartEtcd(ctx); err != nil {
		return err
	}
	if err := w.shell(ctx, "etcdctl alarm disarm; etcdctl del fixes/filler"); err != nil {
		return err
	}
	return ensureAllRunning(ctx, w)
}

// readOnly mounts the object store read-only over itself, because permissions do not stop root from writing.
func readOnly(ctx context.Context, w *World) error {
	return w.shell(ctx, "mount --bind "+w.storage+" "+w.storage+" && mount -o remount,ro,bind "+w.storage)
}

func writable(ctx context.Context, w *World) error { return w.shell(ctx, "umount -l "+w.storage) }

// processPlays returns the plays that stop and start processes of a cluster.
func processPlays() []*Play { //nolint:funlen // a table of plays
	const patient, slow = 2 * time.Minute, 6 * time.Minute
	settled := runPython(
		`make("fx_alive", 2000); fill("fx_alive", 100, 5000); search("fx_alive"); utility.drop_collection("fx_alive")`,
	)
	list := []*Play{
		{
			Name: "query coordinator killed", Check: "node-unreachable", About: "querycoord",
			Steps: []string{"restart querycoord"}, Wait: patient,
			Inject: send("querycoord", syscall.SIGKILL), Follow: asFollow(restart("querycoord")), Recovered: settled,
		},
		{
			Name: "query node killed", Check: "node-unreachable", About: "querynode",
			Steps: []string{"restart querynode"}, Wait: patient,
			Inject: send("querynode1", syscall.SIGKILL), Follow: asFollow(restart("querynode1")), Recovered: settled,
		},
		{
			Name: "data coordinator stopped", Check: "node-unreachable", About: "datacoord",
			Steps: []string{"if it hangs, kill it and start"}, Wait: patient,
			Inject: send("datacoord", syscall.SIGSTOP), Follow: asFollow(restart("datacoord")), Recovered: settled,
		},
		{
			Name: "query node stopped", Check: "node-unreachable", About: "querynode",
			Steps: []string{"if it hangs, kill it:"}, Wait: patient,
			Inject: send("querynode2", syscall.SIGSTOP), Follow: asFollow(send("querynode2", syscall.SIGKILL)),
			Recovered: settled,
		},
		{
			Name: "no data node", Check: "role-missing", About: "data node", Steps: []string{"start a data node"},
			Wait:   patient,
			Inject: killAndWait("datanode"), Follow: asFollow(restart("datanode")), Recovered: settled,
		},
		{
			Name: "no index node", Check: "index-stuck", About: "fx_build", Steps: []string{"start an index node"},
			Wait: slow,
			Inject: sequence(killAndWait("indexnode"),
				runPython(
					`make("fx_build", 5000, None); connections._fetch_handler("default").create_index("fx_build", "vec", HNSW, sync=False)`,
				)),
			Follow: asFollow(restart("indexnode")),
			Recovered: runPython(
				`Collection("fx_build").load(); search("fx_build"); utility.drop_collection("fx_build")`,
			),
		},
		{
			Name: "settings of its own", Check: "config-drift", About: "querynode", Steps: []string{"give querynode"},
			Wait:   patient,
			Inject: restartWith("querynode3", "QUERYNODE_GROUPING_MAXNQ=10"), Follow: asFollow(restart("querynode3")),
			Recovered: settled,
		},
		{
			Name: "read only at start", Check: "config-drift", About: "maxReadConcurrentRatio",
			Steps: []string{"restart querynode"}, Wait: patient,
			Inject: put("queryNode/scheduler/maxReadConcurrentRatio", "4"),
			Follow: asFollow(restart(lab.QueryNodes...)), Recovered: settled,
			Heal: restart(lab.QueryNodes...),
		},
		{
			Name: "queue killed", Check: "queue-unreachable", About: "all nodes", Steps: []string{"start the brokers"},
			Wait:   patient,
			Inject: send("kafka", syscall.SIGKILL), Recovered: settled,
			Follow: asFollow(startKafka), Heal: sequence(startKafka, ensureAllRunning),
		},
		{
			Name: "auto-balance off", Check: "auto-balance-off", Steps: []string{"turns auto-balance on"}, Wait: slow,
			Inject: sequence(runPython(
				`make("fx_even", 2000); [fill("fx_even", 2000, at) for at in range(2000, 16000, 2000)]`,
			),
				put("queryCoord/autoBalance", "false"),
				func(ctx context.Context, w *World) error { return w.EnsureRunning(ctx, "querynode4") }),
			Recovered: runPython(`search("fx_even"); utility.drop_collection("fx_even")`),
			Heal:      func(ctx context.Context, w *World) error { return w.StopGracefully(ctx, "querynode4") },
		},
		{
			Name: "another root path", Check: "registered-elsewhere", Steps: []string{"set etcd.rootPath"},
			Wait:   patient,
			Inject: restartWith("querynode4", "ETCD_ROOTPATH=by-prod"), Follow: asFollow(restart("querynode4")),
			Heal: func(ctx context.Context, w *World) error { return w.StopGracefully(ctx, "querynode4") },
		},
		{
			Name: "storage read-only", Check: "storage-read-only", Steps: []string{"fix that, remount"}, Wait: patient,
			Storage: true,
			Inject: sequence(runPython(`make("fx_ro", 500)`), readOnly,
				runPython(`fill("fx_ro", 500, 500, flush=False)`)),
			Follow:    asFollow(sequence(writable, ensureAllRunning)),
			Recovered: runPython(`fill("fx_ro", 500, 1000); search("fx_ro"); utility.drop_collection("fx_ro")`),
		},
		{
			Name: "load forgotten", Check: "load-state-mismatch",
			About: "is Loaded in etcd, but QueryCoord does not list it", Wait: patient,
			Steps: []string{"if it lasts for a minute, restart"}, Follow: asFollow(restart("querycoord")),
			Inject: sequence(runPython(`make("fx_back", 2000)`),
				copyLoad("fx_back", `Collection("fx_back").release()`)),
			Recovered: runPython(`search("fx_back"); utility.drop_collection("fx_back")`),
		},
		{
			Name: "load of nothing", Check: "records-missing", About: "load", Steps: []string{"restart QueryCoord"},
			Wait: patient, Follow: asFollow(restart("querycoord")),
			Inject: sequence(runPython(`make("fx_none", 2000)`),
				copyLoad("fx_none", `utility.drop_collection("fx_none")`)), Recovered: settled,
		},
		{
			Name: "etcd full", Check: "etcd-alarm",
			Steps: []string{"deletes the history except", "defragments", "clears the alarm"}, Wait: patient,
			Inject: fillEtcd, Recovered: settled, Heal: emptyEtcd,
		},
	}
	for _, p := range list {
		heal := p.Heal
		p.Cluster = true
		p.Heal = func(ctx context.Context, w *World) error {
			if heal != nil {
				if err := heal(ctx, w); err != nil {
					return err
				}
			}
			return ensureAllRunning(ctx, w)
		}
	}
	return list
}

// copyLoad returns an action that restores the records of a load after the code in remove has removed them.
func copyLoad(name, remove string) func(context.Context, *World) error {
	const kept = `for key in $(etcdctl get --prefix --keys-only by-dev/meta/querycoord-collection-loadinfo/$id; etcdctl get --prefix --keys-only by-dev/meta/querycoord-partition-loadinfo/$id; etcdctl get --prefix --keys-only by-dev/meta/querycoord-replica/$id); do
	etcdctl get $key -w json | grep -o '"value":"[^"]*"' | cut -d'"' -f4 | base64 -d >"$dir/$(echo $key | tr / @)"; done`
	const back = `for file in "$dir"/*; do etcdctl put $(basename $file | tr @ /) <$file; done`
	return func(ctx context.Context, w *World) error {
		dir, err := os.MkdirTemp(w.Out, "load")
		if err != nil {
			return err
		}
		if err := w.shell(ctx, "dir="+dir+"; id=$("+collectionID(name)+"); "+kept); err != nil {
			return err
		}
		if err := w.python(ctx, remove); err != nil {
			return err
		}
		return w.shell(ctx, "dir="+dir+"; "+back)
	}
}
