package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"kitescope/engine"
	"kitescope/engine/dist"
	guard "kitescope/engine/parquet"
)

// vectorColumn is a column whose rows are vectors or ids, and how.
type vectorColumn struct {
	leaf    *parquet.Column
	name    string
	list    bool         // rows are lists of values; else each is a value of several bytes
	element dist.Element // of vectors
	ids     bool
	double  bool
}

// readParquet reads a column of lists of FLOAT, DOUBLE, FLOAT16, INT_8 (vectors), UINT_8 (bits,
// eight to a value), INT32 and INT64 (ids), or of FIXED_LEN_BYTE_ARRAY (float32, as Milvus
// stores them). With an empty name the file has to have one such column alone. Only columns
// that are named may hold single integers: one id a row.
func readParquet(ctx context.Context, name string, data []byte) (s *Set, err error) {
	defer guard.Recover(&err)
	in := guard.Bytes(data)
	file, err := guard.Open(in, int64(len(data)))
	if err != nil {
		return nil, err
	}
	column, err := chooseColumn(file, name)
	if err != nil {
		return nil, err
	}
	width := int64(8)
	if column.leaf.Type().Kind() == parquet.FixedLenByteArray {
		width = int64(column.leaf.Type().Length())
	}
	// Levels take a byte each once they are decoded.
	values, err := guard.CheckPages(file, column.leaf, in, int64(len(data)), width+2)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", guard.Shown(column.name), err)
	}
	r := rowReader{vectorColumn: column, want: file.NumRows(), values: values}
	if err := r.read(ctx); err != nil {
		r.set.Close()
		return nil, fmt.Errorf("column %s: %w", guard.Shown(column.name), err)
	}
	r.set.Column = column.name
	return &r.set, nil
}

// chooseColumn returns the column of that name, or the only one.
func chooseColumn(file *parquet.File, name string) (vectorColumn, error) {
	var found []vectorColumn
	var names, others []string
	for _, top := range file.Root().Columns() {
		c, ok := asVectors(file, top, name != "")
		if name != "" && top.Name() == name {
			if !ok {
				return c, fmt.Errorf("column %s is %s: expected a list of numbers or a FIXED_LEN_BYTE_ARRAY of float32", guard.Shown(name), kindOf(top))
			}
			return c, nil
		}
		if ok {
			found, names = append(found, c), append(names, top.Name())
		}
		others = append(others, top.Name())
	}
	switch {
	case name != "":
		return vectorColumn{}, fmt.Errorf("no column %s; there are %s", guard.Quote(name), list(others))
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return vectorColumn{}, fmt.Errorf("no column holds vectors: %s", list(others))
	}
	return vectorColumn{}, fmt.Errorf("several columns hold vectors; choose one with FILE#COLUMN: %s", list(names))
}

// kindOf is what a column is, for an error.
func kindOf(top *parquet.Column) string {
	if !top.Leaf() {
		return "a group"
	}
	return top.Type().String()
}

// asVectors tells how the rows of a column are vectors.
func asVectors(file *parquet.File, top *parquet.Column, scalars bool) (vectorColumn, bool) {
	leaf, ok := guard.LeafOf(top)
	if !ok {
		return vectorColumn{}, false
	}
	c := vectorColumn{leaf: leaf, name: top.Name(), list: leaf.MaxRepetitionLevel() == 1}
	if leaf.MaxRepetitionLevel() > 1 {
		return c, false
	}
	kind, logical := leaf.Type().Kind(), leaf.Type().LogicalType()
	if !c.list {
		c.ids = scalars && (kind == parquet.Int32 || kind == parquet.Int64)
		return c, c.ids || kind == parquet.FixedLenByteArray && logical == nil && leaf.Type().Length()%4 == 0
	}
	switch kind {
	case parquet.Float:
	case parquet.Double:
		c.double = true
	case parquet.FixedLenByteArray:
		c.element = dist.Float16
		return c, leaf.Type().Length() == 2 && isFloat16(file, leaf)
	case parquet.Int32, parquet.Int64:
		c.ids = true
		if logical == nil {
			break
		}
		if whole, ok := logical.Value.(*format.IntType); ok && whole.BitWidth == 8 {
			c.ids, c.element = false, dist.Int8
			if !whole.IsSigned {
				c.element = dist.Bit
			}
		}
	default:
		return c, false
	}
	return c, true
}

