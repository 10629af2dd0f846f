package hnsw

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/prefilter"
)

// BuildOptions holds the options of Build. With HNSWLib, Seed 100 and one thread, the graph is bit for bit that of
// hnswlib 0.8.0 compiled for an AMD CPU with AVX-512 (dist.HNSWLib).
type BuildOptions struct {
	M              int // links per node above level 0, and 2*M on level 0; 2 to 512
	EFConstruction int // candidates kept in a search for neighbours; raised to M if smaller
	Metric         engine.Metric
	Seed           uint64 // of the level generator; 0 means 100, as in hnswlib
	Threads        int    // values below 1 mean 1; with more than 1, the graph depends on timing
	// Library determines how distances are computed and vectors are stored. For inner products, the distance is
	// 1-ip in hnswlib and -ip in the others. Under cosine, vectors are normalised as by hnswlib's Python module, or
	// stored raw with their norms as by knowhere. The graph is always hnswlib's, because faiss and knowhere build
	// with many threads and never produce the same graph twice.
	Library  engine.Library
	Labels   []int64        // one per row, unique; nil for row numbers
	Progress func(done int) // called occasionally, and once at the end; may be nil
	// Plain disables codes, so that all distances are computed in full. By default, large sets of long rows get
	// codes during the build. The graph is the same.
	Plain bool
}

// Limits of BuildOptions and of a graph.
const (
	defaultSeed = 100
	maxM        = 512
	maxNodes    = End // ids are below 2^31
)

// progressEvery is the number of rows inserted between calls of Progress.
const progressEvery = 1000

// Build builds an index of float32 vectors. There must be at least one row. If the vectors have the layout of
// NewVectors, the index keeps them, and they must not be changed afterwards. Otherwise it keeps a copy. Build
// returns an error if an option is out of range or if a value is not finite (the error names the row). It returns
// ctx.Err() if ctx is done.
func Build(ctx context.Context, vectors *engine.Vectors, o BuildOptions) (*Index, error) {
	if err := o.check(vectors); err != nil {
		return nil, err
	}
	kernel, err := dist.New(o.Metric, vectors.Element, o.Library.Or(engine.HNSWLib).Profile(), vectors.Dim)
	if err != nil {
		return nil, err
	}
	if err := checkFinite(ctx, vectors); err != nil {
		return nil, err
	}
	x, err := prepare(ctx, vectors, kernel, o)
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(x, kernel, o)
	if err != nil {
		return nil, err
	}
	if !o.Plain {
		if err := b.quantize(max(1, o.Threads)); err != nil {
			return nil, err
		}
		defer b.releaseCodes()
	}
	if err := b.run(ctx, max(1, o.Threads), o.Progress); err != nil {
		return nil, err
	}
	return x, nil
}

// check returns an error if the options are invalid for v. It does not check the values of v.
func (o *BuildOptions) check(v *engine.Vectors) error {
	switch {
	case v.Rows == 0:
		return errors.New("an index of no rows")
	case v.Rows >= maxNodes:
		return fmt.Errorf("an index of %d rows: at most %d", v.Rows, maxNodes-1)
	case v.Element != dist.Float32:
		return fmt.Errorf("an HNSW index is built of float32 vectors, not of %s", v.Element)
	case o.Metric != dist.L2 && o.Metric != dist.InnerProduct && o.Metric != dist.Cosine:
		return fmt.Errorf("an HNSW index is built for L2, inner product or cosine, not for metric %s", o.Metric)
	case o.M < 2 || o.M > maxM:
		return fmt.Errorf("m = %d: at least 2, at most %d", o.M, maxM)
	case o.EFConstruction < 1:
		return fmt.Errorf("efConstruction = %d: at least 1", o.EFConstruction)
	case !o.Library.Valid():
		return fmt.Errorf("unknown library %d", o.Library)
	case o.Labels != nil && len(o.Labels) != v.Rows:
		return fmt.Errorf("%d labels for %d rows", len(o.Labels), v.Rows)
	}
	// hnswlib treats a second row with the same label as an update of the first. In a file of rows, a repeated label
	// is a mistake.
	sorted := slices.Sorted(slices.Values(o.Labels))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("label %d: two rows have it", sorted[i])
		}
	}
	return nil
}

