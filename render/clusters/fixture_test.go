package clusters

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/diff"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/render"
	"kitescope/render/rendertest"
)

const snapshots = "../../testdata/snapshots"

// read loads a captured cluster with its records.
func read(t *testing.T, name string) *view.Env {
	t.Helper()
	return readFile(t, filepath.Join(snapshots, name, "etcd_snapshot.db.gz"), name)
}

func readFile(t *testing.T, path, name string) *view.Env {
	t.Helper()
	c := capturedtest.Cluster(t, meta.Want{Parts: model.PartAll, Records: true}, path)
	c.Origin.Location = name
	if c.Origin.FileDate { // the date of a copy differs in each checkout
		c.Origin.Taken = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	}
	return view.NewEnv(c, time.Time{})
}

func fixtures(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(snapshots, "*", "etcd_snapshot.db.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	return names
}

// TestGoldenFixtures compares tables of captured clusters with golden files. The tests of cmd/kitescope check them
// against the real values.
func TestGoldenFixtures(t *testing.T) {
	for _, name := range []string{"standalone-2.1.0", "cluster-2.3.5-t1"} {
		env := read(t, name)
		for _, r := range view.Resources {
			if r.Name == "keys" {
				continue
			}
			rendertest.Golden(t, "fixtures/"+name+"/"+r.Name, list(t, env, r.Name, render.Options{}))
		}
		var b bytes.Buffer
		if err := Overview(&b, view.NewOverview(env), nil, render.Options{}); err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "fixtures/"+name+"/overview", b.Bytes())
	}
}

// TestDiffOfFixtures compares two states of a captured cluster, minutes apart and under load. Segments were
// flushed, compacted and created, and a node was replaced.
func TestDiffOfFixtures(t *testing.T) {
	before := readFile(t, "testdata/snapshots/cluster-2.3.5-t3.db.gz", "t3")
	after := readFile(t, "testdata/snapshots/cluster-2.3.5-t5.db.gz", "t5")
	d := diff.Compare(before.Cluster, after.Cluster, diff.Options{})
	replaced := map[string]string{}
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Kind == diff.Replaced && len(c.By) == 1 {
			replaced[c.Object.ID] = c.By[0].ID
		}
	}
	// The values are those in segments_etcd.json of the capture: two segments were merged into one, and two were
	// replaced by one each.
	want := map[string]string{
		"470590569932853127": "470590569932853161", "470590569933057997": "470590569932853161",
		"470590569933057993": "470590569932853200", "470590569933057994": "470590569932853169",
	}
	if diff := cmp.Diff(want, replaced); diff != "" {
		t.Error(diff)
	}
	for name, o := range map[string]render.Options{"text": {}, "json": {Format: format(t, "json")}} {
		var b bytes.Buffer
		if err := Diff(&b, d, o.Format, render.ReportOptions{Options: o}); err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "fixtures/diff-t3-t5."+name, b.Bytes())
	}
}
