package meta_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// TestSourcesAgree checks that a live etcd, an etcd snapshot, a birdwatcher backup and a bundle give equal
// clusters.
func TestSourcesAgree(t *testing.T) {
	for _, name := range []string{"standalone-2.1.0", "standalone-2.3.5", "cluster-2.3.5-t7"} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join("..", "..", "testdata", "snapshots", name)
			want := loadFrom(t, filepath.Join(folder, "etcd_snapshot.db.gz"))
			if len(want.Segments) == 0 || len(want.Collections) == 0 {
				t.Fatal("an empty cluster proves nothing")
			}
			server := sourcetest.StartEtcd(t, nil)
			server.Load(t, sourcetest.ReadDump(t, folder).Keys)
			live := "etcd://" + server.Address
			sameCluster(t, "live", want, loadFrom(t, live), attributes)
			sameCluster(t, "bundle", want, loadFrom(t, save(t, filepath.Join(folder, "etcd_snapshot.db.gz"))))
			sameCluster(t, "bundle of live", want, loadFrom(t, save(t, live)), attributes)
			// A backup has the keys below the metadata path, without revisions or leases.
			backup := filepath.Join(folder, "birdwatcher_backup.bak.gz")
			for what, from := range map[string]string{
				"backup": backup, "bundle of backup": save(t, backup), "bundle of bundle": save(t, save(t, backup)),
			} {
				got := loadFrom(t, from)
				if got.Loaded != model.PartAll&^model.PartConfig {
					t.Errorf("%s: known parts are %b; whether there is any configuration is not known", what,
						got.Loaded)
				}
				sameCluster(t, what, want, got, attributes, belowMeta)
			}
		})
	}
}

// attributes ignores fields set by etcd, which differ in a newly filled etcd and are missing in a backup.
var attributes = cmp.Options{
	cmpopts.IgnoreFields(model.Session{}, "Revision", "Lease"),
	cmpopts.IgnoreFields(model.ConfigEntry{}, "ModRevision"),
	cmpopts.IgnoreFields(model.WatchRecord{}, "Version", "Created", "Modified"),
}

// belowMeta ignores data that is outside of the metadata path.
var belowMeta = cmpopts.IgnoreFields(model.Parts{}, "Allocators", "Keys", "KeysByKind", "Config", "Loaded")

// sameCluster compares clusters without etcd's own data and without write times, because only an etcd file has
// past revisions.
func sameCluster(t *testing.T, what string, want, got *model.Cluster, options ...cmp.Option) {
	t.Helper()
	options = append(options, cmpopts.IgnoreFields(model.Parts{}, "Origin", "Etcd", "Keyspace", "Recent"),
		cmpopts.EquateEmpty())
	if d := cmp.Diff(want.Parts, got.Parts, options...); d != "" {
		t.Errorf("%s (-etcd snapshot +%s):\n%s", what, what, d)
	}
}

func loadFrom(t *testing.T, from string) *model.Cluster {
	t.Helper()
	snapshot := pin(t, from)
	c, err := meta.Load(t.Context(), snapshot, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatalf("load %s: %v", from, err)
	}
	return c
}

func pin(t *testing.T, from string) source.Snapshot {
	t.Helper()
	src, err := source.Open(t.Context(), from, source.Options{})
	if err != nil {
		t.Fatalf("open %s: %v", from, err)
	}
	t.Cleanup(func() { _ = src.Close() })
	snapshot, err := src.Pin(t.Context())
	if err != nil {
		t.Fatalf("pin %s: %v", from, err)
	}
	t.Cleanup(func() { _ = snapshot.Close() })
	return snapshot
}

// save writes a bundle, like kitescope snapshot save.
func save(t *testing.T, from string) string {
	t.Helper()
	snapshot := pin(t, from)
	var b bytes.Buffer
	if _, err := source.WriteBundle(t.Context(), &b, snapshot, source.BundleInfo{Redacted: true}, nil,
		meta.Redactor(snapshot.Header())); err != nil {
		t.Fatalf("save %s: %v", from, err)
	}
	path := filepath.Join(t.TempDir(), "cluster.kite")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
