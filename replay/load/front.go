package load

import (
	"cmp"
	"math"
	"slices"
)

// OnFront reports of each point whether it is on the Pareto front: no other has at least the same recall and QPS, and more of one.
// Points that are equal in both beat each other in nothing, so either all of them are on it or none. A point whose recall or
// QPS nobody knows is not on it and beats nobody. Whatever marks, lists or draws a front asks this.
func OnFront(points []Point) []bool {
	front := make([]bool, len(points))
	known := func(p *Point) bool { return p.Recall >= 0 && p.QPS > 0 && !math.IsInf(p.QPS, 1) }
	for i := range points {
		p := &points[i]
		front[i] = known(p) && !slices.ContainsFunc(points, func(q Point) bool {
			return known(&q) && q.Recall >= p.Recall && q.QPS >= p.QPS && (q.Recall > p.Recall || q.QPS > p.QPS)
		})
	}
	return front
}

// Front is the Pareto front, sorted by recall, so that QPS falls: what can be had.
func Front(points []Point) []Point {
	var front []Point
	for i, on := range OnFront(points) {
		if on {
			front = append(front, points[i])
		}
	}
	slices.SortStableFunc(front, func(a, b Point) int { return cmp.Compare(a.Recall, b.Recall) })
	return front
}
