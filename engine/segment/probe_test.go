package segment_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
)

func TestLookup(t *testing.T) {
	for name, c := range map[string]struct {
		segment *segment.Segment
		key     engine.Key
		want    []int
		memory  int
	}{
		"in order": {
			&segment.Segment{Rows: 4, Int64s: []int64{-3, 2, 2, 9}}, engine.NumberKey(2), []int{1, 2}, 0,
		},
		"in any order": {
			&segment.Segment{Rows: 4, Int64s: []int64{9, 2, -3, 2}}, engine.NumberKey(2), []int{1, 3}, 16,
		},
		"not there":       {&segment.Segment{Rows: 4, Int64s: []int64{9, 2, -3, 2}}, engine.NumberKey(3), nil, 16},
		"beyond the last": {&segment.Segment{Rows: 2, Int64s: []int64{1, 2}}, engine.NumberKey(3), nil, 0},
		"texts": {
			&segment.Segment{Rows: 3, Strings: []string{"b", "", "a"}}, engine.TextKey("b"), []int{0}, 12,
		},
		"the empty text": {
			&segment.Segment{Rows: 3, Strings: []string{"b", "", "a"}}, engine.TextKey(""), []int{1}, 12,
		},
		"a text, not number": {&segment.Segment{Rows: 1, Int64s: []int64{0}}, engine.TextKey(""), nil, 0},
		"no rows":            {&segment.Segment{}, engine.NumberKey(1), nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := segment.NewLookup(c.segment)
			if got := l.Rows(c.key, nil); !slices.Equal(got, c.want) || l.Bytes() != c.memory {
				t.Errorf("rows %v, want %v; %d bytes", got, c.want, l.Bytes())
			}
			left := engine.NewBitset(c.segment.Rows)
			for _, exclude := range []bool{true, false} { // the set is reused
				l.Filter([]engine.Key{c.key}, exclude, left)
				for row := range c.segment.Rows {
					if left.Has(row) != (slices.Contains(c.want, row) == exclude) {
						t.Errorf("exclude %v: row %d is left out: %v", exclude, row, left.Has(row))
					}
				}
				if want := len(c.want); exclude && left.Count() != want ||
					!exclude && left.Count() != c.segment.Rows-want {
					t.Errorf("exclude %v: %d rows are left out", exclude, left.Count())
				}
			}
		})
	}
}

// lists returns answers of segments, with the keys and distances in texts like "4@1 5@2".
func lists(answers ...string) (all [][]segment.Hit) {
	for _, a := range answers {
		g := &segment.Segment{}
		var list []segment.Hit
		for f := range strings.FieldsSeq(a) {
			key, distance, _ := strings.Cut(f, "@")
			d, err := strconv.ParseFloat(distance, 32)
			if err != nil {
				panic(err)
			}
			list = append(list, segment.Hit{Segment: g, Row: len(list), Distance: float32(d)})
			if n, err := strconv.ParseInt(key, 10, 64); err == nil {
				g.Int64s = append(g.Int64s, n)
			} else {
				g.Strings = append(g.Strings, key)
			}
		}
		all = append(all, list)
	}
	return all
}

func TestReduce(t *testing.T) {
	for name, c := range map[string]struct {
		metric engine.Metric
		lists  []string
		k      int
		want   string
	}{
		"nearest first": {lists: []string{"5@1 6@3", "1@2 2@4"}, k: 3, want: "5@1 1@2 6@3"},
		"greatest first": {
			metric: dist.Cosine, lists: []string{"5@3 6@1", "1@4 2@2"}, k: 3, want: "1@4 5@3 2@2",
		},
		"equal ones by key":       {lists: []string{"9@1", "4@1", "7@1"}, k: 3, want: "4@1 7@1 9@1"},
		"equal ones by text":      {lists: []string{"b@1", "B@1", "a@1"}, k: 2, want: "B@1 a@1"},
		"a list keeps its order":  {lists: []string{"9@1 2@1", "5@1"}, k: 3, want: "5@1 9@1 2@1"},
		"a key once, the nearest": {lists: []string{"4@1 5@2", "5@1.5 4@3", "6@9"}, k: 5, want: "4@1 5@1.5 6@9"},
		"a key twice in a list":   {lists: []string{"4@1 4@2 5@3"}, k: 2, want: "4@1 5@3"},
		"no number is nearest":    {lists: []string{"1@0", "2@NaN"}, k: 2, want: "2@NaN 1@0"},
		"no lists":                {k: 3},
		"empty lists":             {lists: []string{"", "1@1", ""}, k: 3, want: "1@1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := segment.NewReducer(c.metric)
			for range 2 {
				if got := strings.Join(keys(r.Reduce(lists(c.lists...), c.k, nil)), " "); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			}
		})
	}
}

