package ivf

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/prefilter"
)

// tileRows is the number of rows of a list that are compared before the hits are updated.
const tileRows = 512

// Options holds the options of a Searcher.
type Options = flat.Options

// Params holds the parameters of a search.
type Params struct {
	K      int // number of hits, 1 to flat.MaxK
	NProbe int // number of lists to read, at most all lists; 0 for the default of the index
	// Filter marks excluded ids. It may be nil.
	Filter *engine.Bitset
}

// Searcher searches one index. It must not be used by several goroutines at once. Clone returns another Searcher
// over the same index.
type Searcher struct {
	index     *Index
	options   Options
	quantizer *flat.Searcher
	kernel    *dist.Kernel
	norms     [][]float32 // norms of the rows of each list, under cosine; otherwise nil
	decoder   *sq8Decoder // decoder of codes; nil for vectors

	top    *flat.TopK
	tile   []float32
	probes []engine.Hit

	computed int

	codes       *prefilter.Codes // nil if not used
	codeQuery   *prefilter.Query
	coded       bool // codes are valid for this query
	cut         dist.Cut
	threshold   float64 // the distance for which cut was made; NaN before the first cut
	words       []uint64
	chosen      []uint32
	ids         []int64
	ineffective int             // number of tiles that codes failed to filter, for this query
	chosenCodes *engine.Vectors // codes of chosen rows
}

// New returns a Searcher over x. It returns an error if the index or the options are invalid. The library must not
// be engine.HNSWLib.
func New(x *Index, o Options) (*Searcher, error) {
	o.Library = o.Library.Or(engine.Faiss)
	if err := x.check(); err != nil {
		return nil, err
	}
	if o.Library == engine.HNSWLib {
		return nil, fmt.Errorf("library %v has no inverted files", o.Library)
	}
	if x.Metric == dist.Cosine && (o.Library == engine.Faiss || x.Centroids.Element != dist.Float32) {
		return nil, errors.New("cosine over an inverted file is knowhere's, of float32 vectors")
	}
	quantizer, err := flat.New(&flat.Index{Vectors: x.Centroids, Metric: x.coarse(), Codes: x.CentroidCodes}, o)
	if err != nil {
		return nil, fmt.Errorf("centroids: %w", err)
	}
	kernel, err := dist.New(x.Metric, x.Centroids.Element, o.Library.Profile(), x.Centroids.Dim)
	if err != nil {
		return nil, err
	}
	s := &Searcher{index: x, options: o, quantizer: quantizer, kernel: kernel}
	if x.Codec != nil {
		if s.decoder, err = x.Codec.decoder(x); err != nil {
			return nil, err
		}
	}
	if x.Metric == dist.Cosine && x.Codec == nil {
		s.norms = make([][]float32, len(x.Lists))
		for i := range x.Lists {
			if l := &x.Lists[i]; l.Norms != nil || len(l.IDs) == 0 {
				s.norms[i] = l.Norms
			} else {
				s.norms[i] = flat.Norms(l.Vectors, kernel)
			}
		}
	}
	s.enableCodes()
	s.scratch()
	return s, nil
}

// newChosenCodes returns a buffer for chosen codes of the given size in bytes.
func newChosenCodes(bytes int) *engine.Vectors {
	const rows = 16
	v, _ := engine.View(dist.Int8, bytes, rows, bytes, dist.Aligned(rows*bytes)) // never fails
	return v
}

// scratch allocates the memory that belongs to one goroutine.
func (s *Searcher) scratch() {
	s.top = flat.NewTopK(s.options.Library, s.Similarity())
	s.tile = make([]float32, tileRows)
	s.probes, s.ids = nil, nil
	if s.codes != nil {
		s.codeQuery, s.words = s.codes.NewQuery(), make([]uint64, tileWords)
		s.chosen, s.ids = make([]uint32, 0, tileRows), make([]int64, 0, tileRows)
		if s.decoder != nil {
			s.chosenCodes = newChosenCodes(s.index.Codec.Dim())
		}
	}
}

// Clone returns a Searcher over the same index for another goroutine.
func (s *Searcher) Clone() *Searcher {
	c := *s
	c.quantizer = s.quantizer.Clone()
	if s.decoder != nil {
		c.decoder = s.decoder.clone()
	}
	c.scratch()
	return &c
}

// Similarity reports whether greater distances are better.
func (s *Searcher) Similarity() bool {
	return s.index.Metric == dist.InnerProduct || s.index.Metric == dist.Cosine
}

// Computed returns the number of distances that the last Search computed, to centroids and to the rows of the
// lists that it read, except filtered rows (the ndis of faiss's IndexIVFStats). Batches are not counted.
func (s *Searcher) Computed() int { return s.computed }

