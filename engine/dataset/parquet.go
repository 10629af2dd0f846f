package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/parquet"
)

// vectorColumn is a column whose rows are vectors or ids.
type vectorColumn struct {
	parquet.Leaf
	index   int          // index of the leaf
	list    bool         // rows are lists of values; otherwise each row is one value of several bytes
	element dist.Element // element type of vectors
	ids     bool
}

// readParquet reads one column. It accepts lists of FLOAT, DOUBLE, FLOAT16 and INT_8 (vectors), UINT_8 (eight bits
// per value), and INT32 and INT64 (ids), as well as FIXED_LEN_BYTE_ARRAY (float32, as stored by Milvus). If name is
// empty, the file must have exactly one such column. A column of single integers, one id per row, is accepted only
// by name.
func readParquet(ctx context.Context, name string, data []byte) (*Set, error) {
	file, err := parquet.ReadFooter(parquet.Bytes(data), 0, int64(len(data)))
	if err != nil {
		return nil, err
	}
	column, err := chooseColumn(file.Leaves, name)
	if err != nil {
		return nil, err
	}
	r := rowReader{vectorColumn: column, want: file.Rows}
	for _, g := range file.Groups {
		r.values += g.Chunks[column.index].Values
	}
	if err = file.Pages(ctx, column.index, r.page); err == nil {
		err = r.end()
	}
	if err != nil {
		r.set.Close()
		return nil, fmt.Errorf("column %s: %w", parquet.QuoteName(column.Top), err)
	}
	r.set.Column = column.Top
	return &r.set, nil
}

// chooseColumn returns the column with the given name, or the only suitable one if name is empty.
func chooseColumn(leaves []parquet.Leaf, name string) (vectorColumn, error) {
	var found []vectorColumn
	var names, others []string
	for i := 0; i < len(leaves); {
		top, end := leaves[i], i+1
		for end < len(leaves) && leaves[end].Column == top.Column {
			end++
		}
		c, ok := asVectors(top, name != "")
		c.index, ok = i, ok && end == i+1
		if name != "" && top.Top == name {
			if !ok {
				return c,
					fmt.Errorf("column %s is %s: expected numbers, a list of numbers or a FIXED_LEN_BYTE_ARRAY of "+
						"float32",
						parquet.QuoteName(name), kindOf(leaves[i:end]))
			}
			return c, nil
		}
		if ok {
			found, names = append(found, c), append(names, top.Top)
		}
		others = append(others, top.Top)
		i = end
	}
	switch {
	case name != "":
		return vectorColumn{}, fmt.Errorf("no column %s; columns: %s", parquet.Quote(name), list(others))
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return vectorColumn{}, fmt.Errorf("no column holds vectors: %s", list(others))
	}
	return vectorColumn{}, fmt.Errorf("several columns hold vectors; choose one with FILE#COLUMN: %s", list(names))
}

// kindOf returns a description of a column for an error.
func kindOf(leaves []parquet.Leaf) string {
	l := leaves[0]
	name := parquet.PhysicalName(l.Physical)
	if l.Logical == parquet.OtherLogical {
		name += " with another logical type (text, decimals, times)"
	}
	switch {
	case len(leaves) > 1:
		return "a group of several columns"
	case l.Repetitions > 1:
		return "a list of lists"
	case l.Repetitions == 1:
		return "a list of " + name
	}
	return name
}

// asVectors returns the type of a column, and whether its rows are vectors or ids. If scalars is set, it accepts
// single integers.
func asVectors(l parquet.Leaf, scalars bool) (c vectorColumn, ok bool) {
	c = vectorColumn{Leaf: l, list: l.Repetitions == 1}
	if l.Repetitions > 1 {
		return c, false
	}
	if !c.list {
		c.ids = scalars && (l.Physical == parquet.Int32 || l.Physical == parquet.Int64) &&
			l.Logical != parquet.OtherLogical
		return c,
			c.ids || l.Physical == parquet.Fixed && l.Logical == parquet.NoLogical && l.Length > 0 && l.Length%4 == 0
	}
	switch l.Physical {
	case parquet.Float, parquet.Double:
	case parquet.Fixed:
		c.element = dist.Float16
		return c, l.Length == 2 && l.Logical == parquet.Float16
	case parquet.Int32, parquet.Int64:
		switch l.Logical {
		case parquet.Int8:
			c.element = dist.Int8
		case parquet.Uint8:
			c.element = dist.Bit
		case parquet.OtherLogical: // decimals, times
			return c, false
		default:
			c.ids = true
		}
	default:
		return c, false
	}
	return c, true
}

