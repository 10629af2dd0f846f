package load

import (
	"cmp"
	"slices"
)

// Front are the points of which no other has at least the same recall and QPS, and more of one: what can be had. They are
// sorted by recall, so that QPS falls. Points whose recall or QPS nobody knows are not in it; of equal ones the first is.
func Front(points []Point) []Point {
	var known []Point
	for i := range points {
		if points[i].Recall >= 0 && points[i].QPS > 0 {
			known = append(known, points[i])
		}
	}
	slices.SortStableFunc(known, func(a, b Point) int {
		return cmp.Or(cmp.Compare(b.Recall, a.Recall), cmp.Compare(b.QPS, a.QPS))
	})
	var front []Point
	for i := range known {
		if len(front) == 0 || known[i].QPS > front[len(front)-1].QPS {
			front = append(front, known[i])
		}
	}
	slices.Reverse(front)
	return front
}