// TestReduceOfMany checks that few keys, compared one by one, and many keys, in a map, give the same answers.
func TestReduceOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var text []string
	for range 5 {
		var list []string
		d := 0
		for range 100 {
			d += r.IntN(2)
			list = append(list, fmt.Sprintf("%d@%d", r.IntN(200), d))
		}
		text = append(text, strings.Join(list, " "))
	}
	reducer := segment.NewReducer(dist.L2)
	all := keys(reducer.Reduce(lists(text...), 1000, nil))
	for _, k := range []int{1, 10, 64, 65, 100} {
		if got := keys(reducer.Reduce(lists(text...), k, nil)); !slices.Equal(got, all[:k]) {
			t.Errorf("k %d: %v, want %v", k, got, all[:k])
		}
	}
	if len(all) < 150 || len(all) > 200 {
		t.Errorf("%d keys", len(all))
	}
}

// TestProbe checks that deletes and the filter of each query leave rows out.
func TestProbe(t *testing.T) {
	m, r := memory{}, line(300, 1000)
	m.insert(t, 3, r)
	m.index(t, 3, 50, vectorField, "HNSW", graph(t, r.values, dist.L2))
	s, err := openOne(t, m, 3, schema, &binlog.Deltas{Int64s: []int64{1120}, Timestamps: []uint64{epoch}})
	if err != nil {
		t.Fatal(err)
	}
	filter := engine.NewBitset(300)
	filter.Set(121)
	for _, only := range []bool{false, true} {
		o := segment.Milvus(2, 3)
		o.RowsOnly = only
		first, err := segment.NewProbe(s, o)
		if err != nil {
			t.Fatal(err)
		}
		second, err := first.Clone()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*segment.Probe{first, second} {
			if p.Segment() != s || p.Indexed() == only {
				t.Errorf("rows only %v: indexed %v", only, p.Indexed())
			}
			for f, want := range map[*engine.Bitset]string{
				nil: "121@0.5625 119@1.5625", filter: "119@1.5625 122@3.0625",
			} {
				hits, cost, err := p.Search(query(120.25, 0),
					segment.Params{K: 2, SearchParams: engine.SearchParams{EF: 30}}, f, make([]engine.Hit, 1, 8))
				if err != nil {
					t.Fatal(err)
				}
				if !only { // the graph determines the hits around filtered rows
					want = walked(t, s, f)
				}
				got := fmt.Sprintf("%d@%g %d@%g", hits[1].ID, hits[1].Distance, hits[2].ID, hits[2].Distance)
				if got != want || len(hits) != 3 || cost.Segment != 3 || cost.Distances == 0 {
					t.Errorf("rows only %v, filter %v: %s, want %s; %+v", only, f, got, want, cost)
				}
				if left := 1 + f.Count(); only && cost.Distances != 300-left {
					t.Errorf("%d distances", cost.Distances)
				}
			}
			if _, _, err := p.Search(query(120.25, 0), segment.Params{K: 2}, nil, nil); (err == nil) != only {
				t.Errorf("rows only %v: a search without ef: %v", only, err)
			}
			if _, _, err := p.Search(query(1, 2, 3), segment.Params{K: 2, SearchParams: engine.SearchParams{EF: 30}},
				nil, nil); err == nil || !strings.Contains(err.Error(), "search segment 3") {
				t.Errorf("a query of other dimensions: %v", err)
			}
		}
	}
}

// walked returns the hits of the graph's own search, without deleted and filtered rows.
func walked(t *testing.T, s *segment.Segment, filter *engine.Bitset) string {
	t.Helper()
	o := segment.Milvus(2, 3)
	x, err := index.As[hnsw.Index](s.Index).NewSearcher(hnsw.Options{Library: o.Library})
	if err != nil {
		t.Fatal(err)
	}
	hits, _, err := x.Search(query(120.25, 0), hnsw.Params{K: 2, EF: 30, Filter: s.Deleted.Or(filter)}, nil)
	if err != nil || len(hits) != 2 {
		t.Fatalf("%v, %v", hits, err)
	}
	return fmt.Sprintf("%d@%g %d@%g", hits[0].ID, hits[0].Distance, hits[1].ID, hits[1].Distance)
}

// TestShare checks that ShareVectors keeps one copy of the vectors, and that searches find the same rows.
func TestShare(t *testing.T) {
	m, r := memory{}, line(300, 1000)
	m.insert(t, 3, r)
	m.index(t, 3, 50, vectorField, "HNSW", graph(t, r.values, dist.L2))
	s, err := openOne(t, m, 3, schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !s.ShareVectors() || s.Vectors != index.As[hnsw.Index](s.Index).Vectors || !s.ShareVectors() {
		t.Fatal("the vectors are not shared")
	}
	for _, only := range []bool{false, true} {
		o := segment.Milvus(2, 3)
		o.RowsOnly = only
		x, err := segmenttest.NewSearcher([]*segment.Segment{s}, o)
		if err != nil {
			t.Fatal(err)
		}
		hits, _, err := x.Search(query(120.25, 0), segment.Params{K: 1, SearchParams: engine.SearchParams{EF: 30}})
		if err != nil || len(hits) != 1 || hits[0].Row != 120 {
			t.Errorf("%v, %v", hits, err)
		}
	}
	r.values[7][0]++
	m.insert(t, 3, r)
	if s, err = openOne(t, m, 3, schema, nil); err != nil || s.ShareVectors() ||
		s.Vectors == index.As[hnsw.Index](s.Index).Vectors {
		t.Errorf("vectors that differ are shared (%v)", err)
	}
}
