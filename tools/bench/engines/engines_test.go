package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/index"
)

// TestPairsAlternateAfterWarmup checks that sides alternate and that the first pair is not
// counted.
func TestPairsAlternateAfterWarmup(t *testing.T) {
	var order strings.Builder
	times := map[string][]timing{"a": {999, 10, 20, 30}, "b": {1, 20, 80, 90}}
	side := func(name string) func() (timing, error) {
		return func() (timing, error) {
			order.WriteString(name)
			took := times[name][0]
			times[name] = times[name][1:]
			return took, nil
		}
	}
	got, err := pair{ours: side("a"), theirs: side("b")}.run(3)
	if err != nil || order.String() != "abbaabba" {
		t.Errorf("order %s, %v", &order, err)
	}
	if f := got.faster(); f != (spread{Median: 3, Least: 2, Most: 4}) {
		t.Errorf("ratios %+v of %+v", f, got)
	}
	if m := medianPerOp(got.Theirs, 4); m != 20 {
		t.Errorf("middle %v", m)
	}
	fault := errors.New("no")
	if _, err := (pair{func() (timing, error) {
		return 1,
			nil
	}, func() (timing, error) { return 0, fault }}).run(0); !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
}

// TestAgreementAndRecall checks the counts of equal answers and the recall.
func TestAgreementAndRecall(t *testing.T) {
	a := [][]engine.Hit{{{ID: 1, Distance: 1}, {ID: 2, Distance: 2}}, {{ID: 3, Distance: 1}, {ID: 4, Distance: 1}}}
	b := [][]engine.Hit{
		{{ID: 1, Distance: 1}, {ID: 2, Distance: 2.0000002}}, {{ID: 4, Distance: 1}, {ID: 3, Distance: 1}},
	}
	if got := agree(a, b); got != (agreement{Queries: 2, IDs: 1, Bits: 1}) {
		t.Errorf("%+v", got)
	}
	if got := agree(a, a[:1]); got != (agreement{Queries: 2, IDs: 1, Bits: 1}) {
		t.Errorf("an answer that is not there counts: %+v", got)
	}
	if got := recall([][]engine.Hit{{{ID: 2}, {ID: 9}}, {{ID: 4}, {ID: 3}}}, a); got != 0.75 {
		t.Errorf("recall %v", got)
	}
}

// TestMilvusFilesLoad checks that the written index files can be loaded and decompressed.
func TestMilvusFilesLoad(t *testing.T) {
	f := shape{dim: 8, rows: 300}.files(t.TempDir())
	if err := f.ensureData(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := loadVectors(t.Context(), f.vectors)
	if err != nil {
		t.Fatal(err)
	}
	x, err := ourBuild(t.Context(), v, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(f.hnswlib, func(out *os.File) error { return index.WriteHNSWLib(out, x) }); err != nil {
		t.Fatal(err)
	}
	b := &bench{ctx: t.Context(), progress: t.Output(), cache: filepath.Dir(f.base)}
	if err := b.ensureMilvus(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if err := loadMilvus(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	// Pages hold each byte as an index into a dictionary, in runs if it repeats.
	size, grown, err := decompress(f.milvus)
	if blob := int64(300 * (8*4 + 4 + 4*2*linksM)); err != nil || size == 0 || grown < blob/4 || grown > 3*blob {
		t.Errorf("%d bytes grow to %d, %v; the blob has %d", size, grown, err, blob)
	}

	var said bytes.Buffer
	if err := printResident(t.Context(), f.base, &said); err != nil || !strings.Contains(said.String(), `"parts":`) {
		t.Errorf("%v: %s", err, &said)
	}
}

// TestAnswersOfThePeerAreRead checks that ids and distances saved by the peer are read.
func TestAnswersOfThePeerAreRead(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x")
	distances, err := engine.FromFloat32s(2, []float32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, w func(*os.File) error) {
		t.Helper()
		if err := replaceFile(out+name, w); err != nil {
			t.Fatal(err)
		}
	}
	write(".ids.npy", func(f *os.File) error { return dataset.WriteIDs(f, [][]int64{{7, 8}, {9, -1}}) })
	write(".distances.npy", func(f *os.File) error { return dataset.WriteNPY(f, distances) })
	got, err := readAnswers(t.Context(), out)
	want := [][]engine.Hit{{{ID: 7, Distance: 1}, {ID: 8, Distance: 2}}, {{ID: 9, Distance: 3}, {ID: -1, Distance: 4}}}
	if err != nil || agree(got, want) != (agreement{2, 2, 2}) {
		t.Errorf("%v, %v", got, err)
	}
}
