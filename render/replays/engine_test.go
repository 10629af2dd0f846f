package replays

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/target"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// engineTargets returns an index built by the test, and its vectors.
func engineTargets(t *testing.T) (graph, vectors *target.Target) {
	t.Helper()
	vectors, err := target.Open(t.Context(), "../../cmd/kitescope/testdata/engine/base.npy", target.Hint{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(vectors.Close)
	vectors.File.Name = "base.npy"
	built, err := hnsw.Build(t.Context(), vectors.Set.Vectors, hnsw.BuildOptions{M: 8, EFConstruction: 40})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := index.WriteHNSWLib(&file, built); err != nil {
		t.Fatal(err)
	}
	f, err := index.Parse(rendertest.HostileName, file.Bytes(), index.Hint{})
	if err != nil {
		t.Fatal(err)
	}
	return &target.Target{File: f}, vectors
}

// writeEngine writes one of the engine's reports.
type writeEngine func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error

func engineReports(t *testing.T) map[string]writeEngine {
	t.Helper()
	graph, vectors := engineTargets(t)
	filter := engine.NewBitset(400)
	filter.Set(3)
	found := &target.SearchResult{
		Target: graph, Params: index.Params{K: 3, SearchParams: engine.SearchParams{EF: 20}},
		Answers: &target.Answers{
			K: 3, Took: 1234567 * time.Nanosecond,
			Hits: [][]engine.Hit{
				{{ID: 17, Distance: 0.1}, {ID: 4, Distance: 0.30000001}, {ID: 1<<63 - 1, Distance: 16777216}},
				{},
				{{ID: 5, Distance: -1e-7}},
			},
			Cost: []index.Cost{
				{Distances: 120, Hops: 22}, {Distances: 0}, {Distances: 400, BruteForce: "k is half of the rows"},
			},
		},
		Recall: &target.Recall{Queries: 3, Mean: 0.9, Worst: 0.7, WorstQuery: 1, Incomplete: 1},
	}
	every := engine.SearchParams{NProbe: 4, SparseParams: engine.SparseParams{DropRatio: 0.1, RefineFactor: 3}}
	others := &target.SearchResult{
		Target: vectors, Options: target.Options{Library: engine.Knowhere22},
		Params: index.Params{SearchParams: every, K: 5, Filter: filter},
		Answers: &target.Answers{
			Hits: [][]engine.Hit{
				{{ID: 1, Distance: 2}, {ID: 7, Distance: float32(math.Inf(1))}, {ID: 8, Distance: float32(math.NaN())}},
			},
			Cost: []index.Cost{{Distances: 399}}, Took: 2 * time.Second,
		},
	}
	load := &target.Load{Params: index.Params{K: 10, SearchParams: engine.SearchParams{EF: 64}}, Threads: 2, Rounds: 3}
	micro := func(n ...int) (list []time.Duration) {
		for _, x := range n {
			list = append(list, time.Duration(x)*time.Microsecond)
		}
		return list
	}
	speed := &target.Bench{Target: graph, Queries: 1000, Points: []target.Point{
		{
			Speed: &target.Speed{
				Load: load, Answers: found.Answers, QPS: []float64{9000, 12345.6, 12000}, CPU: micro(80, 81, 99),
				Latency: micro(50, 60, 70, 80, 2000),
			},
			Recall: found.Recall,
		},
		{
			Speed: &target.Speed{
				Load: &target.Load{
					Params: index.Params{SearchParams: engine.SearchParams{NProbe: 8}}, Threads: 1, Rounds: 3,
				},
				Answers: found.Answers, QPS: []float64{50}, Latency: micro(20000),
			},
		},
	}}
	params := &target.Bench{Target: vectors, Queries: 10, Points: []target.Point{{Speed: &target.Speed{
		Load:    &target.Load{Params: index.Params{K: 1, SearchParams: every}, Threads: 1, Rounds: 1},
		Answers: found.Answers, QPS: []float64{50}, Latency: micro(20000),
	}}}}
	bad := &target.Verification{Target: graph, Checks: []target.Check{
		{Name: "dimension", Detail: "8, the vectors have 8"},
		{Name: "stored vectors", Outcome: target.Failed, Detail: "3 of 400 differ, the first is row 17"},
		{Name: "links", Outcome: target.Skipped, Detail: "no graph"},
	}}
	good := &target.Verification{Target: graph, Checks: bad.Checks[:1]}
	describe := func(x *target.Target) *target.Description {
		d, err := target.Describe(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	lists := describe(vectors)
	for _, key := range []string{
		"ef_search", "self_links", "doubled_links", "outside_links", "low_links", "nlist", "nprobe", "largest_list",
		"empty_lists",
	} {
		lists.Facts = append(lists.Facts, index.Fact{
			Name: key, Text: "2", Key: key, Number: 2, IsCount: true, IsFault: true,
		})
	}
	lists.Facts = append(lists.Facts, index.Fact{
		Name: "rows in a list", Text: "12.5 on average", Key: "mean_list", Number: 12.5,
	})
	coded := *vectors.File
	coded.Codes = []string{"IxMp", "IxF2"}
	lists.Target = &target.Target{File: &coded}
	info := func(d *target.Description) writeEngine {
		return func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteInfo(b, d, f, o)
		}
	}
	search := func(x *target.SearchResult) writeEngine {
		return func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteSearch(b, x, f, o)
		}
	}
	bench := func(x *target.Bench) writeEngine {
		return func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteBench(b, x, f, o)
		}
	}
	verify := func(v *target.Verification) writeEngine {
		return func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteVerification(b, v, f, o)
		}
	}
	return map[string]writeEngine{
		"info-graph": info(describe(graph)), "info-lists": info(lists), "search": search(found),
		"search-lists": search(others),
		"verify-bad":   verify(bad), "verify-good": verify(good), "bench": bench(speed), "bench-params": bench(params),
	}
}

func TestGoldenEngine(t *testing.T) {
	for name, write := range engineReports(t) {
		rendertest.Report(t, "engine/"+name, render.ReportFormats().Names(), map[string]rendertest.Variant{
			"table": {}, "80": {Width: 80}, "80-ascii": {Width: 80, ASCII: true}, "wide": {}, "json": {}, "yaml": {},
			"jsonl": {}, "csv": {}, "markdown": {},
		}, nil, withVariant(write))
	}
}
