package flat

import (
	"math"
	"unsafe"

	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

const (
	// codeBlockBytes is the size of a block of codes that all queries of a panel are compared with.
	codeBlockBytes = 128 << 10
	// coarseShare and fineShare are thresholds. If more than one in coarseShare pairs passes the coarse codes of
	// the queries, finer codes are used. If more than one in fineShare pairs passes, all distances are computed.
	coarseShare = 40
	fineShare   = 6
	// judgePairs is the number of pairs examined before each such decision.
	judgePairs = 1 << 16
)

// quantizedPanel holds the quantized queries of a panel, which are compared with the codes of the rows.
type quantizedPanel struct {
	*prefilter.Panel
	rows       int       // rows per block
	thresholds []float64 // the distance for which each query's cut was made; NaN before the first cut
	words      []uint64

	// passedPairs is the number of pairs that passed since the last decision, out of seenPairs.
	passedPairs, seenPairs int
	ineffective            bool // codes are useless for this panel
}

func (s *Searcher) newQuantizedPanel(size int) *quantizedPanel {
	rows := min(max(codeBlockBytes/s.index.Vectors.Dim&^63, 64), blockRows)
	return &quantizedPanel{
		Panel: s.codes.NewPanel(size), rows: rows, thresholds: make([]float64, size), words: make([]uint64, 4*rows/64),
	}
}

// load quantizes query i, if codes are in use.
func (h *quantizedPanel) load(i int, q query) {
	if h == nil || h.ineffective {
		return
	}
	h.Load(i, dist.Floats(q.bytes))
	h.thresholds[i] = math.NaN()
}

// ready reports whether the rows from row on (a multiple of 64) are compared with codes. The first rows are not,
// because every row enters while there are fewer than k hits.
func (h *quantizedPanel) ready(row, k int) bool {
	return h != nil && !h.ineffective && row >= max(2*k, sieveRows/2)
}

// sift compares the codes of n rows with the first count queries, and computes the distances of the rows that may
// enter.
func (b *panel) sift(row, n, count int, excluded []uint64) {
	h := b.quantized
	words := (n + 63) >> 6
	out := h.words[:4*words]
	for i := 0; i < count; i += 4 {
		for j := i; j < min(i+4, count); j++ {
			if beat, ok := b.tops[j].Threshold(); ok && beat != h.thresholds[j] {
				h.SetThreshold(j, beat, b.Searcher.norms != nil)
				h.thresholds[j] = beat
			}
		}
		h.Sieve(i, row, out)
		for j := i; j < min(i+4, count); j++ {
			b.enter(j, row, n, out[(j-i)*words:(j-i+1)*words], excluded)
		}
	}
	if h.seenPairs += n * count; h.seenPairs >= judgePairs {
		b.judge(count)
	}
}

// judge decides whether to use finer query codes or to stop using codes.
func (b *panel) judge(count int) {
	h := b.quantized
	switch {
	case h.Coarse() && h.passedPairs*coarseShare > h.seenPairs:
		h.SetCoarse(false)
		for i := range count {
			h.load(i, b.query(i))
		}
	case h.passedPairs*fineShare > h.seenPairs:
		h.ineffective = true
	}
	h.passedPairs, h.seenPairs = 0, 0
}

// enter computes the distances of the rows whose bit is set in words, and adds them to the hits of query j.
func (b *panel) enter(j, row, n int, words, excluded []uint64) {
	some := uint64(0)
	for _, w := range words {
		some |= w
	}
	if some == 0 {
		return
	}
	b.chosen = passed(b.chosen, words, excluded, row, n)
	b.quantized.passedPairs += len(b.chosen)
	if len(b.chosen) > 0 {
		v := b.index.Vectors
		b.gather(b.query(j), unsafe.Add(v.Base(), row*v.Stride), row, b.chosen, b.tops[j])
	}
}
