package faulttest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Base is a real capture: the etcd keys of a cluster and the recorded responses of its processes.
type Base struct {
	Name string
	// Now is the time of the capture.
	Now time.Time
	// Cluster is the unedited base. Report holds the results of the checks on it.
	Cluster *model.Cluster
	Report  *check.Report

	store   *store
	records []live.Record
}

// OpenBase reads a capture from its folder: etcd_snapshot.db.gz and, if they exist, runtime.jsonl.gz and
// metrics/.
func OpenBase(ctx context.Context, folder string) (*Base, error) {
	b := &Base{Name: filepath.Base(folder)}
	src, err := source.Open(ctx, filepath.Join(folder, "etcd_snapshot.db.gz"), source.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	snap, err := src.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	if b.store, err = readStore(ctx, snap); err != nil {
		return nil, err
	}
	b.Now = b.store.header.Taken
	for _, name := range []string{"runtime.jsonl.gz", "metrics"} {
		if err := b.readRecords(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	w, err := b.world(ctx)
	if err != nil {
		return nil, err
	}
	if b.Cluster, err = w.cluster(ctx); err != nil {
		return nil, err
	}
	b.Report = check.Run(b.Cluster, b.Now, rules.All())
	return b, nil
}

// readRecords reads a recording, or a folder of scrapes. A missing path is not an error.
func (b *Base) readRecords(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	warnings, err := live.ReadFile(path, func(r live.Record) { b.records = append(b.records, r) })
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if len(warnings) > 0 {
		return fmt.Errorf("read %s: %v", path, warnings)
	}
	return nil
}

// Live reports whether the capture has responses of processes.
func (b *Base) Live() bool { return len(b.records) > 0 }

// load decodes keys in the same way as every command.
func load(ctx context.Context, s *store) (*model.Cluster, error) {
	return meta.Load(ctx, s, meta.Want{Parts: model.PartAll})
}

// world returns a copy of the base for edits.
func (b *Base) world(ctx context.Context) (*World, error) {
	w := &World{base: b, now: b.Now, store: b.store.clone(), noRuntime: !b.Live(), layouts: layouts()}
	w.records = append(w.records, b.records...)
	if b.Cluster == nil {
		return w, nil
	}
	w.names = names{b.Cluster}
	return w, ctx.Err()
}
