package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func sameBits(x, y engine.Hit) bool {
	return math.Float32bits(x.Distance) == math.Float32bits(y.Distance)
}

// manySearches is the expected number of searches of an index. It decides whether the index gets codes.
const manySearches = 1_000_000

// fileKind is the library whose file both sides open.
type fileKind int

const (
	fileHNSWLib fileKind = iota
	fileFaiss
)

func (k fileKind) String() string { return [...]string{"hnswlib", "faiss"}[k] }

// searchSide is our side of a search, with a peer's index file open.
type searchSide struct {
	name     string
	file     *index.File
	index    *hnsw.Index
	policy   engine.Library
	searcher *hnsw.Searcher
	set      *dataset.Set // of queries
	queries  *engine.Vectors
	hits     [][]engine.Hit
}

// openHNSW opens the index file of a set on our side.
func (b *bench) openHNSW(f files, kind fileKind) (_ *searchSide, err error) {
	s := &searchSide{name: f.title(), policy: engine.HNSWLib}
	if kind == fileFaiss {
		s.policy = engine.Faiss
	}
	if s.set, err = dataset.Open(b.ctx, f.queries); err != nil {
		return nil, err
	}
	s.queries = s.set.Vectors
	if s.file, err = index.OpenFile(b.ctx, f.index(kind), index.Hint{Dim: f.dim}); err != nil {
		return nil, err
	}
	if s.file.CodesPay(manySearches) {
		if err := s.file.Quantize(1); err != nil {
			return nil, err
		}
	}
	s.index = index.As[hnsw.Index](s.file)
	s.searcher, err = s.index.NewSearcher(hnsw.Options{Library: s.policy})
	s.hits = make([][]engine.Hit, s.queries.Rows)
	for i := range s.hits {
		s.hits[i] = make([]engine.Hit, 0, topK)
	}
	return s, err
}

func (s *searchSide) close() {
	s.set.Close()
	s.file.Close()
	s.index.Vectors.Release()
}

// search runs all queries on one thread.
func (s *searchSide) search(ef int) (timing, error) {
	p := hnsw.Params{K: topK, EF: ef}
	return timeThread(func() (err error) {
		for i := range s.hits {
			if s.hits[i], _, err = s.searcher.SearchFloat32(s.queries.Float32(i), p, s.hits[i][:0]); err != nil {
				return fmt.Errorf("query %d: %w", i, err)
			}
		}
		return nil
	})
}

// efs returns the measured values of ef, the length of the candidate list.
func efs() []int { return []int{16, 32, 64, 128} }

// hnswSearch measures searches in the file that a peer wrote, against that peer.
func (b *bench) hnswSearch(ctx context.Context, part string, f files, kind fileKind, bar float64) error {
	if err := b.ensure(kind)(ctx, f); err != nil {
		return err
	}
	b.logf("%s: HNSW search against %s", f.name(), kind)
	ours, err := b.openHNSW(f, kind)
	if err != nil {
		return err
	}
	defer ours.close()
	err = b.peer.doAll(
		args{"op": "matrix", "name": "q", "file": f.queries},
		args{"op": kind.String() + "_load", "name": "index", "file": f.index(kind), "dim": f.dim},
	)
	if err != nil {
		return err
	}
	out := filepath.Join(b.scratch, "search")
	truth, err := b.truth(ctx, f)
	if err != nil {
		return err
	}
	for _, ef := range efs() {
		search := args{"name": "index", "queries": "q", "k": topK, "ef": ef}
		if _, err := b.peer.do(kind.String()+"_search", search.with("out", out)); err != nil {
			return err
		}
		theirs, err := readAnswers(ctx, out)
		if err != nil {
			return err
		}
		got, err := pair{
			ours: func() (timing, error) { return ours.search(ef) },
			theirs: func() (timing, error) {
				t, err := b.peer.do(kind.String()+"_search", search)
				return t.Thread, err
			},
		}.run(b.rounds)
		if err != nil {
			return err
		}
		r := row{
			Part: part, What: sprintf("HNSW search, %s's file, %s, ef %d", kind, f.title(), ef), Bar: bar,
			Ratio: got.faster(),
			Ours:  span(medianPerOp(got.Ours, queries)),
			Their: span(medianPerOp(got.Theirs, queries)) + ", " + kind.String(),
		}
		r.setAgreement(agree(ours.hits, theirs))
		r.Same += sprintf(", recall %.3f", recall(ours.hits, truth))
		b.report.add(r)
	}
	return b.peer.doAll(args{"op": "drop", "name": "index"}, args{"op": "drop", "name": "q"})
}

// truth returns the true neighbours of a set's queries. It caches those of the last set, because each set is
// measured against two peers.
func (b *bench) truth(ctx context.Context, f files) ([][]engine.Hit, error) {
	if b.truthOf == f.base {
		return b.truths, nil
	}
	e, err := openExact(ctx, f, f.vectors, f.queries, flat.Options{Library: engine.HNSWLib})
	if err != nil {
		return nil, err
	}
	defer e.close()
	b.truths, err = e.searcher.SearchBatch(e.queries, flat.Params{K: topK}, 0)
	b.truthOf = f.base
	return b.truths, err
}

// with returns a copy of the arguments with one more.
func (a args) with(key string, value any) args {
	more := maps.Clone(a)
	more[key] = value
	return more
}

// readAnswers reads the answers of a search that the peer saved.
func readAnswers(ctx context.Context, out string) ([][]engine.Hit, error) {
	ids, err := dataset.Open(ctx, out+".ids.npy")
	if err != nil {
		return nil, err
	}
	distances, err := dataset.Open(ctx, out+".distances.npy")
	if err != nil {
		return nil, err
	}
	defer distances.Close()
	if distances.Vectors == nil || distances.Vectors.Rows != len(ids.IDs) {
		return nil, fmt.Errorf("%s: distances of %d queries were expected", out, len(ids.IDs))
	}
	hits := make([][]engine.Hit, len(ids.IDs))
	for i, row := range ids.IDs {
		for j, d := range distances.Vectors.Float32(i) {
			hits[i] = append(hits[i], engine.Hit{ID: row[j], Distance: d})
		}
	}
	return hits, nil
}
