package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine/object"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
)

// TestLost checks that a missing folder is treated as a mistyped flag, unless it is in the configuration of a
// cluster whose processes run on this machine. It is then reported as lost. The same applies to an empty folder.
func TestLost(t *testing.T) {
	read := clusterOf(t, filepath.Join("..", "..", "testdata", "snapshots", "standalone-2.3.5", "etcd_snapshot.db.gz"))
	gone, empty := filepath.Join(t.TempDir(), "data"), t.TempDir()
	// of returns the cluster with one process that answers from an address, with a folder in its configuration.
	of := func(kind, address, folder string) *model.Cluster {
		c := *read
		c.Origin.Kind = kind
		return c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{{
			Role: "querynode", Node: 1, Address: address, Outcome: model.Answered,
			Config: &model.Config{
				Values: map[string]string{
					model.FoldConfigKey("common.storageType"): "local",
					model.FoldConfigKey("localStorage.path"):  folder,
				},
			},
		}}}))
	}
	for name, x := range map[string]struct {
		c     *model.Cluster
		place string
		lost  string // part of its problem; "-": reported as unknown; "": a wrong flag
	}{
		"gone":                          {of("etcd", "127.0.0.1:21123", gone), gone, "no such folder"},
		"empty":                         {of("etcd", "127.0.0.1:21123", empty), empty, "all files of"},
		"mistyped":                      {of("etcd", "127.0.0.1:21123", empty), gone, ""},
		"gone, processes elsewhere":     {of("etcd", "192.0.2.7:21123", gone), gone, ""},
		"gone, read from a bundle":      {of("bundle", "127.0.0.1:21123", gone), gone, ""},
		"empty, processes elsewhere":    {of("etcd", "192.0.2.7:21123", empty), empty, "-"},
		"empty, of nobody's":            {of("etcd", "127.0.0.1:21123", gone), empty, "-"},
		"gone, the process has no port": {of("etcd", "127.0.0.1", gone), gone, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := session.CheckStorage(t.Context(), x.place, object.Keys{}, x.c)
			if x.lost == "" {
				if !errors.Is(err, os.ErrNotExist) {
					t.Fatalf("%v, want a wrong flag", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s := c.Storage
			if own := c.ConfiguredStorage().Matches(s.Location, s.Local); !s.Lost || own != (x.lost != "-") ||
				s.Segments == 0 {
				t.Errorf("%+v, own %v", s, own)
			}
			if want := strings.TrimPrefix(x.lost, "-"); !strings.Contains(s.Problem, want) ||
				strings.Contains(s.Problem, "another cluster") != (x.lost == "-") {
				t.Errorf("it says %q", s.Problem)
			}
		})
	}
}

// clusterOf returns the cluster of a file with all metadata.
func clusterOf(t *testing.T, path string) *model.Cluster {
	t.Helper()
	return capturedtest.Cluster(t, meta.Want{Parts: model.PartAll}, path)
}
