package segment_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
)

func query(values ...float32) []byte {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	return b
}

func keys(hits []segment.Hit) (list []string) {
	for _, h := range hits {
		list = append(list, fmt.Sprintf("%s@%g", h.Key(), h.Distance))
	}
	return list
}

func TestSearchMergesSegments(t *testing.T) {
	at := func(x ...float32) (v [][]float32) {
		for _, f := range x {
			v = append(v, []float32{f, 0})
		}
		return v
	}
	for name, c := range map[string]struct {
		segments []*rows
		deletes  *binlog.Deltas
		metric   engine.Metric
		k        int
		want     []string
	}{
		"nearest first":             {segments: []*rows{{keys: []int64{5, 6}, values: at(3, 1)}, {keys: []int64{1, 2}, values: at(2, 4)}}, k: 3, want: []string{"6@1", "1@4", "5@9"}},
		"equal ones by key":         {segments: []*rows{{keys: []int64{9}, values: at(1)}, {keys: []int64{4}, values: at(1)}, {keys: []int64{7}, values: at(-1)}}, k: 3, want: []string{"4@1", "7@1", "9@1"}},
		"equal ones by text":        {segments: []*rows{{strings: []string{"b"}, values: at(1)}, {strings: []string{"B"}, values: at(1)}, {strings: []string{"a"}, values: at(1)}}, k: 2, want: []string{"B@1", "a@1"}},
		"a key once":                {segments: []*rows{{keys: []int64{4, 5}, values: at(1, 2)}, {keys: []int64{5, 4}, values: at(2, 3)}}, k: 4, want: []string{"4@1", "5@4"}},
		"k is more than there is":   {segments: []*rows{{keys: []int64{4}, values: at(1)}, {keys: []int64{5}, values: at(2)}}, k: 50, want: []string{"4@1", "5@4"}},
		"the deleted are left out":  {segments: []*rows{{keys: []int64{4, 6}, values: at(1, 5)}, {keys: []int64{5}, values: at(2)}}, deletes: &binlog.Deltas{Int64s: []int64{4, 5}, Timestamps: []uint64{epoch, epoch}}, k: 2, want: []string{"6@25"}},
		"similarity: greater first": {segments: []*rows{{keys: []int64{4, 6}, values: at(1, 5)}, {keys: []int64{5}, values: at(2)}}, metric: dist.InnerProduct, k: 2, want: []string{"6@5", "5@2"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, s := memory{}, schema
			s.Metric = c.metric
			q := query(0, 0)
			if c.metric == dist.InnerProduct {
				q = query(1, 0)
			}
			var list []*segment.Segment
			for i, r := range c.segments {
				m.insert(t, int64(i), r)
				one, err := openOne(t, m, int64(i), s, c.deletes)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, one)
			}
			x, err := segmenttest.NewSearcher(list, segment.Milvus(2, 3))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a searcher is used again and again
				hits, costs, err := x.Search(q, segment.Params{K: c.k})
				if err != nil {
					t.Fatal(err)
				}
				if got := keys(hits); !slices.Equal(got, c.want) {
					t.Errorf("%v, want %v", got, c.want)
				}
				if len(costs) != len(list) || costs[0].Distances != list[0].Rows-list[0].Deleted.Count() {
					t.Errorf("costs %+v", costs)
				}
			}
		})
	}
}

func TestRowsOnlyLeavesTheGraphAlone(t *testing.T) {
	m, r := memory{}, line(300, 1000)
	m.insert(t, 3, r)
	m.index(t, 3, 50, vectorField, "HNSW", graph(t, r.values, dist.L2))
	s, err := openOne(t, m, 3, schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1120@0.0625", "1121@0.5625", "1119@1.5625"}
	for _, only := range []bool{false, true} {
		o := segment.Milvus(2, 3)
		o.RowsOnly = only
		x, err := segmenttest.NewSearcher([]*segment.Segment{s}, o)
		if err != nil {
			t.Fatal(err)
		}
		hits, costs, err := x.Search(query(120.25, 0), segment.Params{K: 3, SearchParams: engine.SearchParams{EF: 30}})
		if err != nil {
			t.Fatal(err)
		}
		if got := keys(hits); !slices.Equal(got, want) {
			t.Errorf("rows only: %v: %v, want %v", only, got, want)
		}
		if c := costs[0]; (c.Distances == 300) != only || (c.Hops == 0) != only || c.Segment != 3 {
			t.Errorf("rows only: %v: cost %+v", only, c)
		}
		if _, _, err := x.Search(query(120.25, 0), segment.Params{K: 3}); (err == nil) != only {
			t.Errorf("rows only: %v: a search without ef: %v", only, err)
		}
		if _, _, err := x.Search(query(1, 2, 3), segment.Params{K: 3, SearchParams: engine.SearchParams{EF: 30}}); err == nil || !strings.Contains(err.Error(), "search segment 3") {
			t.Errorf("a query of other dimensions: %v", err)
		}
	}
	other := *s
	other.ID, other.Metric = 4, dist.InnerProduct
	if _, err := segmenttest.NewSearcher([]*segment.Segment{s, &other}, segment.Milvus(2, 3)); err == nil || !strings.Contains(err.Error(), "segments 3 and 4 have different metrics") {
		t.Errorf("two metrics: %v", err)
	}
}

func TestMilvus(t *testing.T) {
	old := segment.Options{Library: engine.Knowhere22}
	later := segment.Options{Library: engine.Knowhere23}
	newer, newest := later, later
	newer.Library, newest.Library = engine.Knowhere25, engine.Knowhere26
	for version, want := range map[[2]int]segment.Options{{2, 1}: old, {2, 2}: old, {2, 3}: old, {2, 4}: later, {2, 5}: newer, {2, 6}: newest, {3, 0}: newest} {
		if got := segment.Milvus(version[0], version[1]); got != want {
			t.Errorf("%v: %+v, want %+v", version, got, want)
		}
	}
}
