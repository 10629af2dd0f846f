package log

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// pairBytes is the size of a dimension and its value of a sparse vector in memory.
const pairBytes = 8

// sparseRow decodes a sparse vector, {"3": 0.5} or {"indices": [3], "values": [0.5]} as in Milvus's REST API, as a
// row with ascending dimensions.
func sparseRow(value []byte) ([]byte, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(value, &object); err != nil {
		return nil,
			errors.New(`expected a sparse vector, {"3": 0.5} or {"indices": [3], "values": [0.5]}, found ` +
				excerpt(value))
	}
	var dims []uint32
	var values []float32
	if indices, ok := object["indices"]; ok {
		if err := json.Unmarshal(indices, &dims); err != nil {
			return nil, fmt.Errorf("indices: expected a list of dimensions, found %s", excerpt(indices))
		}
		if len(dims) > 0 || string(object["values"]) != "[]" {
			var err error
			if values, err = numbers(object["values"]); err != nil {
				return nil, fmt.Errorf("values: %w", err)
			}
		}
		if len(object) != 2 || len(dims) != len(values) {
			return nil, fmt.Errorf("%d indices for %d values", len(dims), len(values))
		}
		return sortedRow(dims, values)
	}
	for key, text := range object {
		d, err := strconv.ParseUint(key, 10, 32)
		if err != nil {
			return nil,
				fmt.Errorf("expected a dimension from 0 to %d, found %s", uint32(math.MaxUint32-1), printable(key))
		}
		x, err := numbers([]byte("[" + string(text) + "]"))
		if err != nil {
			return nil, err
		}
		dims, values = append(dims, uint32(d)), append(values, x...)
	}
	if len(dims) != len(values) {
		return nil, fmt.Errorf("expected a number for each dimension, found %s", excerpt(value))
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
			return nil, fmt.Errorf("dimension %d is given twice", dims[i])
		}
		if dims[i] == math.MaxUint32 { // rejected by Milvus (typeutil.ValidateSparseFloatRows)
			return nil, fmt.Errorf("expected a dimension from 0 to %d", uint32(math.MaxUint32-1))
		}
		row = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(row, dims[i]),
			math.Float32bits(values[i]))
	}
	return row, nil
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

// selectRows returns a copy of n rows of vectors; row(i) is the i-th one.
func selectRows(v *engine.Vectors, n int, row func(i int) int) (*engine.Vectors, error) {
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

// addSparseNoise adds noise to the values of drawn sparse vectors. The standard deviation of the noise is Noise
// times the deviation of all values. addSparseNoise adds no dimensions and preserves signs, because Milvus rejects
// negative values ("negative value", internal/core/src/common/Utils.h).
func (s *sampler) addSparseNoise(rng *rand.Rand, v *engine.Vectors) error {
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
		y := float32(math.Copysign(float64(x)+float64(deviation*rng.NormFloat64()), float64(x)))
		odd = odd || math.IsInf(float64(y), 0)
		binary.LittleEndian.PutUint32(at, math.Float32bits(y))
	})
	if odd {
		return fmt.Errorf("draw queries: noise %g makes a number that does not fit float32", s.o.Noise)
	}
	return nil
}
