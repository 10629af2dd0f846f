// Package dataset creates and caches etcd data directories with generated metadata.
//
//  1. Dir returns the path of the directory: one per etcd version, size and seed, in the user's cache.
//  2. Ensure fills it once, in transactions of 128 puts, and marks it complete.
//  3. Etcd.Start serves it.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"kitescope/tools/bench/metagen"
)

const (
	batch    = 128 // etcd's default --max-txn-ops
	inFlight = 8   // concurrent transactions, to let etcd share its syncs
)

// Dir returns the path of a shape's data directory. XDG_CACHE_HOME moves it.
func Dir(e Etcd, shape metagen.Shape) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(cache, "kitescope-bench", "etcd-"+e.Version,
		fmt.Sprintf("c%d-s%d-seed%d-v%d", shape.Collections, shape.Segments, shape.Seed, metagen.Version)), nil
}

// Ensure returns the data directory of a shape. It fills the directory unless it is complete.
func Ensure(ctx context.Context, e Etcd, shape metagen.Shape) (string, error) {
	dir, err := Dir(e, shape)
	if err != nil {
		return "", err
	}
	complete := dir + ".complete"
	if _, err := os.Stat(complete); err == nil {
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("clear %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make %s: %w", dir, err)
	}
	server, err := e.Start(ctx, dir)
	if err != nil {
		return "", err
	}
	if err := errors.Join(fill(ctx, server, shape), server.Stop()); err != nil {
		return "", fmt.Errorf("fill %s: %w", dir, err)
	}
	if err := os.WriteFile(complete, nil, 0o600); err != nil {
		return "", fmt.Errorf("mark %s: %w", dir, err)
	}
	return dir, nil
}

func fill(ctx context.Context, server *Server, shape metagen.Shape) error {
	client, err := server.Client()
	if err != nil {
		return err
	}
	defer client.Close()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	put := func(ops []clientv3.Op) {
		group.Go(func() error {
			_, err := client.Txn(ctx).Then(ops...).Commit()
			return err
		})
	}
	var ops []clientv3.Op
	for kv := range shape.All() {
		if ops = append(ops, clientv3.OpPut(kv.Key, string(kv.Value))); len(ops) == batch {
			put(ops)
			ops = nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(ops) > 0 {
		put(ops)
	}
	return group.Wait()
}