// probe prepares a query and returns it with the n nearest lists, nearest first.
func (s *Searcher) probe(row []byte, n int) ([]byte, []engine.Hit, error) {
	s.computed = 0
	if n == 0 {
		n = s.index.NProbe
	}
	if n < 1 {
		return nil, nil, fmt.Errorf("nprobe is %d: expected 1 or more", n)
	}
	// If n exceeds the number of lists, all lists are read, as in faiss (IndexIVF::search).
	n = min(n, len(s.index.Lists))
	q, err := flat.Query(s.kernel, s.options.Library, row)
	if err != nil {
		return nil, nil, err
	}
	if s.index.Metric == dist.Cosine { // elements are float32, so q has the format of a row
		row = q
	}
	if s.probes, err = s.quantizer.Search(row, flat.Params{K: n}, s.probes[:0]); err != nil {
		return nil, nil, err
	}
	s.computed = len(s.index.Lists)
	if s.decoder != nil {
		s.decoder.query(dist.Floats(q))
	}
	if s.coded = s.codes != nil && s.codeQuery.Load(dist.Floats(q)); s.coded {
		s.threshold, s.ineffective = math.NaN(), 0
	}
	return q, s.probes, nil
}

// scan adds to the TopK the distances of q to the rows of a list. probe is the hit of the list's centroid.
func (s *Searcher) scan(q []byte, probe engine.Hit, excluded []uint64, to *flat.TopK) {
	i := int(probe.ID)
	l := &s.index.Lists[i]
	if s.decoder != nil {
		s.decoder.list(i, probe.Distance)
	}
	s.computed += len(l.IDs)
	if excluded != nil {
		for _, id := range l.IDs {
			if flat.Marked(excluded, id) {
				s.computed--
			}
		}
	}
	coded := s.coded && s.codeQuery.SetPart(i, probe.Distance)
	if s.decoder != nil {
		s.threshold = math.NaN() // cuts apply to one list
	}
	for first := 0; first < len(l.IDs); {
		n := min(tileRows, len(l.IDs)-first)
		beat, ok := to.Threshold()
		if coded && !ok {
			n = min(headRows, n)
		}
		if !coded || !ok || !s.sift(q, i, first, n, beat, excluded, to) {
			s.scanTile(q, i, first, n, excluded, to)
		}
		first += n
	}
}

// scanTile adds to the TopK the distances of q to n rows of list i, from first on.
func (s *Searcher) scanTile(q []byte, i, first, n int, excluded []uint64, to *flat.TopK) {
	l, d := &s.index.Lists[i], s.tile[:n]
	if s.decoder != nil {
		s.decoder.scan(l.Vectors, first, d)
	} else {
		s.kernel.Scan(unsafe.Pointer(unsafe.SliceData(q)), unsafe.Add(l.Vectors.Base(), first*l.Vectors.Stride),
			uintptr(l.Vectors.Stride), d)
	}
	if s.norms != nil {
		for j, norm := range s.norms[i][first : first+n] {
			d[j] /= norm
		}
	}
	to.AddList(d, l.IDs[first:first+n], excluded)
}

// Search appends the hits of a query to dst, best first. It returns at most K hits, and fewer if the lists that
// were read have fewer rows. query has the format of a stored row.
func (s *Searcher) Search(query []byte, p Params, dst []engine.Hit) ([]engine.Hit, error) {
	if p.K < 1 || p.K > flat.MaxK {
		return dst, fmt.Errorf("k is %d: expected 1 to %d", p.K, flat.MaxK)
	}
	q, probes, err := s.probe(query, p.NProbe)
	if err != nil {
		return dst, err
	}
	s.top.Reset(p.K)
	for _, list := range probes {
		s.scan(q, list, p.Filter.Words(), s.top)
	}
	return s.top.Hits(dst), nil
}

// SearchBatch searches all queries with at most threads goroutines (0: one per CPU) and returns the same hits as
// Search.
func (s *Searcher) SearchBatch(queries *engine.Vectors, p Params, threads int) ([][]engine.Hit, error) {
	if queries.Dim != s.kernel.Dim || queries.Element != s.kernel.Element {
		return nil,
			fmt.Errorf("queries of %d dimensions for vectors of %d, or of another type", queries.Dim, s.kernel.Dim)
	}
	return engine.Batch(queries, threads, func() func(query []byte) ([]engine.Hit, error) {
		own := s.Clone()
		return func(query []byte) ([]engine.Hit, error) { return own.Search(query, p, nil) }
	})
}
