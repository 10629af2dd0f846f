package binlog

import (
	"slices"

	"kitescope/engine/parquet"
)

// findNulls returns the rows whose definition level is 0 rather than 1.
func findNulls(levels []byte, row, n int) ([]span, error) {
	var nulls []span
	add := func(at, n int) {
		if k := len(nulls); k > 0 && nulls[k-1].at+nulls[k-1].n == at {
			nulls[k-1].n += n
			return
		}
		nulls = append(nulls, span{at, n})
	}
	err := parquet.EachRun(levels, 1, row, n, func(v uint32, at, n int) error {
		if v == 0 {
			add(at, n)
		}
		return nil
	}, func(b []byte, width, at, n int) error {
		return parquet.EachIndex(b, width, n, func(i int, levels []uint32) error {
			for j, level := range levels {
				if level == 0 {
					add(at+i+j, 1)
				}
			}
			return nil
		})
	})
	return nulls, err
}

// spread moves the dense values at row to the rows that are not null, from last to first.
func spread(s sink, row, dense, n int, nulls []span) {
	from, to := row+dense, row+n
	for _, null := range slices.Backward(nulls) {
		for to > null.at+null.n {
			from, to = from-1, to-1
			s.move(to, from)
		}
		for to > null.at {
			to--
			s.zero(to)
		}
	}
}
