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

// BuildOptions say how an index is built. HNSWLib with Seed 100 and one thread gives the graph
// that hnswlib 0.8.0 gives, to the bit, where that was compiled for an AMD CPU with AVX-512 (dist.HNSWLib).
type BuildOptions struct {
	M              int // links per node above level 0, twice as many there; 2 to 512
	EFConstruction int // candidates kept while a node's neighbours are sought; M if smaller
	Metric         engine.Metric
	Seed           uint64 // of the levels; 0 means 100, as in hnswlib
	Threads        int    // 1 if less; with more, the graph depends on their timing
	// Library is the one after which distances are formed and vectors kept: 1-ip of hnswlib
	// or -ip of the others for inner products; under cosine vectors normalised as hnswlib's
	// Python module does it, or with knowhere's raw ones and their norms. The graph is
	// hnswlib's for all: faiss and knowhere build with many threads, no two graphs are equal.
	Library  engine.Library
	Labels   []int64        // one per row, all different; nil for the rows' numbers
	Progress func(done int) // called now and then, and once at the end; may be nil
	// Plain has all distances computed in full. Else rows that are many and long get codes while the graph is built, which is the same.
	Plain bool
}

// The limits of BuildOptions and of a graph.
const (
	defaultSeed = 100
	maxM        = 512
	maxNodes    = End // ids are below 2^31
)

// progressEvery is how many rows go in between two calls of Progress.
const progressEvery = 1000

// Build makes an index of vectors, float32 and at least one row. It keeps vectors that lie
// as NewVectors lays them, and must not be changed afterwards; of others it keeps a copy.
// An error if an option is out of range, if a value is not finite (it names the row), or
// ctx's once it is done.
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
		if err := b.shade(max(1, o.Threads)); err != nil {
			return nil, err
		}
		defer b.unshade()
	}
	if err := b.run(ctx, max(1, o.Threads), o.Progress); err != nil {
		return nil, err
	}
	return x, nil
}

// check says what is wrong with the options for these vectors, values apart.
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
	// hnswlib takes a second row of one label as a new value of the first: nothing that
	// whoever builds from a file of rows can mean.
	sorted := slices.Sorted(slices.Values(o.Labels))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("label %d: two rows have it", sorted[i])
		}
	}
	return nil
}

// builder is an index in the making. Its graph is at every moment in the form that Graph
// describes: the slots from a list's count on have the bit End, and below it what hnswlib's
// memory would hold there.
type builder struct {
	*Index
	kernel *dist.Kernel
	base   unsafe.Pointer // of the first row
	stride uintptr
	lines  int // cache lines of a row that are worth a prefetch
	ef     int // entries of a pool, at most

	// A distance is offset + sign*raw: 1-ip or -ip of an inner product. Under cosine with
	// raw vectors it is divided by both norms.
	offset, sign float32

	// What is known of each slot's neighbour, parallel to Base and Upper: its distance to
	// the list's node. hnswlib computes it anew whenever a full list is thinned.
	baseKeys, upperKeys []uint32
	// How many first slots of a list came out of one run of the heuristic and so passed
	// each other's check, by node on level 0 and by UpperAt[node]+level-1 above.
	baseChecked, upperChecked []uint16

	codes *prefilter.Codes // nil for none

	locks  []sync.Mutex // of lists, striped by node; nil with one thread
	growth sync.Mutex   // of Entry and MaxLevel
}

// lockStripes is how many locks the lists of all nodes share.
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
	b.Base, b.baseKeys, b.baseChecked = blank(rows*b.M0), make([]uint32, rows*b.M0), make([]uint16, rows)
	b.Upper, b.upperKeys, b.upperChecked = blank(int(lists)*b.M), make([]uint32, int(lists)*b.M), make([]uint16, lists)
	return b, nil
}

// blank returns slots without neighbours.
func blank(n int) []uint32 {
	slots := engine.Uint32s(n)
	for i := range slots {
		slots[i] = End
	}
	return slots
}

// run inserts all rows in their order.
func (b *builder) run(ctx context.Context, threads int, progress func(done int)) error {
	rows := b.Vectors.Rows
	if progress == nil {
		progress = func(int) {}
	}
	threads = min(threads, rows)
	if threads > 1 {
		b.locks = make([]sync.Mutex, lockStripes)
	}
	// The first row alone: from then on there is an entry point.
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
