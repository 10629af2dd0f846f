package session_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// save writes a bundle of the source of spec. It returns its path and the cluster with the queried state.
func save(
	t *testing.T, loader *session.Loader, spec *session.Spec, profiles *session.ProfileFiles,
) (string, *model.Cluster) {
	t.Helper()
	src, err := loader.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snapshot, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	said, c, err := session.CollectAnswers(t.Context(), src, snapshot, spec)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	path := filepath.Join(t.TempDir(), "saved.kite")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	saved := session.BundleContents{Snapshot: snapshot, Answers: said, Profiles: profiles, Kitescope: "test"}
	if stats, err := saved.Write(t.Context(), f); err != nil || stats.Keys == 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	return path, c
}

// heaps pulls a heap profile from a test server.
func heaps(t *testing.T) *session.ProfileFiles {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("..", "..", "testdata", "profiles", "milvus-heap.pb.gz"))
	}))
	t.Cleanup(service.Close)
	target, err := pull.ParseTarget("here="+service.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := session.PullProfiles(t.Context(), []pull.Target{target},
		pull.Options{Kinds: []pull.Kind{pull.Heap}})
	if err != nil || profiles.Manifest().Failed() > 0 {
		t.Fatalf("%+v, %v", profiles.Manifest(), err)
	}
	t.Cleanup(profiles.Close)
	return profiles
}

// TestSave checks that a live cluster equals the cluster read from its bundle, and from a bundle of that
// bundle, with and without process state and profiles.
func TestSave(t *testing.T) {
	cluster, err := demo.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	loader := &session.Loader{
		Now: demo.Now, Timeout: time.Minute,
		OpenCustom: func(_ context.Context, spec *session.Spec) (source.Source, bool, error) {
			if spec.From != demo.From {
				return nil, false, nil
			}
			src, err := cluster.Source(spec.Root)
			return src, true, err
		},
	}
	profiles := heaps(t)
	read := func(path string) *model.Cluster {
		t.Helper()
		c, err := loader.Load(t.Context(), &session.Spec{From: path, Want: meta.Want{Parts: model.PartAll}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	spec := &session.Spec{From: demo.From, Live: true, Nodes: live.Options{Timeout: 5 * time.Second, Now: demo.Now}}
	path, asked := save(t, loader, spec, profiles)
	once := read(path)
	if len(asked.Runtime.Nodes) == 0 || once.Runtime == nil || len(once.Runtime.Nodes) != len(asked.Runtime.Nodes) ||
		once.Etcd == nil || len(once.Segments) == 0 {
		t.Fatalf("asked %d nodes, read %v", len(asked.Runtime.Nodes), once.Runtime)
	}
	if record, isBundle, err := loader.Profiles(t.Context(), &session.Spec{From: path}); err != nil || !isBundle ||
		record == nil {
		t.Errorf("profiles: %v, %t, %v", record, isBundle, err)
	}
	again, asked := save(t, loader, &session.Spec{From: path}, nil)
	if twice := read(again); twice.Runtime == nil || len(twice.Runtime.Nodes) != len(once.Runtime.Nodes) ||
		len(twice.Segments) != len(once.Segments) {
		t.Errorf("saved again: %v", twice.Runtime)
	}
	if asked.Runtime != nil {
		t.Error("a file was asked")
	}
	spec.Live = false
	alone, _ := save(t, loader, spec, nil)
	if c := read(alone); c.Runtime != nil && len(c.Runtime.QueryNodes()) > 0 {
		t.Error("processes that were left alone have answered")
	}
	if record, isBundle, err := loader.Profiles(t.Context(), &session.Spec{From: alone}); err != nil || !isBundle ||
		record != nil {
		t.Errorf("profiles of a bundle without any: %v, %t, %v", record, isBundle, err)
	}
}
