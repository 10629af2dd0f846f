package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"go.etcd.io/etcd/client/v3"

	"kitescope/tools/bench/dataset"
	"kitescope/tools/bench/measure"
	"kitescope/tools/bench/metagen"
)

// bench holds the state that the parts of a run share: programs, an etcd, a scratch directory.
type bench struct {
	etcd             dataset.Etcd
	kitescope, floor string
	generate         string
	runner           measure.Runner
	scratch          string
	progress         io.Writer
}

// prepare builds the programs, kitescope with the flags of a release.
func prepare(ctx context.Context, repo string, progress io.Writer) (_ *bench, err error) {
	b := &bench{progress: progress}
	if b.scratch, err = os.MkdirTemp("", "kitescope-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	b.logf("building")
	b.kitescope = filepath.Join(b.scratch, "kitescope")
	build := exec.CommandContext(ctx, "go", "-C", repo, "build", "-pgo=auto", "-trimpath", "-ldflags", "-s -w", "-o",
		b.kitescope, "./cmd/kitescope")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build kitescope: %w\n%s", err, out)
	}
	if b.floor, err = dataset.Build(ctx, b.scratch, "floor"); err != nil {
		return nil, err
	}
	if b.generate, err = dataset.Build(ctx, b.scratch, "generate"); err != nil {
		return nil, err
	}
	if b.runner.Launcher, err = dataset.Build(ctx, b.scratch, "cost"); err != nil {
		return nil, err
	}
	b.etcd, err = dataset.FindEtcd(ctx, b.scratch)
	return b, err
}

func (b *bench) close() { _ = os.RemoveAll(b.scratch) } // a temporary directory

func (b *bench) logf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, "bench: "+format+"\n", args...) // for people; only the tables count
}

func (b *bench) machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s, %s %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(),
		b.etcd.Name, b.etcd.Version)
}

// program returns a kitescope command that ignores the user's configuration file.
func (b *bench) program(args ...string) measure.Program {
	return measure.Program{
		Path: b.kitescope, Args: args, Env: []string{"KITESCOPE_CONFIG=" + filepath.Join(b.scratch, "none.yaml")},
	}
}

// cluster is an etcd full of generated metadata.
type cluster struct {
	*dataset.Server
	shape metagen.Shape
	dir   string
}

func (c *cluster) from() string { return "etcd://" + c.Endpoint }

// cluster serves a shape. Another process fills the etcd unless that was done before.
func (b *bench) cluster(ctx context.Context, shape metagen.Shape) (*cluster, error) {
	b.logf("%d segments: preparing the etcd", shape.Segments)
	fill := exec.CommandContext(ctx, b.generate, "-segments", strconv.Itoa(shape.Segments))
	fill.Stderr = b.progress
	if err := fill.Run(); err != nil {
		return nil, fmt.Errorf("generate %d segments: %w", shape.Segments, err)
	}
	dir, err := dataset.Dir(b.etcd, shape)
	if err != nil {
		return nil, err
	}
	server, err := b.etcd.Start(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &cluster{server, shape, dir}, nil
}

// snapshot saves the cluster through etcd's maintenance API next to its data directory, unless that was done
// before.
func (c *cluster) snapshot(ctx context.Context) (_ string, err error) {
	path := c.dir + ".snapshot.db"
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	client, err := c.Client()
	if err != nil {
		return "", err
	}
	defer client.Close()
	stream, err := clientv3.NewMaintenance(client).Snapshot(ctx)
	if err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	defer stream.Close()
	f, err := os.Create(path + ".part")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, stream)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("snapshot: %w", err)
	}
	return path, os.Rename(f.Name(), path)
}

// pause pauses, so that one program's work on disks and caches does not count in the next one's time.
func pause() { time.Sleep(50 * time.Millisecond) }
