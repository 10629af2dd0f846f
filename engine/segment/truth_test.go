package segment_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/object"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
)

// recordedCollection is a collection of a real Milvus as seen by its client (testdata/truth.py).
type recordedCollection struct {
	Name        string
	ID          int64
	Key, Vector int64
	Metric      string
	Index       string
	Dim         int
	Segments    []int64
	Rows        int
	EF, Limit   int
	Queries     []byte
	Hits        []struct {
		IDs       []int64
		Distances []float64
	}
}

func recorded(t *testing.T, version string) []recordedCollection {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", version+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []recordedCollection
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// open reads the flushed segments of a collection.
func open(t *testing.T, store object.Store, c *recordedCollection, deletes *binlog.Deltas) []*segment.Segment {
	t.Helper()
	metric, err := dist.ParseMetric(c.Metric)
	if err != nil {
		t.Fatal(err)
	}
	files, err := segmenttest.Find(t.Context(), store, "")
	if err != nil {
		t.Fatal(err)
	}
	var list []*segment.Segment
	rows := 0
	for _, f := range files {
		if !slices.Contains(c.Segments, f.Segment) {
			continue
		}
		s, err := segment.Open(t.Context(), store, f,
			segment.Schema{PrimaryKey: c.Key, Vector: c.Vector, Metric: metric}, segment.NewDeletes(deletes))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Release)
		list = append(list, s)
		rows += s.Rows
	}
	if len(list) != len(c.Segments) {
		t.Fatalf("%d segments in the storage, Milvus names %d", len(list), len(c.Segments))
	}
	return list
}

// missingDeletes returns deletes that the fixture's README lists but its storage lacks. In 2.1 and 2.2 they were still
// in the message queue when the storage was captured.
func missingDeletes(version, name string) *binlog.Deltas {
	if name != "default/hnsw_sim" || version == "2.3.5" {
		return nil
	}
	d := &binlog.Deltas{}
	for id := range int64(25) {
		d.Int64s = append(d.Int64s, id)
		d.Timestamps = append(d.Timestamps, math.MaxUint64)
	}
	return d
}

func TestTruth(t *testing.T) {
	for _, version := range []string{"2.1.0", "2.2.16", "2.3.5", "cluster-2.3.5"} {
		store, err := object.OpenFolder(filepath.Join("..", "..", "testdata", "storage", version))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		for _, c := range recorded(t, version) {
			t.Run(version+"/"+c.Name, func(t *testing.T) {
				segments := open(t, store, &c, missingDeletes(version, c.Name))
				for _, s := range segments {
					if indexed := c.Index == "HNSW" || c.Index == "IVF_FLAT"; indexed && s.Index == nil {
						t.Errorf("segment %d has no index (refused: %v)", s.ID, s.IndexErr)
					}
				}
				sameVectors(t, segments)
				if c.Hits == nil {
					return
				}
				if missing := sameAnswers(t, &c, segments); (missing > 0) != (c.Name == "default/growing_mix") {
					t.Errorf("%d recorded hits are in no segment", missing)
				}
			})
		}
	}
}

// sameVectors compares the vectors in indexes with the vectors in the insert logs: row i with row i.
func sameVectors(t *testing.T, segments []*segment.Segment) {
	t.Helper()
	for _, s := range segments {
		x, rows := s.Index, 0
		same := func(v *engine.Vectors, ids []int64) {
			for i := range v.Rows {
				row := i
				if ids != nil {
					row = int(ids[i])
				}
				rows++
				if !bytes.Equal(v.Row(i), s.Vectors.Row(row)) {
					t.Errorf("segment %d: row %d differs in the index", s.ID, row)
				}
			}
		}
		if x == nil {
			continue
		}
		for v, ids := range x.Searchable.Vectors() {
			same(v, ids)
		}
		if rows != s.Rows {
			t.Errorf("segment %d: %d of %d rows are in the index", s.ID, rows, s.Rows)
		}
	}
}

// sameAnswers searches, and compares ids, their order and the bits of distances. The storage lacks rows that were
// growing when it was captured. Recorded hits on such rows are counted and skipped, and the remaining ones must be
// our first hits.
func sameAnswers(t *testing.T, c *recordedCollection, segments []*segment.Segment) (missing int) {
	t.Helper()
	s, err := segmenttest.NewSearcher(segments, segment.Milvus(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]bool{}
	for _, g := range segments {
		for row := range g.Rows {
			stored[g.Key(row).String()] = true
		}
	}
	size, compared := len(c.Queries)/len(c.Hits), 0
	for i, want := range c.Hits {
		got, _, err := s.Search(c.Queries[i*size:(i+1)*size], segment.Params{
			K: c.Limit, SearchParams: engine.SearchParams{EF: c.EF},
		})
		if err != nil {
			t.Fatal(err)
		}
		for j, id := range want.IDs {
			key := strconv.FormatInt(id, 10)
			switch d := float32(want.Distances[j]); {
			case !stored[key]:
				missing++
				continue
			case len(got) == 0:
				t.Errorf("query %d: %s (%v) was recorded, no hits are left", i, key, d)
				continue
			case got[0].Key().String() != key || got[0].Distance != d:
				t.Errorf("query %d, hit %d: %s at %v, recorded was %s at %v", i, j, got[0].Key(), got[0].Distance, key,
					d)
			}
			compared++
			got = got[1:]
		}
	}
	if compared < 100 {
		t.Errorf("%d hits compared", compared)
	}
	return missing
}
