package ivf

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
)

// mostPoints is of how many rows for each centroid clusters are made, at most (ClusteringParameters, faiss/Clustering.h).
const mostPoints = 256

// clusters are k-means in faiss's manner (Clustering::train_encoded, faiss/Clustering.cpp): centroids begin as rows drawn at random, rows go to
// the nearest, centroids to the mean of theirs, and one without rows takes half of those of another. The same seed gives the same
// centroids, whatever the number of threads; they are not faiss's, whose random numbers are others.
type clusters struct {
	count, rounds int
	// products: rows go to the greatest inner product, and centroids are normalised.
	products bool
	threads  int
	rng      *rand.Rand
}

// train returns the centroids of points, which are rows of one width.
func (c *clusters) train(ctx context.Context, points *engine.Vectors) (*engine.Vectors, error) {
	if points.Rows < c.count {
		return nil, fmt.Errorf("%d rows for %d centroids", points.Rows, c.count)
	}
	points, err := c.sample(points)
	if err != nil {
		return nil, err
	}
	centroids, err := engine.NewVectors(dist.Float32, points.Dim, c.count)
	if err != nil {
		return nil, err
	}
	for i, row := range c.rng.Perm(points.Rows)[:c.count] {
		copy(centroids.Row(i), points.Row(row))
	}
	c.normalise(centroids)
	for range c.rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		of, err := nearest(points, centroids, c.metric(), c.threads)
		if err != nil {
			return nil, err
		}
		c.move(points, centroids, of)
		c.normalise(centroids)
	}
	return centroids, nil
}

func (c *clusters) metric() engine.Metric {
	if c.products {
		return dist.InnerProduct
	}
	return dist.L2
}

// sample is as many of the points as clusters are made of, drawn at random.
func (c *clusters) sample(points *engine.Vectors) (*engine.Vectors, error) {
	if points.Rows <= mostPoints*c.count {
		return points, nil
	}
	some, err := engine.NewVectors(dist.Float32, points.Dim, mostPoints*c.count)
	if err != nil {
		return nil, err
	}
	for i, row := range c.rng.Perm(points.Rows)[:some.Rows] {
		copy(some.Row(i), points.Row(row))
	}
	return some, nil
}

// nearest is the number of the centroid that each row is nearest to.
func nearest(rows, centroids *engine.Vectors, m engine.Metric, threads int) ([]int, error) {
	s, err := flat.New(&flat.Index{Vectors: centroids, Metric: m}, flat.Options{Library: engine.Faiss, Plain: true})
	if err != nil {
		return nil, err
	}
	hits, err := s.SearchBatch(rows, flat.Params{K: 1}, threads)
	if err != nil {
		return nil, err
	}
	of := make([]int, rows.Rows)
	for i, h := range hits {
		if len(h) == 0 {
			return nil, fmt.Errorf("row %d is at no distance from any centroid: it has NaN, infinity or values too large", i)
		}
		of[i] = int(h[0].ID)
	}
	return of, nil
}

// move puts each centroid where the mean of its points is.
func (c *clusters) move(points, centroids *engine.Vectors, of []int) {
	counts := make([]int, c.count)
	for i := range c.count {
		clear(floatsAt(centroids, i))
	}
	for i, to := range of {
		counts[to]++
		sum := floatsAt(centroids, to)
		for j, v := range floatsAt(points, i) {
			sum[j] += v
		}
	}
	for i, n := range counts {
		if n > 0 {
			scale := 1 / float32(n)
			for j := range floatsAt(centroids, i) {
				floatsAt(centroids, i)[j] *= scale
			}
		}
	}
	c.split(centroids, counts, points.Rows)
}

// split gives each centroid without points half of those of another, which is drawn by how many it has (split_clusters).
func (c *clusters) split(centroids *engine.Vectors, counts []int, rows int) {
	const apart = 1 / 1024.0
	if rows <= c.count {
		return
	}
	for i := range counts {
		if counts[i] > 0 {
			continue
		}
		from := 0
		for c.rng.Float64() >= float64(counts[from]-1)/float64(rows-c.count) {
			from = (from + 1) % c.count
		}
		a, b := floatsAt(centroids, i), floatsAt(centroids, from)
		for j, v := range b {
			up := float32(apart)
			if j%2 == 1 {
				up = -up
			}
			a[j], b[j] = v*(1+up), v*(1-up)
		}
		counts[i] = counts[from] / 2
		counts[from] -= counts[i]
	}
}

// normalise gives centroids the length 1 where inner products are compared.
func (c *clusters) normalise(centroids *engine.Vectors) {
	for i := range centroids.Rows {
		x, sum := floatsAt(centroids, i), 0.0
		for _, v := range x {
			sum += float64(v) * float64(v)
		}
		if !c.products || sum == 0 {
			continue
		}
		scale := float32(1 / math.Sqrt(sum))
		for j := range x {
			x[j] *= scale
		}
	}
}

// floatsAt are the values of a row, in place.
func floatsAt(v *engine.Vectors, row int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Add(v.Base(), row*v.Stride)), v.Dim)
}
