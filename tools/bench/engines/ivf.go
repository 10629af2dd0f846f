package main

import (
	"context"
	"fmt"
	"path/filepath"

	"kitescope/engine"
	"kitescope/engine/index"
	"kitescope/engine/ivf"
)

// listCase is a kind of inverted file, with its name in faiss's index_factory and the bar of its searches; 0:
// no bar.
type listCase struct {
	name, factory string
	bar           float64
}

// lists is the number of lists that faiss trains for 100,000 rows. Milvus's documentation recommends four
// times the square root of the number of rows.
const lists = 1024

func listCases() []listCase {
	return []listCase{
		{"IVF_FLAT", fmt.Sprintf("IVF%d,Flat", lists), 1.5},
		{"IVF_SQ8", fmt.Sprintf("IVF%d,SQ8", lists), 1.5},
	}
}

// nprobes returns the numbers of lists that searches read.
func nprobes() []int { return []int{8, 64} }

// listFile returns the path of an inverted file of a set.
func (f files) listFile(c listCase) string { return f.base + "." + c.name + ".faiss" }

// ensureLists makes faiss train and fill the inverted files of a set, unless they exist.
func (b *bench) ensureLists(ctx context.Context, f files) error {
	if err := f.ensureData(ctx); err != nil {
		return err
	}
	for _, c := range listCases() {
		if !missing(f.listFile(c)) {
			continue
		}
		b.logf("faiss builds %s of %s; it is kept", c.name, f.name())
		if _, err := b.peer.do("faiss_lists", args{
			"vectors": f.vectors, "factory": c.factory, "file": f.listFile(c),
		}); err != nil {
			return err
		}
	}
	return nil
}

// ivf measures searches in inverted files that faiss wrote, against faiss.
func (b *bench) ivf(ctx context.Context) error {
	for _, dim := range []int{128, 768} {
		f := b.set(dim)
		if err := b.ensureLists(ctx, f); err != nil {
			return err
		}
		if err := b.peer.doAll(args{"op": "matrix", "name": "q", "file": f.queries}); err != nil {
			return err
		}
		for _, c := range listCases() {
			if err := b.listSearch(ctx, f, c); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		if err := b.peer.doAll(args{"op": "drop", "name": "q"}); err != nil {
			return err
		}
	}
	return nil
}

// listSide is our side of searches in an inverted file.
type listSide struct {
	file     *index.File
	searcher *ivf.Searcher
	queries  *engine.Vectors
	hits     [][]engine.Hit
}

func (s *listSide) search(nprobe int) (timing, error) {
	return timeThread(func() (err error) {
		for i := range s.hits {
			if s.hits[i], err = s.searcher.Search(s.queries.Row(i), ivf.Params{K: topK, NProbe: nprobe},
				s.hits[i][:0]); err != nil {
				return fmt.Errorf("query %d: %w", i, err)
			}
		}
		return nil
	})
}

func openLists(ctx context.Context, f files, c listCase) (_ *listSide, err error) {
	s := &listSide{}
	if s.queries, err = loadVectors(ctx, f.queries); err != nil {
		return nil, err
	}
	if s.file, err = index.OpenFile(ctx, f.listFile(c), index.Hint{Dim: f.dim}); err != nil {
		return nil, err
	}
	if s.file.CodesPay(manySearches) {
		if err := s.file.Quantize(1); err != nil {
			return nil, err
		}
	}
	s.searcher, err = ivf.New(index.As[ivf.Index](s.file), ivf.Options{Library: engine.Faiss})
	s.hits = make([][]engine.Hit, s.queries.Rows)
	return s, err
}

// listSearch compares single queries. faiss is timed in one call for all queries, in which it finds the lists
// of many queries at once. The compared answers are those of single calls, because faiss's distances depend
// on the number of queries in a call.
func (b *bench) listSearch(ctx context.Context, f files, c listCase) error {
	b.logf("%s: %s", f.name(), c.name)
	s, err := openLists(ctx, f, c)
	if err != nil {
		return err
	}
	defer s.file.Close()
	if err := b.peer.doAll(args{"op": "faiss_load", "name": "lists", "file": f.listFile(c)}); err != nil {
		return err
	}
	truth, err := b.truth(ctx, f)
	if err != nil {
		return err
	}
	out := filepath.Join(b.scratch, "lists")
	for _, nprobe := range nprobes() {
		search := args{"name": "lists", "queries": "q", "k": topK, "nprobe": nprobe, "batch": true}
		if _, err := b.peer.do("faiss_lists_search", search.with("batch", false).with("out", out)); err != nil {
			return err
		}
		theirs, err := readAnswers(ctx, out)
		if err != nil {
			return err
		}
		got, err := pair{
			ours: func() (timing, error) { return s.search(nprobe) },
			theirs: func() (timing, error) {
				t, err := b.peer.do("faiss_lists_search", search)
				return t.Thread, err
			},
		}.run(b.rounds)
		if err != nil {
			return err
		}
		r := row{
			Part:  partIVF,
			What:  sprintf("%s search, faiss's file, %s, %d lists, nprobe %d", c.name, f.title(), lists, nprobe),
			Bar:   c.bar,
			Ratio: got.faster(), Ours: span(medianPerOp(got.Ours, queries)),
			Their: span(medianPerOp(got.Theirs, queries)) + ", faiss",
		}
		r.setAgreement(agree(s.hits, theirs))
		r.Same += sprintf(", recall %.3f", recall(s.hits, truth))
		b.report.add(r)
	}
	return b.peer.doAll(args{"op": "drop", "name": "lists"})
}
