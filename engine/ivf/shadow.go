package ivf

import (
	"fmt"
	"math/bits"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/shadow"
)

// Shade gives the index codes of the rows in its lists, at the cost of about a quarter of their memory, so that searches compute few
// distances in full; by at most threads goroutines (0: one per CPU). It is part of making an index, before anything searches it. An
// error says why its rows can have none.
func (x *Index) Shade(threads int) error {
	if err := x.check(); err != nil {
		return err
	}
	if x.Codec != nil {
		return fmt.Errorf("%s has 8-bit codes of its own, or shorter ones", x.Codec.Kind())
	}
	if err := shadow.Fits(x.Centroids, x.Metric); err != nil {
		return err
	}
	parts := make([]*engine.Vectors, len(x.Lists))
	for i := range x.Lists {
		if parts[i] = x.Lists[i].Vectors; len(x.Lists[i].IDs) == 0 {
			parts[i] = &engine.Vectors{Element: dist.Float32, Dim: x.Centroids.Dim}
		}
	}
	codes, err := shadow.Encode(parts, x.Centroids.Dim, x.Metric, threads)
	x.Shadow = codes
	return err
}

// shade takes the codes of the index if what is divided by is what they know of.
func (s *Searcher) shade() {
	c := s.index.Shadow
	if c == nil || s.options.Plain || len(c.Starts) != len(s.index.Lists)+1 || !c.For(s.index.Metric, s.index.Centroids.Dim, s.index.places()) {
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

// maxVain is how many tiles of one query may be sieved for nothing, until it is answered without codes.
const maxVain = 4

// sift gives to the distances of those of n rows of list number i, from first on, that may enter; it says if that was not to be told.
func (s *Searcher) sift(q []byte, i, first, n int, left []uint64, to sink) bool {
	beat, ok := to.Beat()
	if !ok {
		return false
	}
	l := &s.index.Lists[i]
	if beat != s.beaten {
		s.beaten, s.cut = beat, s.shadow.Cut(beat, s.norms != nil)
	}
	words := s.words[:(n+63)>>6]
	s.shadow.Sieve(s.codes.Starts[i]+first, &s.cut, words)
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
	s.kernel.Gather(unsafe.Pointer(unsafe.SliceData(q)), unsafe.Add(l.Vectors.Base(), first*l.Vectors.Stride), uintptr(l.Vectors.Stride), s.chosen, d)
	if s.norms != nil {
		for j, c := range s.chosen {
			d[j] /= s.norms[i][first+int(c)]
		}
	}
	to.AddList(d, s.ids, left)
	return true
}

// sink takes distances of the entries of a list.
type sink interface {
	flat.Beaten
	AddList(d []float32, ids []int64, left []uint64)
}
