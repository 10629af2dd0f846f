// Package engine holds what the parts of the reference query engine share: vectors in memory,
// filters, hits.
//
// The parts, in the order in which data flows: engine/object reads folders, archives and
// buckets; engine/binlog decodes Milvus's logs and envelopes, engine/dataset the vector files
// of benchmarks, engine/index the index files of hnswlib, faiss and knowhere; they make
// engine/flat, engine/ivf and engine/hnsw searchable, which compute with engine/dist; and
// engine/segment puts the files of one Milvus segment together and searches several as a
// query node does.
package engine

import (
	"math/bits"

	"kitescope/engine/dist"
)

// Metric is what a distance is.
type Metric = dist.Metric

// Hit is one answer of a search. Distance is what the library returns to its caller: squared
// for L2, a similarity for knowhere's and faiss's inner product.
type Hit struct {
	ID       int64
	Distance float32
}

// Bitset marks rows, of a filter those that are left out (as in Milvus: a set bit is
// filtered). A nil Bitset marks none.
type Bitset struct {
	words []uint64
	n     int
	count int
}

// NewBitset marks none of n rows.
func NewBitset(n int) *Bitset { return &Bitset{words: make([]uint64, (n+63)/64), n: n} }

// Set marks row i.
func (b *Bitset) Set(i int) {
	w, m := i>>6, uint64(1)<<(i&63)
	if b.words[w]&m == 0 {
		b.words[w] |= m
		b.count++
	}
}

// Has reports whether row i is marked. A row beyond the set's length is not.
func (b *Bitset) Has(i int) bool {
	return b != nil && i>>6 < len(b.words) && b.words[i>>6]&(1<<(i&63)) != 0
}

// Count is how many rows are marked.
func (b *Bitset) Count() int {
	if b == nil {
		return 0
	}
	return b.count
}

// Len is how many rows there are.
func (b *Bitset) Len() int {
	if b == nil {
		return 0
	}
	return b.n
}

// Words is the bits, row i at bit i%64 of word i/64; nil if none is marked.
func (b *Bitset) Words() []uint64 {
	if b.Count() == 0 {
		return nil
	}
	return b.words
}

// SetUnion makes b the rows marked in x or y; b is as long as the longer of them.
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

// Mask is the bits as Words has them, also if none is marked.
func (b *Bitset) Mask() []uint64 { return b.words }

// Reset marks none.
func (b *Bitset) Reset() {
	clear(b.words)
	b.count = 0
}

// Invert marks the rows that were not marked, and no others.
func (b *Bitset) Invert() {
	for i, w := range b.words {
		b.words[i] = ^w
	}
	if rest := b.n & 63; rest != 0 {
		b.words[len(b.words)-1] &= 1<<rest - 1
	}
	b.count = b.n - b.count
}

// Or returns the rows marked in either; it changes neither.
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

// Assign marks the rows whose bits are set in words, which are as many as those of the set.
func (b *Bitset) Assign(words []uint64) {
	b.count = 0
	for i := range b.words {
		b.words[i] = words[i]
		b.count += bits.OnesCount64(words[i])
	}
}
