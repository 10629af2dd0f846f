package binlog

import (
	"context"
	"fmt"

	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// TableColumn is a column of a plain parquet file that has one value a row, of the type whose values those of parquet are.
type TableColumn struct {
	Name string
	Type Type
	// Optional columns may have rows without a value.
	Optional bool
	index    int
}

// TableColumns lists the columns of a plain parquet file that ReadTable can read, and how many rows there are. Lists, groups and bytes of
// fixed length are left out.
func TableColumns(r object.Reader, name string) (list []TableColumn, rows int64, err error) {
	file, err := parquet.ReadFooter(r, 0, r.Size())
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", name, err)
	}
	types := map[int]Type{
		parquet.Boolean: Bool, parquet.Int32: Int32, parquet.Int64: Int64, parquet.Float: Float, parquet.Double: Double, parquet.ByteArray: VarChar,
	}
	for i, l := range file.Leaves {
		if t, ok := types[l.Physical]; ok && !l.Nested {
			list = append(list, TableColumn{Name: l.Name, Type: t, Optional: l.Optional, index: i})
		}
	}
	return list, file.Rows, nil
}

// ReadTable reads one of the columns of TableColumns.
func ReadTable(ctx context.Context, r object.Reader, name string, column TableColumn) (*Column, error) {
	file, err := parquet.ReadFooter(r, 0, r.Size())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	c := &Column{Descriptor: Descriptor{Field: -1, Type: column.Type}}
	return c, c.read(ctx, []source{{name, file, column.index}})
}
