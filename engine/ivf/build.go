package ivf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// BuildOptions say how lists are made of vectors.
type BuildOptions struct {
	Metric engine.Metric // L2 or the inner product
	Lists  int           // at most as many as there are rows
	// Bytes codes rows in a byte a dimension (IVF_SQ8), Parts > 0 in so many parts of Bits (IVF_PQ); neither keeps the vectors. Codes are of what
	// the centroid of the list leaves, as faiss has it.
	Bytes       bool
	Parts, Bits int
	Seed        uint64
	Threads     int // 0: one per CPU; the index is the same
}

// Rounds of k-means: for lists, and for parts (faiss/IndexIVF.cpp, faiss/Clustering.h).
const (
	listRounds = 10
	partRounds = 25
)

// Build makes an inverted file of float32 vectors, whose ids are the numbers of the rows. The vectors are copied. An error names what does not
// go together.
func Build(ctx context.Context, v *engine.Vectors, o BuildOptions) (*Index, error) {
	switch {
	case v.Element != dist.Float32:
		return nil, fmt.Errorf("lists are made of float32 vectors, these are %s", v.Element)
	case o.Metric != dist.L2 && o.Metric != dist.InnerProduct:
		return nil, fmt.Errorf("lists are made for l2 and ip, not %s", o.Metric)
	case o.Lists < 1 || o.Lists > v.Rows:
		return nil, fmt.Errorf("%d lists for %d rows", o.Lists, v.Rows)
	case o.Parts > 0 && (v.Dim%o.Parts != 0 || o.Bits < MinBits || o.Bits > MaxBits):
		return nil, fmt.Errorf("%d dimensions in %d parts of %d bits: parts divide the dimension and have %d to %d bits", v.Dim, o.Parts, o.Bits, MinBits, MaxBits)
	}
	c := &clusters{count: o.Lists, rounds: listRounds, products: o.Metric == dist.InnerProduct, threads: o.Threads, rng: rand.New(rand.NewPCG(o.Seed, 1))}
	centroids, err := c.train(ctx, v)
	if err != nil {
		return nil, err
	}
	of, err := nearest(v, centroids, o.Metric, o.Threads)
	if err != nil {
		return nil, err
	}
	x := &Index{Metric: o.Metric, Centroids: centroids, NProbe: 1}
	rows := v
	if o.Bytes || o.Parts > 0 {
		if rows, err = x.code(ctx, v, of, o); err != nil {
			return nil, err
		}
	}
	return x, x.fill(rows, of)
}

// fill puts each row into its list.
func (x *Index) fill(rows *engine.Vectors, of []int) error {
	x.Lists = make([]List, x.Centroids.Rows)
	for row, i := range of {
		x.Lists[i].IDs = append(x.Lists[i].IDs, int64(row))
	}
	for i := range x.Lists {
		l := &x.Lists[i]
		var err error
		if l.Vectors, err = engine.NewVectors(rows.Element, rows.Dim, len(l.IDs)); err != nil {
			return err
		}
		for j, id := range l.IDs {
			copy(l.Vectors.Row(j), rows.Row(int(id)))
		}
	}
	return nil
}

// code trains the codec and returns the codes of all rows.
func (x *Index) code(ctx context.Context, v *engine.Vectors, of []int, o BuildOptions) (*engine.Vectors, error) {
	left, err := engine.NewVectors(dist.Float32, v.Dim, v.Rows)
	if err != nil {
		return nil, err
	}
	defer left.Release()
	for i, list := range of {
		difference(floatsAt(left, i), floatsAt(v, i), floatsAt(x.Centroids, list))
	}
	if o.Bytes {
		return x.codeBytes(left)
	}
	return x.codeParts(ctx, left, o)
}

// codeBytes takes the range of each dimension from all rows.
func (x *Index) codeBytes(left *engine.Vectors) (*engine.Vectors, error) {
	low, span := make([]float32, left.Dim), make([]float32, left.Dim)
	for j := range low {
		low[j], span[j] = float32(math.Inf(1)), float32(math.Inf(-1))
	}
	for i := range left.Rows {
		for j, v := range floatsAt(left, i) {
			low[j], span[j] = min(low[j], v), max(span[j], v)
		}
	}
	for j := range low {
		span[j] -= low[j]
	}
	c, err := NewSQ8(low, span, true)
	if err != nil {
		return nil, err
	}
	codes, err := engine.NewVectors(dist.Int8, c.Bytes(), left.Rows)
	if err != nil {
		return nil, err
	}
	for i := range left.Rows {
		c.Encode(floatsAt(left, i), codes.Row(i))
	}
	x.Codec = c
	return codes, nil
}

// codeParts makes clusters of each part.
func (x *Index) codeParts(ctx context.Context, left *engine.Vectors, o BuildOptions) (*engine.Vectors, error) {
	width, values := left.Dim/o.Parts, 1<<o.Bits
	part, err := engine.NewVectors(dist.Float32, width, left.Rows)
	if err != nil {
		return nil, err
	}
	defer part.Release()
	var all []float32
	parts := make([]byte, left.Rows*o.Parts)
	for p := range o.Parts {
		for i := range left.Rows {
			copy(floatsAt(part, i), floatsAt(left, i)[p*width:])
		}
		c := &clusters{count: values, rounds: partRounds, threads: o.Threads, rng: rand.New(rand.NewPCG(o.Seed, uint64(2+p)))}
		centroids, err := c.train(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", p, err)
		}
		of, err := nearest(part, centroids, dist.L2, o.Threads)
		if err != nil {
			return nil, err
		}
		for i, c := range of {
			parts[i*o.Parts+p] = byte(c)
		}
		for i := range values {
			all = append(all, floatsAt(centroids, i)...)
		}
	}
	c, err := NewPQ(left.Dim, o.Parts, o.Bits, all, true)
	if err != nil {
		return nil, err
	}
	codes, err := engine.NewVectors(dist.Int8, c.Bytes(), left.Rows)
	if err != nil {
		return nil, err
	}
	for i := range left.Rows {
		c.pack(parts[i*o.Parts:][:o.Parts], codes.Row(i))
	}
	x.Codec = c
	return codes, nil
}
