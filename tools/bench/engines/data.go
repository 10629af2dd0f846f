package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
)

// shape describes a set of vectors. The vectors follow from the shape alone.
type shape struct {
	dim, rows int
	overlap   bool // the harder set
	ties      bool // only the values 0, 1 and 2
}

const (
	clusters = 1000
	queries  = 1000
	topK     = 10
	linksM   = 16
	buildEF  = 200

	// generation is part of the name of cached files. It changes whenever the values change.
	generation = 1
)

// noise is the spread within a cluster for separate clusters. The spread of the centres is 1.
const noise = 0.5

// name returns the name of the set's files without their extensions.
func (s shape) name() string {
	kind := "clusters"
	switch {
	case s.overlap:
		kind = "overlapping"
	case s.ties:
		kind = "ties"
	}
	return fmt.Sprintf("%s-%dx%d-v%d", kind, s.rows, s.dim, generation)
}

// files holds the paths of a set and of the index files that the peers built from it.
type files struct {
	shape
	base                   string
	vectors, queries       string // .npy
	hnswlib, faiss, milvus string // index files
}

func (s shape) files(cache string) files {
	base := filepath.Join(cache, s.name())
	return files{
		shape: s, base: base, vectors: base + ".npy", queries: base + ".queries.npy",
		hnswlib: base + ".hnswlib", faiss: base + ".faiss", milvus: base + ".milvus",
	}
}

// index returns the path of the index file that a peer wrote.
func (f files) index(kind fileKind) string {
	if kind == fileFaiss {
		return f.faiss
	}
	return f.hnswlib
}

// ensureData creates the vectors and queries unless they exist. Both are drawn from the same clusters, each
// with its own random stream.
func (f files) ensureData(ctx context.Context) error {
	for i, part := range []struct {
		path string
		rows int
	}{{f.vectors, f.rows}, {f.queries, queries}} {
		if _, err := os.Stat(part.path); err == nil {
			continue
		}
		v, err := f.draw(ctx, part.rows, uint64(i+1))
		if err != nil {
			return err
		}
		err = replaceFile(part.path, func(out *os.File) error { return dataset.WriteNPY(out, v) })
		v.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// draw returns rows around Gaussian centres. In the overlapping set, centres and noise shrink from dimension
// to dimension with the same spectrum, as in real embeddings, so distances within and between clusters
// overlap.
func (s shape) draw(ctx context.Context, rows int, stream uint64) (*engine.Vectors, error) {
	if s.ties {
		return s.drawTies(rows, stream)
	}
	scale := make([]float64, s.dim)
	spread := noise
	for j := range scale {
		scale[j] = 1
		if s.overlap {
			scale[j], spread = 1/math.Sqrt(1+float64(j)/8), 1
		}
	}
	random := rand.New(rand.NewPCG(uint64(s.dim), 0))
	centres := make([]float64, clusters*s.dim)
	for i := range centres {
		centres[i] = random.NormFloat64() * scale[i%s.dim]
	}
	v, err := engine.NewVectors(dist.Float32, s.dim, rows)
	if err != nil {
		return nil, err
	}
	random = rand.New(rand.NewPCG(uint64(s.dim), stream))
	for i := range rows {
		if i%1024 == 0 && ctx.Err() != nil {
			v.Release()
			return nil, ctx.Err()
		}
		row, centre := v.Float32(i), centres[random.IntN(clusters)*s.dim:]
		for j := range row {
			row[j] = float32(centre[j] + random.NormFloat64()*spread*scale[j])
		}
	}
	return v, nil
}

// drawTies returns rows of the values 0, 1 and 2. Their distances are exact and take few values.
func (s shape) drawTies(rows int, stream uint64) (*engine.Vectors, error) {
	v, err := engine.NewVectors(dist.Float32, s.dim, rows)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(uint64(s.dim), stream))
	for i := range rows {
		row := v.Float32(i)
		for j := range row {
			row[j] = float32(random.IntN(3))
		}
	}
	return v, nil
}

// replaceFile writes a temporary file next to path and renames it when it is complete.
func replaceFile(path string, write func(*os.File) error) error {
	out, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	err = write(out)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(out.Name())
		return err
	}
	return os.Rename(out.Name(), path)
}
