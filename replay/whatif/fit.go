package whatif

import (
	"math"
	"slices"

	"kitescope/profile/significance"
)

// rowPoint is a measured search row by row: of so many bytes of vectors, in nanoseconds.
type rowPoint struct{ bytes, ns float64 }

// rowFit is what a search row by row takes: Fixed + PerByte times the bytes of all vectors, in nanoseconds.
type rowFit struct{ fixed, perByte float64 }

func (f rowFit) at(bytes float64) float64 { return f.fixed + f.perByte*bytes }

// fitRows fits so that relative errors are small, without negative costs.
func fitRows(points []rowPoint) (rowFit, bool) {
	x, y := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		x[i], y[i] = p.bytes, p.ns
	}
	a, b, ok := line(x, y)
	return rowFit{a, b}, ok
}

// line fits y = a + b*x with weights 1/y², a and b not negative.
func line(x, y []float64) (a, b float64, ok bool) {
	var w, wx, wy, wxx, wxy float64
	for i := range x {
		if !(y[i] > 0) {
			continue
		}
		k := 1 / (y[i] * y[i])
		w, wx, wy, wxx, wxy = w+k, wx+k*x[i], wy+k*y[i], wxx+k*x[i]*x[i], wxy+k*x[i]*y[i]
	}
	if w == 0 || wxx == 0 {
		return 0, 0, false
	}
	if det := w*wxx - wx*wx; det > 1e-9*w*wxx {
		a, b = (wxx*wy-wx*wxy)/det, (w*wxy-wx*wy)/det
		if a >= 0 && b >= 0 {
			return a, b, true
		}
	}
	if b < 0 {
		return wy / w, 0, true
	}
	return 0, wxy / wxx, true // through the origin
}

// walkPoint is a measured walk of a graph.
type walkPoint struct{ rows, ef, distances, ns float64 }

// walkFit says how many distances a walk computes, exp(c) * ef^byEF * rows^byRows, and what it takes: fixed + each for every
// distance, in nanoseconds.
type walkFit struct{ c, byEF, byRows, fixed, each float64 }

func (f walkFit) distances(rows, ef float64) float64 {
	return min(rows, math.Exp(f.c+f.byEF*math.Log(ef)+f.byRows*math.Log(max(2, rows))))
}

func (f walkFit) at(rows, ef float64) float64 { return f.fixed + f.each*f.distances(rows, ef) }

// What the exponents are where nothing measured tells them apart: distances grow a little slower than ef, and with the logarithm of
// rows, which over the sizes of segments is about this power of them.
const (
	priorByEF   = 0.85
	priorByRows = 0.1
	priorWeight = 0.01 // of one measurement whose logarithm is off by one
)

// fitWalks fits logarithms of distances by least squares, with a weak pull to the exponents above, and times by a line.
func fitWalks(points []walkPoint) (f walkFit, ok bool) {
	var m [3][4]float64 // normal equations
	var x, y []float64
	for _, p := range points {
		if !(p.distances > 0 && p.ns > 0 && p.ef > 0 && p.rows > 0) {
			continue
		}
		v := [4]float64{1, math.Log(p.ef), math.Log(max(2, p.rows)), math.Log(p.distances)}
		for i := range 3 {
			for j := range 4 {
				m[i][j] += v[i] * v[j]
			}
		}
		x, y = append(x, p.distances), append(y, p.ns)
	}
	if len(x) == 0 {
		return f, false
	}
	for i, prior := range [3]float64{0, priorByEF, priorByRows} {
		if i > 0 {
			m[i][i] += priorWeight
			m[i][3] += priorWeight * prior
		}
	}
	s := solve(m)
	f.c, f.byEF, f.byRows = s[0], s[1], s[2]
	// In a larger graph of the same clusters neighbours have more neighbours in common, so that a walk may even take fewer; what is beyond these is noise.
	if byEF, byRows := min(max(f.byEF, 0.2), 1.2), min(max(f.byRows, -0.5), 0.6); byEF != f.byEF || byRows != f.byRows {
		f.byEF, f.byRows = byEF, byRows
		f.c = 0
		for _, p := range points {
			f.c += (math.Log(p.distances) - f.byEF*math.Log(p.ef) - f.byRows*math.Log(max(2, p.rows))) / float64(len(points))
		}
	}
	f.fixed, f.each, ok = line(x, y)
	return f, ok
}

// solve is Gauss's elimination with pivots of three equations.
func solve(m [3][4]float64) (x [3]float64) {
	for i := range 3 {
		pivot := i
		for r := i + 1; r < 3; r++ {
			if math.Abs(m[r][i]) > math.Abs(m[pivot][i]) {
				pivot = r
			}
		}
		m[i], m[pivot] = m[pivot], m[i]
		if m[i][i] == 0 {
			continue
		}
		for r := range 3 {
			if r == i {
				continue
			}
			k := m[r][i] / m[i][i]
			for c := i; c < 4; c++ {
				m[r][c] -= k * m[i][c]
			}
		}
	}
	for i := range 3 {
		if m[i][i] != 0 {
			x[i] = m[i][3] / m[i][i]
		}
	}
	return x
}

// leaveOneOut are the relative errors of a fit at each point when it is fitted without it.
func leaveOneOut[P, F any](points []P, fit func([]P) (F, bool), at func(F, P) float64, truth func(P) float64) []float64 {
	var errors []float64
	if len(points) < 3 {
		return nil
	}
	for i := range points {
		f, ok := fit(slices.Delete(slices.Clone(points), i, i+1))
		if t := truth(points[i]); ok && t > 0 {
			errors = append(errors, math.Abs(at(f, points[i])-t)/t)
		}
	}
	return errors
}

// leaveGroupsOut is the same, leaving out at once all points of one group: those of one graph at several ef.
func leaveGroupsOut[P, F any](points []P, group func(P) float64, fit func([]P) (F, bool), at func(F, P) float64, truth func(P) float64) []float64 {
	var errors []float64
	groups := map[float64]bool{}
	for _, p := range points {
		groups[group(p)] = true
	}
	if len(groups) < 2 {
		return leaveOneOut(points, fit, at, truth)
	}
	for _, p := range points {
		rest := slices.DeleteFunc(slices.Clone(points), func(q P) bool { return group(q) == group(p) })
		if f, ok := fit(rest); ok && truth(p) > 0 {
			errors = append(errors, math.Abs(at(f, p)-truth(p))/truth(p))
		}
	}
	return errors
}

func medianAndWorst(errors []float64) (median, worst float64) {
	if len(errors) == 0 {
		return -1, -1
	}
	return significance.Median(errors), slices.Max(errors)
}
