package enginecmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/replay"
	"kitescope/replay/live"
	"kitescope/replay/load"
)

// writeVectors writes rows of two dimensions to a file.
func writeVectors(t *testing.T, rows ...float32) string {
	t.Helper()
	v, err := engine.FromFloat32s(2, rows)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := dataset.WriteFvecs(&b, v); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "base.fvecs")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileOfVectorsIsSearchedRowByRow(t *testing.T) {
	// An .ivecs file with one row of three ids.
	ids := filepath.Join(t.TempDir(), "ids.ivecs")
	if err := os.WriteFile(ids, []byte{3, 0, 0, 0, 70, 0, 0, 0, 50, 0, 0, 0, 60, 0, 0, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &cli.App{Streams: &cli.Streams{Err: new(strings.Builder)}}
	f := vectorFile{path: writeVectors(t, 0, 0, 3, 4, 1, 0), ids: ids}
	data, err := f.load(t.Context(), a, "items", "L2")
	if err != nil {
		t.Fatal(err)
	}
	defer data.Release()
	if c := &data.Layout.Collection; c.Name != "items" || c.Dim != 2 || c.Element != dist.Float32 ||
		c.Metric != dist.L2 || data.Coverage.Covered != 3 {
		t.Errorf("%+v, %d rows", c, data.Coverage.Covered)
	}
	query, err := engine.FromFloat32s(2, []float32{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	asked := []*load.Request{{Vectors: query, K: 3}}
	answers, err := replay.Exact(t.Context(), data.Loaded, asked, replay.OptionsFor(""), 1)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, h := range answers.Hits[0][0] {
		keys = append(keys, h.Key.String())
	}
	if want := []string{"70", "60", "50"}; !slices.Equal(keys, want) {
		t.Errorf("nearest are %v, want %v", keys, want)
	}
	if err := data.matchTarget(live.Description{Index: "hnsw"}); err != nil {
		t.Fatal(err)
	}
	if s := &data.Layout.Segments[0]; s.State != replay.Indexed || s.Index.Type != "HNSW" ||
		data.Parts[0].State != replay.Unindexed {
		t.Errorf("%+v: want an index there and none here", s)
	}
	if err := data.matchTarget(live.Description{TextKeys: true}); err == nil {
		t.Error("keys that are texts are taken for numbers")
	}
}

func TestInvalidVectorFilesAreRejected(t *testing.T) {
	a := &cli.App{Streams: &cli.Streams{Err: new(strings.Builder)}}
	base := writeVectors(t, 0, 0, 3, 4)
	few := filepath.Join(t.TempDir(), "few.ivecs")
	if err := os.WriteFile(few, []byte{1, 0, 0, 0, 70, 0, 0, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file vectorFile
		want string
	}{
		{vectorFile{path: base, ids: few}, "has 1 ids"},
		{vectorFile{path: base, ids: base}, "expected ids"},
		{vectorFile{path: few}, "expected vectors"},
		{vectorFile{path: base + "x"}, "a name ending in"},
	} {
		if data, err := c.file.load(t.Context(), a, "items", "L2"); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, %v, want %q", c.file, data, err, c.want)
		}
	}
}
