package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/target"
)

// Names of vectors and of an index of them in the data folder.
const (
	vectorsFile = "base.npy"
	queriesFile = "queries.npy"
	graphFile   = "base.hnsw"
)

// The vectors are those of bench-engine, on less data.
const (
	vectorRows = 20_000
	queryRows  = 1000
	vectorDim  = 128
	clusters   = 200
)

// makeVectors writes vectors in clusters, queries near them, and a graph.
func makeVectors(ctx context.Context, dir string) error {
	rng := rand.New(rand.NewPCG(1, 2))
	centres := make([]float32, clusters*vectorDim)
	for i := range centres {
		centres[i] = float32(rng.NormFloat64())
	}
	draw := func(rows int) (*engine.Vectors, error) {
		values := make([]float32, 0, rows*vectorDim)
		for range rows {
			c := rng.IntN(clusters) * vectorDim
			for _, x := range centres[c : c+vectorDim] {
				values = append(values, x+float32(0.5*rng.NormFloat64()))
			}
		}
		return engine.FromFloat32s(vectorDim, values)
	}
	base, err := draw(vectorRows)
	if err != nil {
		return err
	}
	queries, err := draw(queryRows)
	if err != nil {
		return err
	}
	graph, err := target.Build(ctx, base, target.BuildPlan{Library: engine.HNSWLib, M: 16, EFConstruction: 200, Threads: 2})
	if err != nil {
		return err
	}
	return errors.Join(
		write(filepath.Join(dir, vectorsFile), func(f *os.File) error { return dataset.WriteNPY(f, base) }),
		write(filepath.Join(dir, queriesFile), func(f *os.File) error { return dataset.WriteNPY(f, queries) }),
		write(filepath.Join(dir, graphFile), func(f *os.File) error { return graph.Write(f) }),
	)
}

func write(path string, content func(f *os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(content(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
