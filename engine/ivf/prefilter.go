package ivf

import (
	"math/bits"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/prefilter"
)

// minCentroidRows is the minimum number of centroids that get codes.
const minCentroidRows = 256

// Quantize adds codes of the rows in the lists, so that a search computes few distances in full. They take about a
// quarter of the memory of the rows. It also adds codes of the centroids, which determine the lists to read. Rows
// that are already 8-bit codes are copied into the layout of the kernels. Quantize uses at most threads goroutines (0:
// one per CPU). It must be called before the index is searched. It returns an error if codes do not support these
// rows.
func (x *Index) Quantize(threads int) (err error) {
	if err := x.check(); err != nil {
		return err
	}
	if err := x.CheckQuantize(); err != nil {
		return err
	}
	if x.Codes, err = x.codes(threads); err != nil || x.Centroids.Rows < minCentroidRows {
		return err
	}
	x.CentroidCodes, err = prefilter.Encode([]*engine.Vectors{x.Centroids}, x.Centroids.Dim, x.coarse(), threads)
	return err
}

// CheckQuantize returns an error if codes do not support the index.
func (x *Index) CheckQuantize() error {
	if err := prefilter.Fits(x.Centroids, x.Metric); err != nil || x.Codec == nil {
		return err
	}
	r := x.Codec.ranges(x)
	return r.Fits(x.coarse())
}

// codes returns the codes of the rows.
func (x *Index) codes(threads int) (*prefilter.Codes, error) {
	parts := make([]*engine.Vectors, len(x.Lists))
	for i := range x.Lists {
		if parts[i] = x.Lists[i].Vectors; len(x.Lists[i].IDs) == 0 {
			e, dim := x.row()
			parts[i] = &engine.Vectors{Element: e, Dim: dim}
		}
	}
	if x.Codec == nil {
		return prefilter.Encode(parts, x.Centroids.Dim, x.Metric, threads)
	}
	return prefilter.FromCodes(parts, x.Codec.ranges(x), x.coarse(), threads)
}

// ReleaseCodes releases the memory of the codes. The index must not be searched during the call.
func (x *Index) ReleaseCodes() {
	for _, c := range []**prefilter.Codes{&x.Codes, &x.CentroidCodes} {
		if *c != nil {
			(*c).Release()
			*c = nil
		}
	}
}

// CodeBytes returns the memory that codes take, in bytes, and whether they exist. If they do not, it returns the
// memory that they would take, or 0 if the index does not support codes.
func (x *Index) CodeBytes() (bytes int, have bool) {
	if x.Codes != nil || x.CentroidCodes != nil {
		for _, c := range []*prefilter.Codes{x.Codes, x.CentroidCodes} {
			if c != nil {
				bytes += c.Bytes()
			}
		}
		return bytes, true
	}
	if x.CheckQuantize() != nil {
		return 0, false
	}
	bytes = prefilter.Bytes(x.Centroids.Dim, x.Rows())
	if x.Centroids.Rows >= minCentroidRows {
		bytes += prefilter.Bytes(x.Centroids.Dim, x.Centroids.Rows)
	}
	return bytes, false
}

// enableCodes enables the codes of the index, unless they were made for other norms than the library divides by.
func (s *Searcher) enableCodes() {
	c := s.index.Codes
	if c == nil || len(c.Starts) != len(s.index.Lists)+1 ||
		!c.Matches(s.index.Metric, s.index.Centroids.Dim, s.index.codePlaces()) {
		return
	}
	for i, norms := range s.norms {
		if !c.SupportsNorms(i, norms) {
			return
		}
	}
	s.codes = c
}

// codePlaces returns the number of codes for the rows of all lists, including the padding of groups.
func (x *Index) codePlaces() (n int) {
	for i := range x.Lists {
		n += (len(x.Lists[i].IDs) + dist.SieveGroup - 1) / dist.SieveGroup * dist.SieveGroup
	}
	return n
}

// tileWords is the number of words in a bitset over a tile.
const tileWords = tileRows / dist.SieveWord

// headRows is the number of rows that are computed before the first threshold for codes.
const headRows = 32

// maxIneffective is the number of tiles that codes may fail to filter before a query stops using codes.
const maxIneffective = 4

// sift adds to the TopK the rows that may be better than threshold, among the n rows of list i from first on. If more
// than half of the n rows pass the codes, sift adds nothing and returns false.
func (s *Searcher) sift(q []byte, i, first, n int, threshold float64, excluded []uint64, to *flat.TopK) bool {
	l := &s.index.Lists[i]
	if threshold != s.threshold {
		s.threshold, s.cut = threshold, s.codeQuery.Cut(threshold, s.norms != nil)
	}
	words := s.words[:(n+63)>>6]
	s.codeQuery.SieveRows(s.codes.Starts[i]+first, n, &s.cut, words)
	s.chosen, s.ids = s.chosen[:0], s.ids[:0]
	for w, bitsOf := range words {
		if last := n - w<<6; last < 64 {
			bitsOf &= 1<<last - 1
		}
		for ; bitsOf != 0; bitsOf &= bitsOf - 1 {
			at := w<<6 + bits.TrailingZeros64(bitsOf)
			s.chosen, s.ids = append(s.chosen, uint32(at)), append(s.ids, l.IDs[first+at])
		}
	}
	if 2*len(s.chosen) > n {
		if s.ineffective++; s.ineffective == maxIneffective {
			s.coded = false // for this query
		}
		return false
	}
	d := s.tile[:len(s.chosen)]
	if s.decoder != nil {
		s.decode(l, first, d)
		to.AddList(d, s.ids, excluded)
		return true
	}
	s.kernel.Gather(unsafe.Pointer(unsafe.SliceData(q)), unsafe.Add(l.Vectors.Base(), first*l.Vectors.Stride),
		uintptr(l.Vectors.Stride), s.chosen, d)
	if s.norms != nil {
		for j, c := range s.chosen {
			d[j] /= s.norms[i][first+int(c)]
		}
	}
	to.AddList(d, s.ids, excluded)
	return true
}

// decode computes the distances of the chosen rows of a list, relative to first. It first copies their codes to
// consecutive memory.
func (s *Searcher) decode(l *List, first int, d []float32) {
	for i := 0; i < len(d); i += s.chosenCodes.Rows {
		n := min(s.chosenCodes.Rows, len(d)-i)
		for j, c := range s.chosen[i : i+n] {
			copy(s.chosenCodes.Row(j), l.Vectors.Row(first+int(c)))
		}
		s.decoder.scan(s.chosenCodes, 0, d[i:i+n])
	}
}
