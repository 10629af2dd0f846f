package meta

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

var update = flag.Bool("update", false, "write golden files")

// fixtures returns the captured servers under testdata/snapshots.
func fixtures() []string {
	return []string{
		"standalone-2.1.0", "standalone-2.2.16", "standalone-2.3.5", "cluster-2.3.5-t1", "cluster-2.3.5-t7",
		"upgrade-2.2.16", "rollback-2.1.0",
	}
}

func fixturePath(name, file string) string {
	return filepath.Join("..", "..", "testdata", "snapshots", name, file)
}

// pinFixture opens the etcd snapshot of a captured server.
func pinFixture(tb testing.TB, name string) source.Snapshot {
	tb.Helper()
	return pinFile(tb, fixturePath(name, "etcd_snapshot.db.gz"))
}

func pinFile(tb testing.TB, path string) source.Snapshot {
	tb.Helper()
	src, err := source.Open(context.Background(), path, source.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { src.Close() })
	snap, err := src.Pin(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { snap.Close() })
	return snap
}

func loadFixture(tb testing.TB, name string, want Want) *model.Cluster {
	tb.Helper()
	c, err := Load(context.Background(), pinFixture(tb, name), want)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// readGzip decodes a compressed JSON file.
func readGzip(tb testing.TB, path string, into any) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		tb.Fatal(err)
	}
}
