package main

import (
	"context"
	"fmt"
	"path/filepath"

	"kitescope/engine"
	"kitescope/engine/flat"
)

// flatSide is our side of an exhaustive search.
type flatSide struct {
	files
	vectors, queries *engine.Vectors
	index            flat.Index
	searcher         *flat.Searcher
	hits             [][]engine.Hit
}

func openExact(ctx context.Context, f files, vectors, queries string, o flat.Options) (*flatSide, error) {
	e := &flatSide{files: f}
	var err error
	if e.vectors, err = loadVectors(ctx, vectors); err != nil {
		return nil, err
	}
	if e.queries, err = loadVectors(ctx, queries); err != nil {
		return nil, err
	}
	e.hits = make([][]engine.Hit, e.queries.Rows)
	e.index = flat.Index{Vectors: e.vectors}
	e.searcher, err = flat.New(&e.index, o)
	return e, err
}

// quantize makes searches use quantized codes of the rows. It returns the memory and time that the codes take,
// as text.
func (e *flatSide) quantize(o flat.Options) (text string, err error) {
	took, err := timeProcess(func() error { return e.index.Quantize(1) })
	if err != nil {
		return "", err
	}
	if e.searcher, err = flat.New(&e.index, o); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s more, made in %s", megabytes(int64(e.index.Codes.Bytes())), span(took)), nil
}

func (e *flatSide) close() {
	if e.index.Codes != nil {
		e.index.Codes.Release()
	}
	e.vectors.Release()
	e.queries.Release()
}

// singles runs the first count queries one after the other on one thread.
func (e *flatSide) singles(count int) (timing, error) {
	return timeThread(func() (err error) {
		for i := range count {
			if e.hits[i], err = e.searcher.Search(e.queries.Row(i), flat.Params{K: topK}, e.hits[i][:0]); err != nil {
				return err
			}
		}
		return nil
	})
}

// flatCase holds a dimension, the number of single queries per round, and the bars for single queries and
// batches.
type flatCase struct {
	dim, singles  int
	single, batch float64
}

func (b *bench) flat(ctx context.Context) error {
	for _, c := range []flatCase{{128, 100, 1.8, 1.3}, {768, 30, 3.3, 1.8}} {
		f := b.set(c.dim)
		if err := f.ensureData(ctx); err != nil {
			return err
		}
		b.logf("%s: FLAT", f.name())
		e, err := openExact(ctx, f, f.vectors, f.queries, flat.Options{Library: engine.Faiss})
		if err != nil {
			return err
		}
		err = b.peer.doAll(
			args{"op": "matrix", "name": "x", "file": f.vectors}, args{"op": "matrix", "name": "q", "file": f.queries},
			args{"op": "faiss_flat", "name": "flat", "vectors": "x"}, args{"op": "drop", "name": "x"},
		)
		if err != nil {
			return err
		}
		if err := b.flatSearches(ctx, e, c); err != nil {
			return err
		}
		e.close()
		if err := b.peer.doAll(args{"op": "drop", "name": "flat"}, args{"op": "drop", "name": "q"}); err != nil {
			return err
		}
	}
	return nil
}

// flatSearches measures searches without and with codes. Without codes the only bar is the memory bandwidth.
func (b *bench) flatSearches(ctx context.Context, e *flatSide, c flatCase) error {
	plain := flatCase{dim: c.dim, singles: c.singles}
	if err := b.flatSingle(ctx, e, plain, ""); err != nil {
		return err
	}
	if err := b.flatShare(e, plain); err != nil {
		return err
	}
	if err := b.flatBatch(e, plain, ""); err != nil {
		return err
	}
	text, err := e.quantize(flat.Options{Library: engine.Faiss})
	if err != nil {
		return err
	}
	r := float64(e.index.Codes.Bytes()+e.vectors.Bytes()) / float64(e.vectors.Bytes())
	b.report.add(row{
		Part: partFlat, What: "memory with codes, " + e.title(), AtMost: true, Bar: 1.35, Ratio: spread{r, r, r},
		Ours: text, Their: megabytes(int64(e.vectors.Bytes())) + " of vectors",
	})
	if err := b.flatSingle(ctx, e, c, ", codes"); err != nil {
		return err
	}
	return b.flatBatch(e, c, ", codes")
}

func (b *bench) flatSingle(ctx context.Context, e *flatSide, c flatCase, how string) error {
	out := filepath.Join(b.scratch, "flat")
	search := args{"name": "flat", "queries": "q", "k": topK, "batch": false, "count": c.singles}
	if _, err := b.peer.do("faiss_flat_search", search.with("out", out)); err != nil {
		return err
	}
	theirs, err := readAnswers(ctx, out)
	if err != nil {
		return err
	}
	got, err := pair{
		ours: func() (timing, error) { return e.singles(c.singles) },
		theirs: func() (timing, error) {
			t, err := b.peer.do("faiss_flat_search", search)
			return t.Thread, err
		},
	}.run(b.rounds)
	if err != nil {
		return err
	}
	r := row{
		Part: partFlat, What: "FLAT, one query, " + e.title() + how, Bar: c.single, Ratio: got.faster(),
		Ours: span(medianPerOp(got.Ours, c.singles)), Their: span(medianPerOp(got.Theirs, c.singles)) + ", faiss",
	}
	r.setAgreement(agree(e.hits[:c.singles], theirs))
	b.report.add(r)
	return nil
}

