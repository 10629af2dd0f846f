package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

// build measures builds against hnswlib. On one thread the files must be equal to the byte, on two threads
// the recall. A build takes so long that one pair is enough.
func (b *bench) build(ctx context.Context) error {
	for _, c := range []struct {
		dim int
		bar float64
	}{{128, 1.9}, {768, 1.9}} {
		if err := b.buildOne(ctx, b.set(c.dim), c.bar); err != nil {
			return err
		}
	}
	return b.buildTwo(ctx, b.set(128), 1.6)
}

// ourBuild builds a graph with the rules of hnswlib.
func ourBuild(ctx context.Context, v *engine.Vectors, threads int) (*hnsw.Index, error) {
	return hnsw.Build(ctx, v, hnsw.BuildOptions{
		M: linksM, EFConstruction: buildEF, Metric: dist.L2, Seed: 100, Threads: threads, Library: engine.HNSWLib,
	})
}

// loadVectors returns the vectors of a file as an index stores them: owned, aligned and in huge pages.
func loadVectors(ctx context.Context, path string) (*engine.Vectors, error) {
	s, err := dataset.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if s.Vectors == nil {
		return nil, fmt.Errorf("%s holds no vectors", path)
	}
	v, err := engine.NewVectors(s.Vectors.Element, s.Vectors.Dim, s.Vectors.Rows)
	if err != nil {
		return nil, err
	}
	for i := range v.Rows {
		copy(v.Row(i), s.Vectors.Row(i))
	}
	return v, nil
}

func (b *bench) buildOne(ctx context.Context, f files, bar float64) error {
	if err := b.ensureHNSWLib(ctx, f); err != nil {
		return err
	}
	b.logf("%s: building on one thread, in turn", f.name())
	v, err := loadVectors(ctx, f.vectors)
	if err != nil {
		return err
	}
	defer v.Release()
	var built *hnsw.Index
	var got pairs
	for range b.buildRounds {
		ours, err := timeProcess(func() (err error) { built, err = ourBuild(ctx, v, 1); return err })
		if err != nil {
			return err
		}
		theirs, err := b.peer.do("hnswlib_build", args{
			"vectors": f.vectors, "m": linksM, "ef_construction": buildEF, "threads": 1,
		})
		if err != nil {
			return err
		}
		got.Ours, got.Theirs = append(got.Ours, ours), append(got.Theirs, theirs.Process)
	}
	r := row{
		Part: partBuild, What: "HNSW build, one thread, " + f.title(), Bar: bar, Ratio: got.faster(),
		Ours: span(medianPerOp(got.Ours, 1)), Their: span(medianPerOp(got.Theirs, 1)) + ", hnswlib",
		Same: "file equal to the byte",
	}
	want, err := os.Open(f.hnswlib)
	if err != nil {
		return err
	}
	defer want.Close()
	c := &comparer{want: want}
	if err := index.WriteHNSWLib(c, built); err != nil {
		return err
	}
	if info, err := want.Stat(); err != nil || c.differ > 0 || c.written != info.Size() {
		r.Wrong, r.Same = true, fmt.Sprintf("file differs in %d bytes of %d", c.differ, c.written)
	}
	b.report.add(r)
	return nil
}

// comparer counts the written bytes that differ from those of a file.
type comparer struct {
	want            io.Reader
	differ, written int64
	buffer          []byte
}

func (c *comparer) Write(p []byte) (int, error) {
	if len(c.buffer) < len(p) {
		c.buffer = make([]byte, len(p))
	}
	n, err := io.ReadFull(c.want, c.buffer[:len(p)])
	if err != nil && n == len(p) {
		return 0, err
	}
	for i := range p {
		if i >= n || c.buffer[i] != p[i] {
			c.differ++
		}
	}
	c.written += int64(len(p))
	return len(p), nil
}

// buildTwo compares builds on two threads by wall time, so waiting for the other thread counts. Graphs differ
// from run to run, so it compares their recall instead of their bytes.
func (b *bench) buildTwo(ctx context.Context, f files, bar float64) error {
	b.logf("%s: building on two threads, in turn", f.name())
	v, err := loadVectors(ctx, f.vectors)
	if err != nil {
		return err
	}
	defer v.Release()
	theirFile := filepath.Join(b.scratch, "two.hnswlib")
	var built *hnsw.Index
	var got pairs
	var controls []float64
	for range b.buildRounds {
		controls = append(controls, control())
		began := time.Now()
		if built, err = ourBuild(ctx, v, 2); err != nil {
			return err
		}
		got.Ours = append(got.Ours, time.Since(began))
		theirs, err := b.peer.do("hnswlib_build", args{
			"vectors": f.vectors, "m": linksM, "ef_construction": buildEF, "threads": 2, "file": theirFile,
		})
		if err != nil {
			return err
		}
		got.Theirs = append(got.Theirs, theirs.Wall)
		controls = append(controls, control())
	}
	ours, theirs, err := b.recalls(ctx, f, v, built, theirFile)
	if err != nil {
		return err
	}
	r := row{
		Part: partBuild, What: "HNSW build, two threads, " + f.title() + ", wall time", Bar: bar, Ratio: got.faster(),
		Ours: span(medianPerOp(got.Ours, 1)), Their: span(medianPerOp(got.Theirs, 1)) + ", hnswlib",
		Same: fmt.Sprintf("recall %.4f and %.4f, control %.2fx", ours, theirs, spreadOf(controls).Median),
	}
	r.Wrong = theirs-ours > 0.001
	if c := spreadOf(controls).Median; c < minTwoCores {
		r.Void = fmt.Sprintf("the control got %.2f cores", c)
	}
	b.report.add(r)
	return nil
}

// recalls returns the recall of two graphs over the same vectors, searched with the same code and ef 64.
func (b *bench) recalls(
	ctx context.Context, f files, v *engine.Vectors, built *hnsw.Index, theirFile string,
) (ours, theirs float64, err error) {
	q, err := loadVectors(ctx, f.queries)
	if err != nil {
		return 0, 0, err
	}
	defer q.Release()
	exact, err := flat.New(&flat.Index{Vectors: v}, flat.Options{Library: engine.HNSWLib})
	if err != nil {
		return 0, 0, err
	}
	truth, err := exact.SearchBatch(q, flat.Params{K: topK}, 0)
	if err != nil {
		return 0, 0, err
	}
	file, err := index.OpenFile(ctx, theirFile, index.Hint{Dim: f.dim})
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	found := [2]float64{math.NaN(), math.NaN()}
	for side, x := range []*hnsw.Index{built, index.As[hnsw.Index](file)} {
		s, err := x.NewSearcher(hnsw.Options{Library: engine.HNSWLib})
		if err != nil {
			return 0, 0, err
		}
		hits := make([][]engine.Hit, q.Rows)
		for i := range hits {
			if hits[i], _, err = s.SearchFloat32(q.Float32(i), hnsw.Params{K: topK, EF: 64}, nil); err != nil {
				return 0, 0, err
			}
		}
		found[side] = recall(hits, truth)
	}
	return found[0], found[1], nil
}