// builder is an index under construction. Its graph always has the format that Graph documents: the unused slots of
// a list have the bit End, and the bits below hold the value that hnswlib's memory would hold there.
type builder struct {
	*Index
	kernel *dist.Kernel
	base   unsafe.Pointer // address of the first row
	stride uintptr
	lines  int // cache lines of a row to prefetch
	ef     int // maximum size of a pool

	// A distance is offset + sign*raw, which is 1-ip or -ip for inner products. Under cosine with raw vectors, it
	// is divided by both norms.
	offset, sign float32

	// The key of the distance between each neighbour and the list's node, parallel to Base and Upper. hnswlib
	// recomputes these distances whenever it prunes a full list.
	baseKeys, upperKeys []uint32
	// The length of the prefix of each list that was selected in one run of the heuristic, and whose members have
	// therefore been compared with each other. The index is the node on level 0, and UpperAt[node]+level-1 above.
	baseChecked, upperChecked []uint16

	codes *prefilter.Codes // nil if not used

	locks   []sync.Mutex // protect lists, striped by node; nil with one thread
	entryMu sync.Mutex   // protects Entry and MaxLevel
}

// lockStripes is the number of locks shared by the lists of all nodes.
const lockStripes = 1 << 14

func newBuilder(x *Index, kernel *dist.Kernel, o BuildOptions) (*builder, error) {
	rows := x.Vectors.Rows
	b := &builder{
		Index: x, kernel: kernel, base: x.Vectors.Base(), stride: uintptr(x.Vectors.Stride), sign: 1,
		lines: min(4, (x.Vectors.Size()+63)/64),
	}
	if o.Metric != dist.L2 {
		b.sign = -1
		if o.Library.Or(engine.HNSWLib) == engine.HNSWLib {
			b.offset = 1
		}
	}
	b.M, b.M0, b.EFConstruction, b.MaxLevel = o.M, 2*o.M, max(o.EFConstruction, o.M), -1
	b.ef = min(b.EFConstruction, rows)
	seed := o.Seed
	if seed == 0 {
		seed = defaultSeed
	}
	b.Levels = drawLevels(rows, o.M, seed)
	b.UpperAt = make([]uint32, rows)
	lists := uint64(0)
	for i, l := range b.Levels {
		b.UpperAt[i] = uint32(lists)
		lists += uint64(l)
	}
	if lists > math.MaxUint32 {
		return nil, fmt.Errorf("an index of %d rows with M = %d: %d lists above level 0 are too many", rows, o.M, lists)
	}
	b.Base, b.baseKeys, b.baseChecked = emptySlots(rows*b.M0), make([]uint32, rows*b.M0), make([]uint16, rows)
	b.Upper, b.upperKeys, b.upperChecked = emptySlots(int(lists)*b.M), make([]uint32, int(lists)*b.M),
		make([]uint16, lists)
	return b, nil
}

// emptySlots returns n empty slots.
func emptySlots(n int) []uint32 {
	slots := engine.Uint32s(n)
	for i := range slots {
		slots[i] = End
	}
	return slots
}

// run inserts all rows in order.
func (b *builder) run(ctx context.Context, threads int, progress func(done int)) error {
	rows := b.Vectors.Rows
	if progress == nil {
		progress = func(int) {}
	}
	threads = min(threads, rows)
	if threads > 1 {
		b.locks = make([]sync.Mutex, lockStripes)
	}
	// Insert the first row alone, so that there is an entry point.
	first := b.newWorker()
	first.insert(0)
	var next, done atomic.Int64
	next.Store(1)
	done.Store(1)
	var report sync.Mutex
	work := func(w *worker) {
		for ctx.Err() == nil {
			row := next.Add(1) - 1
			if row >= int64(rows) {
				return
			}
			w.insert(uint32(row))
			if done.Add(1)%progressEvery == 0 {
				report.Lock()
				progress(int(done.Load()))
				report.Unlock()
			}
		}
	}
	var all sync.WaitGroup
	for range threads - 1 {
		all.Go(func() { work(b.newWorker()) })
	}
	work(first)
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	progress(rows)
	return nil
}
