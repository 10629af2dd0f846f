package replay_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/replay"
	"kitescope/replay/layout"
	"kitescope/replay/log"
)

// TestAllKindsOfOneServer checks a Milvus 2.3.5 with one collection per kind of index and supported metric, with
// growing rows and deletes. Replayed from its etcd and storage, all its hits are reproduced: ids, order and the
// bits of distances.
func TestAllKindsOfOneServer(t *testing.T) {
	folder, store := segmenttest.OpenKinds(t, filepath.Join("..", "engine", "segment", "testdata", "kinds"))
	c := capturedtest.Cluster(t, meta.Want{Parts: layout.Parts, Records: true}, folder, capturedtest.Snapshot)
	indexed := map[string]int{} // hits by kind
	for _, x := range segmenttest.ReadKinds(t, folder) {
		if x.Index == "SCANN" || x.Index == "IVF_PQ" { // replayed over their rows, which finds more
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			l, err := layout.New(c, layout.Options{Collection: "default." + x.Name})
			if err != nil {
				t.Fatal(err)
			}
			l, found, err := layout.Locate(t.Context(), func(ctx context.Context, name string) (bool, error) {
				files, err := store.List(ctx, name)
				return len(files) > 0, err
			}, l)
			if err != nil || !found {
				t.Fatalf("files found: %v, %v", found, err)
			}
			loaded := loadOf(t, store, l, nil)
			if len(loaded.Coverage.Missing) > 0 {
				t.Errorf("missing: %+v", loaded.Coverage.Missing)
			}
			q := queryLog(t, &x, l)
			if err := loaded.ReadFilters(t.Context(), store, q, 0); err != nil {
				t.Fatal(err)
			}
			target, err := replay.NewTarget(loaded, replay.TargetOptions{Options: segment.Milvus(2, 3)})
			if err != nil {
				t.Fatal(err)
			}
			indexed[x.Index] += compareHits(t, &x, target, q, l)
		})
	}
	for kind := range strings.FieldsSeq("FLAT HNSW IVF_FLAT IVF_SQ8 BIN_FLAT BIN_IVF_FLAT") {
		if indexed[kind] < 300 && !segmenttest.OtherKinds() {
			t.Errorf("%s: %d hits", kind, indexed[kind])
		}
	}
}

// queryLog returns the recorded requests to a collection, in order.
func queryLog(t *testing.T, x *segmenttest.Kind, l *replay.Layout) *log.Log {
	t.Helper()
	vectors := x.Vectors(t)
	v, err := engine.View(l.Collection.Element, x.Dim, len(x.Queries), len(vectors)/len(x.Queries), vectors)
	if err != nil {
		t.Fatal(err)
	}
	q := &log.Log{Name: "recorded", Vectors: v}
	// Logs have no radius. A node of 2.3 enters a graph where the same query ended before, which affects results
	// with filters.
	x.Searches = slices.DeleteFunc(x.Searches, func(s segmenttest.KindSearch) bool {
		return s.Params["radius"] != 0 || x.Index == "HNSW" && s.Expr != ""
	})
	for _, s := range x.Searches {
		r := log.Request{
			NQ: len(x.Queries), K: s.K, SearchParams: engine.SearchParams{EF: s.Param("ef"), NProbe: s.Param("nprobe")},
		}
		if s.Expr != "" {
			r.Filter = &log.Filter{Expr: s.Expr}
		}
		q.Requests = append(q.Requests, r)
	}
	return q
}

// compareHits sends the requests in one session and compares the answers. It returns the number of hits.
func compareHits(t *testing.T, x *segmenttest.Kind, target *replay.Target, q *log.Log, l *replay.Layout) (hits int) {
	t.Helper()
	requests, err := replay.Requests(q, &l.Collection, replay.RequestParams{})
	if err != nil {
		t.Fatal(err)
	}
	answers, failed, err := replay.AskAll(t.Context(), target, requests, 1)
	if err != nil || failed > 0 {
		t.Fatalf("%d failed: %v", failed, err)
	}
	for i, s := range x.Searches {
		for j := range x.Queries {
			got := answers.Hits[i][j]
			if len(got) != len(s.IDs[j]) {
				t.Errorf("%+v %q, query %d: %d hits, recorded were %d", s.Params, s.Expr, j, len(got), len(s.IDs[j]))
				continue
			}
			for n, h := range got {
				hits++
				slack := float64(0)
				if x.Index == "IVF_SQ8" { // its sums are added in another order
					slack = 1e-5 * (1 + math.Abs(float64(h.Distance)))
				}
				d := math.Float32frombits(s.Bits[j][n])
				if h.Key.String() != strconv.FormatInt(s.IDs[j][n], 10) || math.Abs(float64(h.Distance-d)) > slack {
					t.Errorf("%+v %q, query %d, hit %d: %s at %v, recorded was %d at %v", s.Params, s.Expr, j, n, h.Key,
						h.Distance,
						s.IDs[j][n], math.Float32frombits(s.Bits[j][n]))
					break
				}
			}
		}
	}
	return hits
}
