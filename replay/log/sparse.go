package log

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// pairBytes is the size of an index and a value of a sparse vector, as it lies in memory.
const pairBytes = 8

// takeSparse parses a sparse vector: {"3": 0.5}, or {"indices": [3], "values": [0.5]}, as Milvus's REST interface takes them.
func (r *lineReader) takeSparse(i int, value []byte, p *requestLine) error {
	switch g := &r.vectors; {
	case p.said && p.element != dist.Sparse || r.o.Element != nil && *r.o.Element != dist.Sparse:
		element := p.element
		if r.o.Element != nil {
			element = *r.o.Element
		}
		return fmt.Errorf("expected vectors of %s, found a sparse one", elementName(element))
	case g.rows > 0 && g.element != dist.Sparse:
		return fmt.Errorf("expected vectors of %s as in line %d, found a sparse one", elementName(g.element), r.firstLine)
	}
	row, err := sparseRow(value)
	if err != nil {
		return fmt.Errorf("vector %d: %w", i, err)
	}
	if r.vectors.rows == 0 {
		r.vectors.element, r.firstLine = dist.Sparse, r.line
	}
	r.vectors.add(row)
	return nil
}

// sparseRow is a vector as a row: dimensions ascend.
func sparseRow(value []byte) ([]byte, error) {
	if len(value) == 0 || value[0] != '{' {
		return nil, errors.New(`expected a sparse vector, {"3": 0.5} or {"indices": [3], "values": [0.5]}, found ` + shown(value))
	}
	var dims []uint32
	var values []float32
	lists := 0
	err := members(value, func(key string, value []byte) error {
		switch name := key; name {
		case "indices", "values":
			lists++
			return elements(value, func(_ int, value []byte) error {
				if name == "values" {
					x, err := number(value)
					values = append(values, x)
					return err
				}
				d, err := dimensionOf(string(value))
				dims = append(dims, d)
				return err
			})
		default:
			d, err := dimensionOf(name)
			if err != nil {
				return err
			}
			x, err := number(value)
			dims, values = append(dims, d), append(values, x)
			return err
		}
	})
	switch {
	case err != nil:
		return nil, err
	case lists > 0 && lists != 2 || len(dims) != len(values):
		return nil, fmt.Errorf("%d indices for %d values", len(dims), len(values))
	}
	return sortedRow(dims, values)
}

func sortedRow(dims []uint32, values []float32) ([]byte, error) {
	order := make([]int, len(dims))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(dims[a], dims[b]) })
	row := make([]byte, 0, pairBytes*len(dims))
	for j, i := range order {
		if j > 0 && dims[order[j-1]] == dims[i] {
			return nil, fmt.Errorf("dimension %d stands there twice", dims[i])
		}
		row = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(row, dims[i]), math.Float32bits(values[i]))
	}
	return row, nil
}

// dimensionOf reads the index of a dimension: what Milvus takes (typeutil.ValidateSparseFloatRows).
func dimensionOf(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == math.MaxUint32 {
		return 0, fmt.Errorf("expected a dimension from 0 to %d, found %s", uint32(math.MaxUint32-1), printable(s))
	}
	return uint32(n), nil
}

// appendSparse appends a row as {"3":0.5}.
func appendSparse(b, row []byte) []byte {
	b = append(b, '{')
	for j := range len(row) / pairBytes {
		if j > 0 {
			b = append(b, ',')
		}
		at := row[j*pairBytes:]
		b = append(strconv.AppendUint(append(b, '"'), uint64(binary.LittleEndian.Uint32(at)), 10), `":`...)
		b = strconv.AppendFloat(b, float64(math.Float32frombits(binary.LittleEndian.Uint32(at[4:]))), 'g', -1, 32)
	}
	return append(b, '}')
}

// searchParam reads a parameter of searches: what may be asked, not what a library takes.
func searchParam(f *engine.SearchParam, value []byte) (float64, error) {
	if f.Whole() {
		n, err := whole(value)
		return float64(n), err
	}
	x, err := share(value)
	return float64(x), err
}

// share reads a number of 0 or more.
func share(value []byte) (float32, error) {
	x, err := number(value)
	if err == nil && !(x >= 0) {
		err = fmt.Errorf("expected a number of 0 or more, found %s", shown(value))
	}
	return x, err
}

// picked are rows of vectors, in some order.
func picked(v *engine.Vectors, n int, row func(i int) int) (*engine.Vectors, error) {
	if v.Element == dist.Sparse {
		rows := make([][]byte, n)
		for i := range rows {
			rows[i] = v.Row(row(i))
		}
		return engine.JoinSparse(rows)
	}
	out, err := engine.NewVectors(v.Element, v.Dim, n)
	if err != nil {
		return nil, err
	}
	for i := range n {
		copy(out.Row(i), v.Row(row(i)))
	}
	return out, nil
}

// disturbSparse adds noise to the values that drawn vectors have, of so many times the deviation of all of them: no dimension is added, and
// values keep their sign, as Milvus refuses negative ones ("negative value", internal/core/src/common/Utils.h).
func (s *sampler) disturbSparse(rng *rand.PCG, v *engine.Vectors) error {
	sum, squares, n := 0.0, 0.0, 0.0
	each := func(f func(at []byte, x float32)) {
		for i := range v.Rows {
			for row := v.Row(i); len(row) >= pairBytes; row = row[pairBytes:] {
				f(row[4:8], math.Float32frombits(binary.LittleEndian.Uint32(row[4:])))
			}
		}
	}
	each(func(_ []byte, x float32) {
		sum, squares, n = sum+float64(x), squares+float64(float64(x)*float64(x)), n+1
	})
	mean := sum / max(n, 1)
	deviation := s.o.Noise * math.Sqrt(max(0, squares/max(n, 1)-float64(mean*mean)))
	odd := false
	each(func(at []byte, x float32) {
		y := float32(math.Copysign(float64(x)+float64(deviation*gaussian(rng)), float64(x)))
		odd = odd || math.IsInf(float64(y), 0)
		binary.LittleEndian.PutUint32(at, math.Float32bits(y))
	})
	if odd {
		return fmt.Errorf("draw queries: noise %g makes a number that does not fit float32", s.o.Noise)
	}
	return nil
}
