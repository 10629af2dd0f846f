package flat

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
)

const (
	// blockBytes is the size of a block of rows that all queries of a panel are compared with. A block stays in a
	// core's level 2 cache of 1 MiB, with room for the queries.
	blockBytes = 256 << 10
	// panelQueries and queryBytes limit a panel: the queries that are compared with the rows together. The rows are
	// read from memory once per panel (with 64 queries, this still took an eighth of the time). The queries are
	// read from the level 2 cache once per block. minQueries is the minimum for long queries.
	panelQueries = 1024
	queryBytes   = 512 << 10
	minQueries   = 128
	// blockRows limits the rows of a block so that their distances stay in the level 1 cache.
	blockRows = 512
	// panelBytes limits the memory for the hits of a panel while they are collected.
	panelBytes = 32 << 20
)

// SearchBatch searches all queries and returns the same hits as Search. It computes distances in blocks with at
// most threads goroutines (0: one per CPU). Results depend neither on the number of goroutines nor on the blocks.
func (s *Searcher) SearchBatch(queries *engine.Vectors, p Params, threads int) ([][]engine.Hit, error) {
	if err := s.checkK(p.K); err != nil {
		return nil, err
	}
	if err := checkQueries(queries, s.index.Vectors); err != nil {
		return nil, err
	}
	left, err := s.excluded(p.Filter)
	if err != nil {
		return nil, err
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = max(1, min(threads, queries.Rows))
	size := panelSize(queries, s.queryBytes(queries), p.K, threads)
	answers := make([][]engine.Hit, queries.Rows)
	errs := make([]error, threads)
	var next atomic.Int64
	var workers sync.WaitGroup
	for w := range min(threads, (queries.Rows+size-1)/size) {
		workers.Go(func() {
			b := s.Clone().panel(size)
			for errs[w] == nil {
				first := int(next.Add(1)-1) * size
				if first >= queries.Rows {
					return
				}
				errs[w] = b.run(queries, first, p.K, left, answers[first:min(first+size, queries.Rows)])
			}
		})
	}
	workers.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return answers, nil
}

// queryBytes returns the size of a query in the cache during a scan, in bytes.
func (s *Searcher) queryBytes(queries *engine.Vectors) int {
	if s.codes != nil {
		return s.codes.QueryBytes()
	}
	return queries.Size()
}

// panelSize returns the number of queries in a panel, a multiple of 4.
func panelSize(queries *engine.Vectors, bytes, k, threads int) int {
	size := min(panelQueries, max(minQueries, queryBytes/bytes))
	size = min(size, (queries.Rows+threads-1)/threads)
	size = min(size, panelBytes/(k*16))
	return max(4, (size+3)&^3)
}

// panel is a group of queries that are compared with the rows together, and their hits.
type panel struct {
	*Searcher
	size   int
	stride int    // bytes from one query to the next
	rows   int    // rows per block
	bytes  []byte // the queries in the format of the kernels
	norms  []float32
	tops   []*TopK
	tiles  []float32 // distances from four queries to a block

	quantized *quantizedPanel // nil without codes
}

func (s *Searcher) panel(size int) *panel {
	v := s.index.Vectors
	// A block has at least 64 rows, so that filters are read in whole words, and at most as many as the lists of
	// chosen rows can hold.
	rows := min(max(blockBytes/v.Stride&^63, 64), blockRows)
	b := &panel{Searcher: s, size: size, rows: rows, norms: make([]float32, size), tops: make([]*TopK, size)}
	for i := range b.tops {
		b.tops[i] = s.collector()
	}
	b.tiles = make([]float32, 4*rows)
	if s.codes != nil && v.Rows > sieveRows {
		b.quantized = s.newQuantizedPanel(size)
	}
	return b
}

// load prepares n queries, starting at first.
func (b *panel) load(queries *engine.Vectors, first, k, n int) error {
	for i := range n {
		q, err := b.prepare(queries.Row(first + i))
		if err != nil {
			return err
		}
		if b.bytes == nil {
			b.stride = (len(q.bytes) + 63) &^ 63
			b.bytes = dist.Aligned(b.size * b.stride)
		}
		copy(b.bytes[i*b.stride:], q.bytes)
		b.norms[i] = q.norm
		b.tops[i].reset(k)
		b.quantized.load(i, q)
	}
	return nil
}

// run searches the queries from first on and writes their hits to answers.
func (b *panel) run(queries *engine.Vectors, first, k int, excluded []uint64, answers [][]engine.Hit) error {
	if err := b.load(queries, first, k, len(answers)); err != nil {
		return err
	}
	v := b.index.Vectors
	for row := 0; row < v.Rows; {
		n := min(b.rows, v.Rows-row)
		if b.quantized.ready(row, k) {
			n = min(b.quantized.rows, v.Rows-row)
			b.sift(row, n, len(answers), excluded)
		} else {
			b.compare(row, n, len(answers), excluded)
		}
		row += n
	}
	for i := range answers {
		answers[i] = b.tops[i].Hits(make([]engine.Hit, 0, min(k, v.Rows)))
		b.relabel(answers[i])
	}
	return nil
}

// compare computes the distances of the first count queries to the n rows from row on.
func (b *panel) compare(row, n, count int, excluded []uint64) {
	all := true
	if excluded != nil {
		b.chosen, all = choose(b.chosen, excluded, row, n, fewRows)
	}
	switch {
	case all:
		for i := 0; i < count; i += 4 {
			b.block(i, min(4, count-i), row, n, excluded)
		}
	case len(b.chosen) > 0:
		base := unsafe.Add(b.index.Vectors.Base(), row*b.index.Vectors.Stride)
		for i := range count {
			b.gather(b.query(i), base, row, b.chosen, b.tops[i])
		}
	}
}

func (b *panel) query(i int) query {
	return query{bytes: b.bytes[i*b.stride : (i+1)*b.stride], norm: b.norms[i]}
}

// block compares the four queries from i on with n rows, and adds the distances of the first count queries. The
// other queries may be left over from an earlier panel; computing their distances is harmless.
func (b *panel) block(i, count, row, n int, excluded []uint64) {
	v := b.index.Vectors
	q, x := unsafe.Pointer(&b.bytes[i*b.stride]), unsafe.Add(v.Base(), row*v.Stride)
	d := b.tiles[:4*n]
	if count == 1 {
		b.kernel.Scan(q, x, uintptr(v.Stride), d[:n])
	} else {
		b.kernel.Block(q, uintptr(b.stride), x, uintptr(v.Stride), d, n)
	}
	for j := range count {
		one := d[j*n : (j+1)*n]
		b.divideRun(one, row, b.norms[i+j])
		b.tops[i+j].addRun(one, row, excluded)
	}
}