// rowReader assembles the values of a column into rows.
type rowReader struct {
	vectorColumn
	want   int64 // number of rows in the footer
	values int64 // number of values in the footer; File.Pages limits it

	width int // values per row; 0 until the first row is complete
	first []byte
	row   int // current row
	at    int // index of the next value in it
	set   Set
}

// page reads the values of a page. It buffers the first row until its end, because its length is the length of all
// rows.
func (r *rowReader) page(p parquet.Page) error {
	size := r.Width()
	for i := range p.Entries {
		if (p.Starts == nil || p.Starts[i]) && r.at > 0 {
			if err := r.endRow(); err != nil {
				return err
			}
		}
		if p.Present != nil && !p.Present[i] {
			return fmt.Errorf("row %d: expected a value, found none (null or an empty list)", r.row)
		}
		v := p.Values[:size:size]
		p.Values = p.Values[size:]
		switch {
		case r.width == 0:
			r.first = append(r.first, v...)
		case r.at == r.width:
			return fmt.Errorf("row %d: expected %d values, as in row 0, found more", r.row, r.width)
		case r.set.Vectors != nil || r.set.IDs != nil:
			if err := r.store(v); err != nil {
				return err
			}
		}
		r.at++
	}
	return nil
}

// endRow ends a row after all of its values.
func (r *rowReader) endRow() error {
	if r.width == 0 {
		r.width = r.at
		if err := r.allocate(); err != nil {
			return err
		}
	}
	if r.at != r.width {
		return fmt.Errorf("row %d: expected %d values, as in row 0, found %d", r.row, r.width, r.at)
	}
	r.row, r.at = r.row+1, 0
	return nil
}

// allocate allocates all rows, which have the length of the first, and stores the first row. It allocates nothing
// if the footer's number of values cannot fill that many rows. Reading then continues until a row of another length
// causes an error.
func (r *rowReader) allocate() error {
	if r.want < 1 || r.want > r.values/int64(r.width) {
		return nil
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
			dim = r.Length / 4
		case r.element == dist.Bit:
			dim *= 8
		}
		v, err := engine.NewVectors(r.element, dim, rows)
		if err != nil {
			return err
		}
		r.set.Vectors = v
	}
	for r.at = range r.width {
		if err := r.store(r.first[r.at*r.Width():]); err != nil {
			return err
		}
	}
	r.at, r.first = r.width, nil
	return nil
}

// store stores a value at its place in the row. Integers of 8-bit columns are not range-checked, because the format
// defines only their low byte.
func (r *rowReader) store(v []byte) error {
	if r.row >= int(r.want) {
		return fmt.Errorf("expected %d rows, found more", r.want)
	}
	if r.ids {
		id := &r.set.IDs[r.row][r.at]
		switch {
		case r.Physical == parquet.Int64:
			*id = int64(binary.LittleEndian.Uint64(v))
		case r.Logical == parquet.Uint32:
			*id = int64(binary.LittleEndian.Uint32(v))
		default:
			*id = int64(int32(binary.LittleEndian.Uint32(v)))
		}
		if r.Logical == parquet.Uint64 && *id < 0 {
			return fmt.Errorf("row %d: expected an id below 2^63, found %d", r.row, uint64(*id))
		}
		return nil
	}
	row := r.set.Vectors.Row(r.row)
	switch {
	case !r.list:
		copy(row, v[:r.Length])
	case r.Physical == parquet.Double:
		x := math.Float64frombits(binary.LittleEndian.Uint64(v))
		binary.LittleEndian.PutUint32(row[4*r.at:], math.Float32bits(float32(x)))
		if float64(float32(x)) != x && x == x {
			r.set.Rounded++
		}
	case r.element == dist.Float32:
		copy(row[4*r.at:4*r.at+4], v)
	case r.element == dist.Float16:
		copy(row[2*r.at:2*r.at+2], v)
	default:
		row[r.at] = v[0]
	}
	return nil
}

// end checks the number of rows against the footer.
func (r *rowReader) end() error {
	if r.at > 0 {
		if err := r.endRow(); err != nil {
			return err
		}
	}
	switch {
	case int64(r.row) != r.want:
		return fmt.Errorf("expected %d rows, found %d", r.want, r.row)
	case r.width == 0:
		return errors.New("no rows, so no dimension")
	case r.values != r.want*int64(r.width):
		return fmt.Errorf("expected %d rows of %d values, found %d values", r.want, r.width, r.values)
	}
	return nil
}
