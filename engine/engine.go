// Package engine defines the types shared by the parts of the reference query engine: vectors in memory, bitsets,
// hits, search parameters and libraries.
//
// The parts, from files to hits:
//
//   - engine/object reads folders, archives and buckets.
//   - engine/binlog decodes Milvus's logs and envelopes, with engine/parquet. engine/manifest lists the files of a
//     segment of storage version 3.
//   - engine/dataset reads the vector files of benchmarks.
//   - engine/index reads the index files of hnswlib, faiss and knowhere. Its Searchers search any kind of index.
//   - engine/flat, engine/ivf, engine/hnsw and engine/sparse search vectors and indexes of one kind. engine/dist
//     computes distances, and engine/prefilter rules out rows by codes of 8 bits.
//   - engine/expr evaluates filters.
//   - engine/segment assembles the files of a Milvus segment, and searches several segments as a query node does.
//   - engine/target searches a single index or file of vectors, and computes its recall.
package engine

import (
	"math/bits"

	"kitescope/engine/dist"
)

// Metric is a distance metric.
type Metric = dist.Metric

// Hit is one result of a search. Distance is the value that the library returns to its caller: the squared distance
// for L2, a similarity for the inner product of knowhere and faiss.
type Hit struct {
	ID       int64
	Distance float32
}

// Bitset is a set of marked rows. In a filter, marked rows are excluded (as in Milvus, where a set bit is
// filtered). A nil Bitset is empty.
type Bitset struct {
	words []uint64
	n     int
	count int
}

// NewBitset returns a Bitset over n rows, all unmarked.
func NewBitset(n int) *Bitset { return &Bitset{words: make([]uint64, (n+63)/64), n: n} }

// Set marks row i.
func (b *Bitset) Set(i int) {
	w, m := i>>6, uint64(1)<<(i&63)
	if b.words[w]&m == 0 {
		b.words[w] |= m
		b.count++
	}
}

// Has reports whether row i is marked. Rows at or beyond Len are unmarked.
func (b *Bitset) Has(i int) bool {
	return b != nil && i>>6 < len(b.words) && b.words[i>>6]&(1<<(i&63)) != 0
}

// Count returns the number of marked rows.
func (b *Bitset) Count() int {
	if b == nil {
		return 0
	}
	return b.count
}

// Len returns the number of rows that the set covers.
func (b *Bitset) Len() int {
	if b == nil {
		return 0
	}
	return b.n
}

// Words returns the bits, or nil if no row is marked. Row i is bit i%64 of word i/64.
func (b *Bitset) Words() []uint64 {
	if b.Count() == 0 {
		return nil
	}
	return b.words
}

// SetUnion sets b to the union of x and y. The length of b must be that of the longer set.
func (b *Bitset) SetUnion(x, y *Bitset) {
	b.count = 0
	for i := range b.words {
		var w uint64
		if x != nil && i < len(x.words) {
			w = x.words[i]
		}
		if y != nil && i < len(y.words) {
			w |= y.words[i]
		}
		b.words[i] = w
		b.count += bits.OnesCount64(w)
	}
}

// Mask returns the bits like Words, but never nil for an empty set.
func (b *Bitset) Mask() []uint64 { return b.words }

// Reset unmarks all rows.
func (b *Bitset) Reset() {
	clear(b.words)
	b.count = 0
}

// Invert marks the unmarked rows and unmarks the marked ones.
func (b *Bitset) Invert() {
	for i, w := range b.words {
		b.words[i] = ^w
	}
	if rest := b.n & 63; rest != 0 {
		b.words[len(b.words)-1] &= 1<<rest - 1
	}
	b.count = b.n - b.count
}

// Or returns the union of b and c. It changes neither, and may return b or c itself.
func (b *Bitset) Or(c *Bitset) *Bitset {
	if c.Count() == 0 {
		return b
	}
	if b.Count() == 0 {
		return c
	}
	or := NewBitset(max(b.n, c.n))
	copy(or.words, b.words)
	for i, w := range c.words {
		or.words[i] |= w
	}
	for _, w := range or.words {
		or.count += bits.OnesCount64(w)
	}
	return or
}

// Assign sets the bits of b to words, which must hold at least as many words as b.
func (b *Bitset) Assign(words []uint64) {
	b.count = 0
	for i := range b.words {
		b.words[i] = words[i]
		b.count += bits.OnesCount64(words[i])
	}
}
