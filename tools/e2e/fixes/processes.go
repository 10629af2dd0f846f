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

// gone returns an action that kills a process and waits until its session has ended.
func gone(process string) func(context.Context, *World) error {
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

// again returns an action that kills the processes that run and starts all of them with the lab's settings.
func again(processes ...string) func(context.Context, *World) error {
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
		return w.Bring(ctx, processes...)
	}
}

// well starts the processes of the lab that are missing after a play.
func well(ctx context.Context, w *World) error { return w.Bring(ctx, lab.Everybody...) }

func startKafka(ctx context.Context, w *World) error {
	if w.State("kafka") != "" {
		return nil
	}
	return w.StartKafka(ctx)
}

// follows turns an action into a Play's Follow function.
func follows(f func(context.Context, *World) error) func(context.Context, *World, *Step) error {
	return func(ctx context.Context, w *World, _ *Step) error { return f(ctx, w) }
}

// with returns an action that restarts a process with settings of its own.
func with(process string, settings ...string) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		if w.State(process) != "" {
			if err := w.Leave(ctx, process); err != nil {
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
	return well(ctx, w)
}

// readOnly mounts the object store read-only over itself, because permissions do not stop root from writing.
func readOnly(ctx context.Context, w *World) error {
	return w.shell(ctx, "mount --bind "+w.storage+" "+w.storage+" && mount -o remount,ro,bind "+w.storage)
}

func writable(ctx context.Context, w *World) error { return w.shell(ctx, "umount -l "+w.storage) }

// ofProcesses returns the plays that stop and start processes of a cluster.
func ofProcesses() []*Play { //nolint:funlen // a table of plays
	const patient, slow = 2 * time.Minute, 6 * time.Minute
	settled := does(`make("fx_alive", 2000); fill("fx_alive", 100, 5000); search("fx_alive"); utility.drop_collection("fx_alive")`)
	list := []*Play{
		{
			Name: "query coordinator killed", Check: "node-unreachable", About: "querycoord", Steps: []string{"restart querycoord"}, Wait: patient,
			Inject: send("querycoord", syscall.SIGKILL), Follow: follows(again("querycoord")), Cured: settled,
		},
		{
			Name: "query node killed", Check: "node-unreachable", About: "querynode", Steps: []string{"restart querynode"}, Wait: patient,
			Inject: send("querynode1", syscall.SIGKILL), Follow: follows(again("querynode1")), Cured: settled,
		},
		{
			Name: "data coordinator stopped", Check: "node-unreachable", About: "datacoord", Steps: []string{"if it hangs, kill it and start"}, Wait: patient,
			Inject: send("datacoord", syscall.SIGSTOP), Follow: follows(again("datacoord")), Cured: settled,
		},
		{
			Name: "query node stopped", Check: "node-unreachable", About: "querynode", Steps: []string{"if it hangs, kill it:"}, Wait: patient,
			Inject: send("querynode2", syscall.SIGSTOP), Follow: follows(send("querynode2", syscall.SIGKILL)), Cured: settled,
		},
		{
			Name: "no data node", Check: "role-missing", About: "data node", Steps: []string{"start a data node"}, Wait: patient,
			Inject: gone("datanode"), Follow: follows(again("datanode")), Cured: settled,
		},
		{
			Name: "no index node", Check: "index-stuck", About: "fx_build", Steps: []string{"start an index node"}, Wait: slow,
			Inject: all(gone("indexnode"), does(`make("fx_build", 5000, None); connections._fetch_handler("default").create_index("fx_build", "vec", HNSW, sync=False)`)),
			Follow: follows(again("indexnode")), Cured: does(`Collection("fx_build").load(); search("fx_build"); utility.drop_collection("fx_build")`),
		},
		{
			Name: "settings of its own", Check: "config-drift", About: "querynode", Steps: []string{"give querynode"}, Wait: patient,
			Inject: with("querynode3", "QUERYNODE_GROUPING_MAXNQ=10"), Follow: follows(again("querynode3")), Cured: settled,
		},
		{
			Name: "read only at start", Check: "config-drift", About: "maxReadConcurrentRatio", Steps: []string{"restart querynode"}, Wait: patient,
			Inject: put("queryNode/scheduler/maxReadConcurrentRatio", "4"), Follow: follows(again(lab.QueryNodes...)), Cured: settled,
			Heal: again(lab.QueryNodes...),
		},
		{
			Name: "queue killed", Check: "queue-unreachable", About: "all nodes", Steps: []string{"start the brokers"}, Wait: patient,
			Inject: send("kafka", syscall.SIGKILL), Cured: settled,
			Follow: follows(startKafka), Heal: all(startKafka, well),
		},
		{
			Name: "auto-balance off", Check: "auto-balance-off", Steps: []string{"turns auto-balance on"}, Wait: slow,
			Inject: all(does(`make("fx_even", 2000); [fill("fx_even", 2000, at) for at in range(2000, 16000, 2000)]`),
				put("queryCoord/autoBalance", "false"), func(ctx context.Context, w *World) error { return w.Bring(ctx, "querynode4") }),
			Cured: does(`search("fx_even"); utility.drop_collection("fx_even")`),
			Heal:  func(ctx context.Context, w *World) error { return w.Leave(ctx, "querynode4") },
		},
		{
			Name: "another root path", Check: "registered-elsewhere", Steps: []string{"set etcd.rootPath"}, Wait: patient,
			Inject: with("querynode4", "ETCD_ROOTPATH=by-prod"), Follow: follows(again("querynode4")),
			Heal: func(ctx context.Context, w *World) error { return w.Leave(ctx, "querynode4") },
		},
		{
			Name: "storage read-only", Check: "storage-read-only", Steps: []string{"fix that, remount"}, Wait: patient, Storage: true,
			Inject: all(does(`make("fx_ro", 500)`), readOnly, does(`fill("fx_ro", 500, 500, flush=False)`)),
			Follow: follows(all(writable, well)), Cured: does(`fill("fx_ro", 500, 1000); search("fx_ro"); utility.drop_collection("fx_ro")`),
		},
		{
			Name: "load forgotten", Check: "load-state-mismatch", About: "is Loaded in etcd, but QueryCoord does not list it", Wait: patient,
			Steps: []string{"if it lasts for a minute, restart"}, Follow: follows(again("querycoord")),
			Inject: all(does(`make("fx_back", 2000)`), copyLoad("fx_back", `Collection("fx_back").release()`)),
			Cured:  does(`search("fx_back"); utility.drop_collection("fx_back")`),
		},
		{
			Name: "load of nothing", Check: "records-missing", About: "load", Steps: []string{"restart QueryCoord"}, Wait: patient, Follow: follows(again("querycoord")),
			Inject: all(does(`make("fx_none", 2000)`), copyLoad("fx_none", `utility.drop_collection("fx_none")`)), Cured: settled,
		},
		{
			Name: "etcd full", Check: "etcd-alarm", Steps: []string{"deletes the history except", "defragments", "clears the alarm"}, Wait: patient,
			Inject: fillEtcd, Cured: settled, Heal: emptyEtcd,
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
			return well(ctx, w)
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
