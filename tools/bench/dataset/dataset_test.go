package dataset

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"kitescope/tools/bench/metagen"
)

// TestFloorReadsAllMetadataOfAFilledEtcd checks that the floor program reads every key below the metadata
// path. Otherwise ratios to it would be meaningless.
func TestFloorReadsAllMetadataOfAFilledEtcd(t *testing.T) {
	ctx := context.Background()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	scratch := t.TempDir()
	etcd, err := FindEtcd(ctx, scratch)
	if err != nil {
		t.Fatal(err)
	}
	floor, err := Build(ctx, scratch, "floor")
	if err != nil {
		t.Fatal(err)
	}
	shape := metagen.Of(1000)
	dir, err := Ensure(ctx, etcd, shape)
	if err != nil {
		t.Fatal(err)
	}
	server, err := etcd.Start(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	out, err := exec.CommandContext(ctx, floor, "-endpoint", server.Endpoint).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	keys, bytes := 0, 0
	for kv := range shape.All() {
		if strings.HasPrefix(kv.Key, "by-dev/meta/") {
			keys++
			bytes += len(kv.Key) + len(kv.Value)
		}
	}
	if want := fmt.Sprintf("%d keys, %d bytes", keys, bytes); !strings.HasPrefix(string(out), want) {
		t.Errorf("floor says %q, want %q", out, want)
	}
}

// TestEnsureFillsOnceAndAgainAfterAnInterruption checks that an interrupted fill is repeated and a complete
// one is not.
func TestEnsureFillsOnceAndAgainAfterAnInterruption(t *testing.T) {
	ctx := context.Background()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	etcd, err := FindEtcd(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shape := metagen.Of(400)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Ensure(canceled, etcd, shape); err == nil {
		t.Fatal("no error from an interrupted filling")
	}
	dir, err := Ensure(ctx, etcd, shape)
	if err != nil {
		t.Fatal(err)
	}
	filled, err := os.Stat(DBFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Ensure(ctx, etcd, shape)
	if err != nil || again != dir {
		t.Fatalf("second time: %s, %v", again, err)
	}
	if info, err := os.Stat(DBFile(dir)); err != nil || !info.ModTime().Equal(filled.ModTime()) {
		t.Errorf("filled again: %v, %v", info, err)
	}
}
