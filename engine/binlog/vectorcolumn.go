package binlog

import (
	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/parquet"
)

// vectorSink allocates the vectors. All have the same length, which is in parquet's schema.
func (c *Column) vectorSink(all []source, element dist.Element) (sink, int, error) {
	leaf := all[0].leaf()
	size := leaf.Length
	if leaf.Physical != parquet.Fixed || size <= 0 || size > 1<<20 || size%element.Bytes(1) != 0 {
		return nil, 0, all[0].errorf("%s of %d bytes holds no %v", parquet.PhysicalName(leaf.Physical), size, c.Type)
	}
	dim := size / element.Bytes(1)
	if element == dist.Bit {
		dim = 8 * size
	}
	for _, s := range all {
		if err := s.checkRows(size); err != nil {
			return nil, 0, err
		}
	}
	rows, err := engine.NewVectors(element, dim, c.Rows)
	if err != nil {
		return nil, 0, all[0].errorf("%w", err)
	}
	c.Vectors = rows
	return &vectors{rows: rows, size: size}, size, nil
}
