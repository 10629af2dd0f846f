package sparse

import (
	"fmt"
	"slices"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// Build returns an index of rows. It leaves out values that are 0. rows may come from a hostile file:
// dimensions need not ascend.
func Build(rows *engine.Vectors, m engine.Metric) (*Index, error) {
	if rows.Element != dist.Sparse {
		return nil, fmt.Errorf("an inverted index of %s rows: expected sparse", rows.Element)
	}
	x := &Index{Metric: m, Rows: rows.Rows, listOf: map[uint32]uint32{}}
	var counts []uint64
	total := uint64(0)
	for i := range rows.Rows {
		row := rows.Row(i)
		if len(row)%PairBytes != 0 {
			return nil, fmt.Errorf("row %d: a sparse vector of %d bytes", i, len(row))
		}
		for j := range len(row) / PairBytes {
			dim, v := pair(row, j)
			x.Dim = max(x.Dim, int(dim)+1)
			if v == 0 {
				continue
			}
			list, ok := x.listOf[dim]
			if !ok {
				list = uint32(len(counts))
				x.listOf[dim], counts, x.Names = list, append(counts, 0), append(x.Names, dim)
			}
			counts[list]++
			total++
		}
	}
	x.Starts = make([]uint64, len(counts)+1)
	at := make([]uint64, len(counts))
	for i, n := range counts {
		at[i] = x.Starts[i]
		x.Starts[i+1] = x.Starts[i] + n
	}
	x.IDs, x.Values = make([]uint32, total), make([]float32, total)
	if m == dist.BM25 {
		x.Lengths = make([]float32, rows.Rows)
	}
	for i := range rows.Rows {
		row := rows.Row(i)
		length := float32(0)
		for j := range len(row) / PairBytes {
			dim, v := pair(row, j)
			length += v
			if v == 0 {
				continue
			}
			list := x.listOf[dim]
			x.IDs[at[list]], x.Values[at[list]] = uint32(i), v
			if m == dist.BM25 {
				x.Values[at[list]] = quantised(v)
			}
			at[list]++
		}
		if m == dist.BM25 {
			x.Lengths[i] = length
		}
	}
	return x, x.Finish()
}

// Transposed returns the rows of the index with ascending dimensions, as far as the lists have them: without
// zeros, and rounded under BM25.
func (x *Index) Transposed() (*engine.Vectors, error) {
	sizes := make([]int, x.Rows)
	for _, id := range x.IDs {
		sizes[id] += PairBytes
	}
	rows, err := engine.NewSparse(sizes)
	if err != nil {
		return nil, err
	}
	clear(sizes)
	order := make([]uint32, len(x.Names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return int(int64(x.Names[a]) - int64(x.Names[b])) })
	for _, list := range order {
		ids, values := x.list(list)
		for j, id := range ids {
			to := rows.Row(int(id))[sizes[id] : sizes[id] : sizes[id]+PairBytes]
			AppendPair(to, x.Names[list], values[j])
			sizes[id] += PairBytes
		}
	}
	return rows, nil
}
