package ivf

import (
	"math/bits"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/prefilter"
)

// nearRows are the fewest centroids that get codes.
const nearRows = 256

// Shade gives the index codes of the rows in its lists, at the cost of about a quarter of their memory, so that searches compute few
// distances in full, and of the centroids, which tell which lists to read; by at most threads goroutines (0: one per CPU). Rows in 8 bits
// have the same codes once more as kernels read them. It is part of making an index, before anything searches
// it. An error says why its rows can have none.
func (x *Index) Shade(threads int) (err error) {
	if err := x.check(); err != nil {
		return err
	}
	if err := x.Shadeable(); err != nil {
		return err
	}
	if x.Shadow, err = x.codes(threads); err != nil || x.Centroids.Rows < nearRows {
		return err
	}
	x.Near, err = prefilter.Encode([]*engine.Vectors{x.Centroids}, x.Centroids.Dim, x.coarse(), threads)
	return err
}

// Shadeable reports whether the index can have codes, and why not.
func (x *Index) Shadeable() error {
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
	return prefilter.Take(parts, x.Codec.ranges(x), x.coarse(), threads)
}

// Unshade gives the memory of the codes back; nothing may search the index meanwhile.
func (x *Index) Unshade() {
	for _, c := range []**prefilter.Codes{&x.Shadow, &x.Near} {
		if *c != nil {
			(*c).Release()
			*c = nil
		}
	}
}

// CodeBytes is what codes take, or would take if there are none.
func (x *Index) CodeBytes() (bytes int, have bool) {
	if x.Shadow != nil || x.Near != nil {
		for _, c := range []*prefilter.Codes{x.Shadow, x.Near} {
			if c != nil {
				bytes += c.Bytes()
			}
		}
		return bytes, true
	}
	if x.Shadeable() != nil {
		return 0, false
	}
	bytes = prefilter.Bytes(x.Centroids.Dim, x.Rows())
	if x.Centroids.Rows >= nearRows {
		bytes += prefilter.Bytes(x.Centroids.Dim, x.Centroids.Rows)
	}
	return bytes, false
}

// shade takes the codes of the index if what is divided by is what they know of.
func (s *Searcher) shade() {
	c := s.index.Shadow
	if c == nil || len(c.Starts) != len(s.index.Lists)+1 || !c.For(s.index.Metric, s.index.Centroids.Dim, s.index.places()) {
		return
	}
	for i, norms := range s.norms {
		if !c.Divides(i, norms) {
			return
		}
	}
	s.codes = c
}

// places is how many codes the rows of all lists have, with what fills groups up.
func (x *Index) places() (n int) {
	for i := range x.Lists {
		n += (len(x.Lists[i].IDs) + dist.SieveGroup - 1) / dist.SieveGroup * dist.SieveGroup
	}
	return n
}

// tileWords is how many words of bits a tile has.
const tileWords = tileRows / dist.SieveWord

// headRows is how many rows are computed before a look whether codes can say something.
const headRows = 32

// maxVain is how many tiles of one query may be sieved for nothing, until it is answered without codes.
const maxVain = 4

// sift gives to the distances of those of n rows of list number i, from first on, that may enter, which they do if they beat what it says;
// it says if that was not to be told.
func (s *Searcher) sift(q []byte, i, first, n int, beat float64, left []uint64, to *flat.TopK) bool {
	l := &s.index.Lists[i]
	if beat != s.beaten {
		s.beaten, s.cut = beat, s.shadow.Cut(beat, s.norms != nil)
	}
	words := s.words[:(n+63)>>6]
	s.shadow.SieveRows(s.codes.Starts[i]+first, n, &s.cut, words)
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
		if s.vain++; s.vain == maxVain {
			s.coded = false // of this query
		}
		return false
	}
	d := s.tile[:len(s.chosen)]
	if s.decoder != nil {
		s.decode(l, first, d)
		to.AddList(d, s.ids, left)
		return true
	}
	s.kernel.Gather(unsafe.Pointer(unsafe.SliceData(q)), unsafe.Add(l.Vectors.Base(), first*l.Vectors.Stride), uintptr(l.Vectors.Stride), s.chosen, d)
	if s.norms != nil {
		for j, c := range s.chosen {
			d[j] /= s.norms[i][first+int(c)]
		}
	}
	to.AddList(d, s.ids, left)
	return true
}

// decode computes the distances to the chosen rows of a list, of those from first on: their codes are copied together first.
func (s *Searcher) decode(l *List, first int, d []float32) {
	for i := 0; i < len(d); i += s.few.Rows {
		n := min(s.few.Rows, len(d)-i)
		for j, c := range s.chosen[i : i+n] {
			copy(s.few.Row(j), l.Vectors.Row(first+int(c)))
		}
		s.decoder.scan(s.few, 0, d[i:i+n])
	}
}
