package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// runPython returns an action that runs Python code in a Milvus client.
func runPython(code string) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error { return w.python(ctx, code) }
}

// put returns an action that writes a setting into etcd. The setting is removed after the play.
func put(key, value string) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		w.Undo(func() error { return w.shell(context.WithoutCancel(ctx), "etcdctl del by-dev/config/"+key) })
		return w.shell(ctx, "etcdctl put by-dev/config/"+key+" "+value)
	}
}

// sequence returns an action that runs actions one after the other.
func sequence(list ...func(context.Context, *World) error) func(context.Context, *World) error {
	return func(ctx context.Context, w *World) error {
		for _, f := range list {
			if err := f(ctx, w); err != nil {
				return err
			}
		}
		return nil
	}
}

const shortWait = time.Minute

// plays returns the fixes to test.
func plays() []*Play { return append(clientPlays(), processPlays()...) }

// clientPlays returns the plays that need only a client and etcd.
func clientPlays() []*Play { //nolint:funlen // a table of plays
	return []*Play{
		{
			Name: "alias left over", Check: "records-missing", About: "fx_alias", Steps: []string{"removes the alias"},
			Wait: shortWait,
			Inject: runPython(
				`make("fx_a"); utility.create_alias("fx_a", "fx_alias"); utility.drop_collection("fx_a")`,
			),
			Recovered: runPython(`make("fx_alias", 100); search("fx_alias"); utility.drop_collection("fx_alias")`),
		},
		{
			Name: "grant left over", Check: "orphan-grant", About: "fx_role", Steps: []string{"revokes them"},
			Wait: shortWait,
			Inject: runPython(
				`make("fx_g"); r = Role("fx_role"); r.create(); r.grant("Collection", "fx_g", "Search"); utility.drop_collection("fx_g")`,
			),
			Recovered: runPython(`assert not Role("fx_role").list_grants().groups`),
			Heal:      runPython(`Role("fx_role").drop()`),
		},
		{
			Name: "storage not mounted", Check: "files-missing", About: "has lost its files",
			Steps: []string{"mount the disk"}, Wait: shortWait, Storage: true,
			Inject: func(_ context.Context, w *World) error { return os.Rename(w.storage, w.storage+".away") },
			Follow: func(_ context.Context, w *World, _ *Step) error {
				return errors.Join(os.RemoveAll(w.storage), os.Rename(w.storage+".away", w.storage))
			},
			Recovered: runPython(`make("fx_mount", 100); search("fx_mount"); utility.drop_collection("fx_mount")`),
		},
		{
			Name: "disk quota", Check: "quota-denied", Steps: []string{"raise quotaAndLimits"}, Wait: 2 * time.Minute,
			Cluster: true,
			Inject: sequence(runPython(`make("fx_quota", 50000)`),
				put("quotaAndLimits/limitWriting/diskProtection/diskQuota", "1")),
			Follow: func(ctx context.Context, w *World, _ *Step) error {
				return w.shell(ctx,
					"etcdctl put by-dev/config/quotaAndLimits/limitWriting/diskProtection/diskQuota 100000")
			},
			Recovered: runPython(
				`fill("fx_quota", 100, 60000); search("fx_quota"); utility.drop_collection("fx_quota")`,
			),
		},
		{
			Name: "inserts denied in etcd", Check: "bad-switches", About: "forceDeny", Steps: []string{"sets it back"},
			Wait: shortWait, Cluster: true,
			Inject: sequence(runPython(`make("fx_deny", 100)`),
				put("quotaAndLimits/limitWriting/forceDeny", "true")),
			Recovered: runPython(`fill("fx_deny", 100, 100); search("fx_deny"); utility.drop_collection("fx_deny")`),
		},
		{
			Name: "compaction off in etcd", Check: "bad-switches", About: "enableCompaction",
			Steps: []string{"sets it back", "restart the processes"},
			Wait:  shortWait, Cluster: true, Inject: put("dataCoord/enableCompaction", "false"),
			Follow: asFollow(restart("datacoord")),
		},
		{
			Name: "too many lists", Check: "index-unfit", About: "fx_lists", Steps: []string{"rebuilds it with"},
			Wait: 2 * time.Minute,
			Inject: runPython(
				`make("fx_lists", 3000, {"index_type": "IVF_FLAT", "metric_type": "L2", "params": {"nlist": 1024}})`,
			),
			Recovered: runPython(`search("fx_lists"); utility.drop_collection("fx_lists")`),
		},
		{
			Name: "flat and large", Check: "index-unfit", About: "fx_flat",
			Steps: []string{"replaces it with an approximate"}, Wait: 2 * time.Minute,
			Inject:    runPython(`make("fx_flat", 1000000, {"index_type": "FLAT", "metric_type": "L2", "params": {}})`),
			Recovered: runPython(`search("fx_flat"); utility.drop_collection("fx_flat")`),
		},
		{
			Name: "no index", Check: "collection-unindexed", About: "fx_bare", Steps: []string{"builds an index"},
			Wait:      2 * time.Minute,
			Inject:    runPython(`make("fx_bare", 110000, None)`),
			Recovered: runPython(`Collection("fx_bare").load(); search("fx_bare"); utility.drop_collection("fx_bare")`),
		},
		{
			Name: "rows never flushed", Check: "growing-too-old", About: "fx_old", Steps: []string{"seals its growing"},
			Wait:      10 * time.Minute,
			Inject:    runPython(`make("fx_old", 100); fill("fx_old", 3000, 100, flush=False)`),
			Recovered: runPython(`search("fx_old"); utility.drop_collection("fx_old")`),
		},
		{
			Name: "load record removed", Check: "load-state-mismatch", About: "fx_load",
			Steps: []string{"records the load"}, Wait: shortWait,
			Inject: sequence(runPython(`make("fx_load", 2000)`), func(ctx context.Context, w *World) error {
				return w.shell(ctx, "id=$("+collectionID("fx_load")+"); for of in collection partition; do "+
					"etcdctl del --prefix by-dev/meta/querycoord-$of-loadinfo/$id; done")
			}),
			Recovered: sequence(func(ctx context.Context, w *World) error {
				return w.shell(ctx,
					"etcdctl get by-dev/meta/querycoord-collection-loadinfo/$("+collectionID("fx_load")+
						") | grep -q loadinfo")
			}, runPython(`search("fx_load"); utility.drop_collection("fx_load")`)),
		},
		{
			Name: "index files lost", Check: "files-missing", About: "fx_files", Steps: []string{"builds"},
			Wait: shortWait, Storage: true,
			Inject:    sequence(runPython(`make("fx_files", 3000)`), removeNewest("index_files")),
			Recovered: runPython(`search("fx_files"); utility.drop_collection("fx_files")`),
		},
		{
			Name: "most rows deleted", Check: "delete-heavy", About: "fx_deleted",
			Steps: []string{"rewrites the segments"}, Wait: 2 * time.Minute, Cluster: true,
			Inject: sequence(put("dataCoord/compaction/enableAutoCompaction", "false"),
				runPython(
					`c = make("fx_deleted", 5000); [c.delete(f"id in {list(range(at, at + 1000))}") for at in range(0, 4000, 1000)]; c.flush()`,
				)),
			Recovered: runPython(`search("fx_deleted"); utility.drop_collection("fx_deleted")`),
		},
		{
			Name: "small segments", Check: "small-segments", About: "fx_small", Steps: []string{"merges them now"},
			Wait: 75 * time.Minute, Cluster: true,
			Inject: sequence(put("dataCoord/compaction/enableAutoCompaction", "false"),
				runPython(`make("fx_small", 1500); [fill("fx_small", 1500, at) for at in range(1500, 24000, 1500)]`)),
			Recovered: runPython(`search("fx_small"); utility.drop_collection("fx_small")`),
		},
	}
}

// collectionID returns a command that prints the id of a collection.
func collectionID(name string) string {
	return "$KITESCOPE get collections state=Created name=" + name + " --columns id --no-headers"
}

// removeNewest returns an action that removes the newest folder with files of a kind from the object store.
func removeNewest(kind string) func(context.Context, *World) error {
	return func(_ context.Context, w *World) error {
		var newest string
		var at time.Time
		folders, err := filepath.Glob(filepath.Join(w.storage, kind, "*"))
		if err != nil {
			return err
		}
		for _, folder := range folders {
			info, err := os.Stat(folder)
			if err == nil && info.ModTime().After(at) {
				newest, at = folder, info.ModTime()
			}
		}
		if !strings.Contains(newest, kind) {
			return fmt.Errorf("no %s below %s", kind, w.storage)
		}
		return os.RemoveAll(newest)
	}
}
