package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine/object"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
)

// TestManifest checks that the files listed in the manifest of a segment of storage version 3 (written by the C++
// library) are looked for, regardless of the location of its folder.
func TestManifest(t *testing.T) {
	const base = "insert_log/1/2/3"
	segment := func(version, at string) *model.Cluster {
		return model.Build(model.Parts{
			Collections: []*model.Collection{{ID: 1, Name: "docs"}},
			Segments: []*model.Segment{{
				ID: 3, Collection: 1, Partition: 2, State: model.SegmentFlushed, Rows: 200,
				Details: &model.SegmentDetails{ManifestPath: `{"ver":` + version + `,"base_path":"` + at + base + `"}`},
			}},
		})
	}
	whole := filepath.Join("..", "..", "engine", "manifest", "testdata", "segment")
	names, err := filepath.Glob(filepath.Join(whole, "files", base, "_data", "1_*.parquet"))
	if err != nil || len(names) != 2 {
		t.Fatalf("%v, %v", names, err)
	}
	lost := func(kind string, field model.FieldID, found, want int) []model.MissingFiles {
		return []model.MissingFiles{{Segment: 3, Collection: 1, Kind: kind, Field: field, Found: found, Want: want}}
	}
	for name, x := range map[string]struct {
		version string
		at      string // path before insert_log in the record
		change  func(folder string) error
		want    []model.MissingFiles
		unseen  string
	}{
		"climbing":        {version: "2", at: "files/../", unseen: "is not the path of a manifest"},
		"whole":           {version: "2", at: "files/"},
		"of another root": {version: "2", at: "tenant/files/"},
		"one file lost": {
			version: "2",
			change:  func(f string) error { return os.Remove(filepath.Join(f, "_data", filepath.Base(names[0]))) },
			want:    lost("insert log", 101, 1, 2),
		},
		"one file empty": {
			version: "2",
			change:  func(f string) error { return os.Truncate(filepath.Join(f, "_data", filepath.Base(names[0])), 0) },
			want:    lost("insert log", 101, 1, 2),
		},
		"with deletes, of another root": {version: "3", at: "tenant/files/", want: lost("statistics", 0, 0, 2)},
		"the delta log lost": {
			version: "3", want: append(lost("delta log", 0, 0, 1), lost("statistics", 0, 0, 2)...),
			change: func(f string) error {
				return os.Remove(filepath.Join(f, "_delta", "455000000000009001"))
			},
		},
		"no such manifest": {version: "9", want: lost("manifest", 0, 0, 1)},
		"a cut manifest": {version: "2", unseen: "cut off", change: func(f string) error {
			return os.Truncate(filepath.Join(f, "_metadata", "manifest-2.avro"), 100)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			place := t.TempDir()
			if err := os.CopyFS(place, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			if x.change != nil {
				if err := x.change(filepath.Join(place, "files", base)); err != nil {
					t.Fatal(err)
				}
			}
			c, err := session.CheckStorage(t.Context(), place, object.Keys{}, segment(x.version, x.at))
			if err != nil {
				t.Fatal(err)
			}
			var got []model.MissingFiles
			for _, m := range c.Storage.Missing {
				if m.Kind != "manifest" && !strings.HasPrefix(m.Path, "files/"+base+"/_") {
					t.Errorf("looked in %s", m.Path)
				}
				m.Path, m.Size = "", 0
				got = append(got, m)
			}
			if diff := cmp.Diff(x.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			seen := c.Storage.Checked == 1
			if seen != (x.unseen == "") ||
				!seen && (len(c.Storage.Unseen) != 1 || !strings.Contains(c.Storage.Unseen[0].Reason, x.unseen)) {
				t.Errorf("looked at %d, unseen %v, problem %q", c.Storage.Checked, c.Storage.Unseen, c.Storage.Problem)
			}
		})
	}
}