// isFloat16 asks the footer: parquet-go's types do not tell.
func isFloat16(file *parquet.File, leaf *parquet.Column) bool {
	index := 0
	for i := range file.Metadata().Schema {
		element := &file.Metadata().Schema[i]
		if element.NumChildren.Valid && element.NumChildren.V > 0 {
			continue
		}
		if index == leaf.Index() {
			_, half := element.LogicalType.Value.(*format.Float16Type)
			return half
		}
		index++
	}
	return false
}

// rowReader puts the values of a column into rows.
type rowReader struct {
	vectorColumn
	want   int64 // rows, as the footer says
	values int64 // as the pages say, which were held against the file's size

	width int // values of a row; 0 before the first is complete
	first []parquet.Value
	row   int // that is filled
	at    int // its next value
	set   Set
}

func (r *rowReader) read(ctx context.Context) error {
	if err := guard.Values(ctx, r.leaf, r.value); err != nil {
		return err
	}
	return r.end()
}

// value takes the next value. The first row is kept until it is known how long rows are.
func (r *rowReader) value(v parquet.Value) error {
	begins := v.RepetitionLevel() == 0
	if v.IsNull() {
		row := r.row
		if begins && (r.at > 0 || len(r.first) > 0) {
			row++
		}
		return fmt.Errorf("row %d: expected a value, found none", row)
	}
	if begins && (r.at > 0 || len(r.first) > 0) {
		if err := r.endRow(); err != nil {
			return err
		}
	}
	if r.width == 0 {
		r.first = append(r.first, v.Clone())
		return nil
	}
	if r.at == r.width || r.row >= int(r.want) {
		return fmt.Errorf("row %d of %d: expected %d values, found more", r.row, r.want, r.width)
	}
	r.store(v)
	return nil
}

// endRow is called when all values of a row were seen.
func (r *rowReader) endRow() error {
	if r.width == 0 {
		if err := r.allocate(); err != nil {
			return err
		}
	}
	if r.at != r.width {
		return fmt.Errorf("row %d: expected %d values, found %d", r.row, r.width, r.at)
	}
	r.row, r.at = r.row+1, 0
	return nil
}

// allocate makes room for all rows, whose length the first one tells, and stores that.
func (r *rowReader) allocate() error {
	r.width = len(r.first)
	if r.width == 0 || r.want < 0 || r.want > r.values/int64(r.width) {
		return fmt.Errorf("expected %d rows of %d values, the pages have %d values", r.want, r.width, r.values)
	}
	rows := int(r.want)
	if r.ids {
		all := make([]int64, rows*r.width)
		r.set.IDs = make([][]int64, rows)
		for i := range r.set.IDs {
			r.set.IDs[i] = all[i*r.width : (i+1)*r.width : (i+1)*r.width]
		}
	} else {
		dim := r.width
		switch {
		case !r.list:
			dim = r.leaf.Type().Length() / 4
		case r.element == dist.Bit:
			dim *= 8
		}
		v, err := engine.NewVectors(r.element, dim, rows)
		if err != nil {
			return err
		}
		r.set.Vectors = v
	}
	for _, v := range r.first {
		r.store(v)
	}
	r.first = nil
	return nil
}

// store puts a value at its place. Integers of columns of eight bits are in range: it is
// their low byte that the format defines.
func (r *rowReader) store(v parquet.Value) {
	at := r.at
	r.at++
	if r.ids {
		id := v.Int64()
		if v.Kind() == parquet.Int32 {
			id = int64(v.Int32())
		}
		r.set.IDs[r.row][at] = id
		return
	}
	row := r.set.Vectors.Row(r.row)
	switch {
	case !r.list:
		copy(row, v.ByteArray())
	case r.double:
		x := v.Double()
		binary.LittleEndian.PutUint32(row[4*at:], math.Float32bits(float32(x)))
		if float64(float32(x)) != x && x == x {
			r.set.Rounded++
		}
	case r.element == dist.Float32:
		binary.LittleEndian.PutUint32(row[4*at:], math.Float32bits(v.Float()))
	case r.element == dist.Float16:
		copy(row[2*at:2*at+2], v.ByteArray())
	case v.Kind() == parquet.Int64:
		row[at] = byte(v.Int64())
	default:
		row[at] = byte(v.Int32())
	}
}

// end holds the number of rows against the footer's.
func (r *rowReader) end() error {
	if r.at > 0 || len(r.first) > 0 {
		if err := r.endRow(); err != nil {
			return err
		}
	}
	if int64(r.row) != r.want {
		return fmt.Errorf("expected %d rows, found %d", r.want, r.row)
	}
	if r.width == 0 {
		return errors.New("no rows, so no dimension")
	}
	return nil
}
