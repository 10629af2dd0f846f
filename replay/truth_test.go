package replay_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/object"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// recordedCollection is a collection of a real Milvus, recorded by its client (engine/segment/testdata/truth.py).
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

func recorded(t testing.TB, version string) []recordedCollection {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "engine", "segment", "testdata", version+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []recordedCollection
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func openStore(t testing.TB, version string) object.Store {
	t.Helper()
	store, err := object.OpenFolder(filepath.Join("..", "testdata", "storage", version))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// missingDeletes returns the deletes that the storage of 2.1 and 2.2 lacks, because they were still in the message
// queue at the time of the capture.
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

// layoutOf places the flushed segments of a collection on two channels and three nodes, in turn.
func layoutOf(t testing.TB, store object.Store, c *recordedCollection) *replay.Layout {
	t.Helper()
	metric, err := dist.ParseMetric(c.Metric)
	if err != nil {
		t.Fatal(err)
	}
	files, err := segmenttest.Find(t.Context(), store, "")
	if err != nil {
		t.Fatal(err)
	}
	l := &replay.Layout{Collection: replay.Collection{
		ID: c.ID, Name: c.Name, Dim: c.Dim, Metric: metric,
		Schema: segment.Schema{PrimaryKey: c.Key, Vector: c.Vector, Metric: metric},
	}}
	if strings.HasPrefix(c.Index, "BIN") {
		l.Collection.Element = dist.Bit
	}
	l.Replicas = []replay.Replica{{ID: 1, Leaders: map[string]int64{}}}
	for n := range int64(3) {
		l.Nodes = append(l.Nodes, replay.Node{ID: n + 1, Name: fmt.Sprintf("querynode-%d", n+1), Cores: 2})
		l.Replicas[0].Nodes = append(l.Replicas[0].Nodes, n+1)
	}
	for _, f := range files {
		if !slices.Contains(c.Segments, f.Segment) {
			continue
		}
		i := int64(len(l.Segments))
		s := replay.Segment{
			ID: f.Segment, Partition: f.Partition, Channel: fmt.Sprintf("dml_%d", i%2), Rows: -1,
			State: replay.Unindexed, On: []int64{i%3 + 1}, Files: f,
		}
		if c.Index == "HNSW" || c.Index == "IVF_FLAT" {
			s.State, s.Index = replay.Indexed, replay.Index{Type: c.Index}
		}
		l.Segments = append(l.Segments, s)
	}
	if len(l.Segments) != len(c.Segments) {
		t.Fatalf("%d segments in the storage, Milvus names %d", len(l.Segments), len(c.Segments))
	}
	return l
}

// loadOf loads all segments of a layout.
func loadOf(t testing.TB, store object.Store, l *replay.Layout, deletes *binlog.Deltas) *replay.Loaded {
	t.Helper()
	loaded, err := replay.Load(t.Context(), store, l, replay.LoadOptions{Deletes: deletes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(loaded.Release)
	return loaded
}

// logOf returns the queries that the client sent, nq per request.
func logOf(t testing.TB, c *recordedCollection, l *replay.Layout, nq int) []*load.Request {
	t.Helper()
	n := len(c.Hits)
	size := len(c.Queries) / n
	v, err := engine.View(l.Collection.Element, c.Dim, n, size, c.Queries)
	if err != nil {
		t.Fatal(err)
	}
	q := &log.Log{Name: "recorded", Vectors: v}
	for i := 0; i < n; i += nq {
		q.Requests = append(q.Requests, log.Request{First: i, NQ: min(nq, n-i)})
	}
	requests, err := replay.Requests(q, &l.Collection, replay.RequestParams{
		K: c.Limit, SearchParams: engine.SearchParams{EF: c.EF},
	})
	if err != nil {
		t.Fatal(err)
	}
	return requests
}

// TestRecordedAnswers checks a full replay of requests that the official client sent to real servers: ids, their
// order and the bits of distances equal Milvus's.
func TestRecordedAnswers(t *testing.T) {
	for _, version := range []string{"2.1.0", "2.2.16", "2.3.5", "cluster-2.3.5"} {
		store := openStore(t, version)
		for _, c := range recorded(t, version) {
			if c.Hits == nil {
				continue
			}
			t.Run(version+"/"+c.Name, func(t *testing.T) {
				l := layoutOf(t, store, &c)
				loaded := loadOf(t, store, l, missingDeletes(version, c.Name))
				if n := len(loaded.Coverage.Missing); n > 0 {
					t.Errorf("missing: %+v", loaded.Coverage.Missing)
				}
				for _, nq := range []int{len(c.Hits), 1, 7} {
					target, err := replay.NewTarget(loaded, replay.TargetOptions{Options: segment.Milvus(2, 3)})
					if err != nil {
						t.Fatal(err)
					}
					answers, failed, err := replay.AskAll(t.Context(), target, logOf(t, &c, l, nq), 3)
					if err != nil || failed > 0 {
						t.Fatalf("%d failed: %v", failed, err)
					}
					missing := compareRecorded(t, &c, loaded, answers, nq)
					if (missing > 0) != (c.Name == "default/growing_mix") {
						t.Errorf("%d recorded hits are in no segment", missing)
					}
				}
			})
		}
	}
}

// compareRecorded compares ids, their order and the bits of distances. Rows that were growing at the time of the
// capture are in no file of the storage: recorded hits on them are counted and skipped, and the remaining hits must
// be our first hits.
func compareRecorded(
	t *testing.T, c *recordedCollection, loaded *replay.Loaded, answers *replay.Answers, nq int,
) (missing int) {
	t.Helper()
	compared := 0
	for i, want := range c.Hits {
		got := answers.Hits[i/nq][i%nq]
		for j, id := range want.IDs {
			key, d := engine.NumberKey(id), float32(want.Distances[j])
			if len(loaded.Parts[0].Data.Strings) > 0 {
				key = engine.TextKey(strconv.FormatInt(id, 10))
			}
			if found, _ := loaded.Find(key); found == replay.Absent {
				missing++
				continue
			}
			compared++
			if len(got) == 0 {
				t.Errorf("query %d: %s (%v) was recorded, no hits are left", i, key, d)
				continue
			}
			if got[0].Key != key || got[0].Distance != d {
				t.Errorf("query %d, hit %d: %s at %v, recorded was %s at %v", i, j, got[0].Key, got[0].Distance, key, d)
			}
			got = got[1:]
		}
	}
	if compared < 100 {
		t.Errorf("%d hits compared", compared)
	}
	return missing
}