// flatShare compares the search with plain reads, in turn: of memory larger than any cache, which has the
// bar, and of the same rows, which may be partly cached.
func (b *bench) flatShare(e *flatSide, c flatCase) error {
	large, err := newStreamBuffer()
	if err != nil {
		return err
	}
	defer large.Release()
	for _, limit := range []struct {
		rows  *engine.Vectors
		reads int
		bar   float64
		name  string
	}{{large, 4, 0.85, "memory only read"}, {e.vectors, 8, 0, "the same rows only read"}} {
		got, err := pair{
			ours:   func() (timing, error) { return e.singles(c.singles) },
			theirs: func() (timing, error) { return stream(limit.rows, limit.reads), nil },
		}.run(b.rounds)
		if err != nil {
			return err
		}
		// Bytes per nanosecond on both sides.
		ours, theirs, shares := make([]float64, b.rounds), make([]float64, b.rounds), make([]float64, b.rounds)
		for i := range shares {
			ours[i] = float64(e.vectors.Bytes()) * float64(c.singles) / float64(got.Ours[i])
			theirs[i] = float64(limit.rows.Bytes()) * float64(limit.reads) / float64(got.Theirs[i])
			shares[i] = ours[i] / theirs[i]
		}
		b.report.add(row{
			Part: partFlat, What: "FLAT, one query, " + e.title() + ", bandwidth", Bar: limit.bar,
			Ratio: spreadOf(shares),
			Ours:  fmt.Sprintf("%.1f GB/s", spreadOf(ours).Median),
			Their: fmt.Sprintf("%.1f GB/s, %s", spreadOf(theirs).Median, limit.name),
		})
	}
	return nil
}

func (b *bench) flatBatch(e *flatSide, c flatCase, how string) error {
	var answers [][]engine.Hit
	got, err := pair{
		ours: func() (timing, error) {
			return timeProcess(func() (err error) {
				answers, err = e.searcher.SearchBatch(e.queries, flat.Params{K: topK}, 1)
				return err
			})
		},
		theirs: func() (timing, error) {
			t, err := b.peer.do("faiss_flat_search", args{
				"name": "flat", "queries": "q", "k": topK, "batch": true, "count": queries,
			})
			return t.Process, err
		},
	}.run(b.rounds)
	if err != nil {
		return err
	}
	if _, err := e.singles(e.queries.Rows); err != nil {
		return err
	}
	r := row{
		Part: partFlat, What: fmt.Sprintf("FLAT, batch of %d, %s", queries, e.title()) + how, Bar: c.batch,
		Ratio: got.faster(),
		Ours:  span(medianPerOp(got.Ours, queries)) + " a query",
		Their: span(medianPerOp(got.Theirs, queries)) + ", faiss with BLAS",
	}
	r.setAgreement(agree(answers, e.hits))
	r.Same += " of our single queries"
	b.report.add(r)
	return nil
}

// half compares float16 with float32 on our side, for the same vectors.
func (b *bench) half(ctx context.Context) error {
	for _, dim := range []int{128, 768} {
		if err := b.halfOf(ctx, b.set(dim)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) halfOf(ctx context.Context, f files) error {
	if err := f.ensureData(ctx); err != nil {
		return err
	}
	b.logf("%s: float16", f.name())
	vectors, queries := f.base+".f16.npy", f.base+".queries.f16.npy"
	for from, to := range map[string]string{f.vectors: vectors, f.queries: queries} {
		if !missing(to) {
			continue
		}
		if _, err := b.peer.do("half", args{"file": from, "out": to}); err != nil {
			return err
		}
	}
	o := flat.Options{Library: engine.Knowhere22}
	short, err := openExact(ctx, f, vectors, queries, o)
	if err != nil {
		return err
	}
	defer short.close()
	long, err := openExact(ctx, f, f.vectors, f.queries, o)
	if err != nil {
		return err
	}
	defer long.close()
	const singles = 30
	got, err := pair{
		ours:   func() (timing, error) { return short.singles(singles) },
		theirs: func() (timing, error) { return long.singles(singles) },
	}.run(b.rounds)
	if err != nil {
		return err
	}
	found := recall(short.hits[:singles], long.hits[:singles])
	b.report.add(row{
		Part: partHalf, What: "FLAT, one query, float16, " + f.title(), Bar: 1.8, Ratio: got.faster(),
		Ours: span(medianPerOp(got.Ours, singles)), Their: span(medianPerOp(got.Theirs, singles)) + ", our float32",
		Same: fmt.Sprintf("recall %.3f of float32", found), Wrong: found < 0.95,
	})
	return nil
}
