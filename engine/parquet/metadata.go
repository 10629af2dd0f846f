package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds of the metadata of a file that parquet-go decodes. A struct of one byte in a list takes up to 600 in memory, and the
// path of each element of the schema is kept as a list of names.
const (
	maxDecoded = 16 << 20
	maxStructs = 1 << 19
	maxSchema  = 1 << 16
	maxNesting = 64
)

// checkFooter walks over a file's metadata before parquet-go decodes it, which makes room for
// as many elements as a list announces, and opens groups within groups by recursion.
func checkFooter(r io.ReaderAt, size int64) error {
	var head [4]byte
	var tail [8]byte
	if size < 12 || ReadAt(r, head[:], 0) != nil || ReadAt(r, tail[:], size-8) != nil || string(head[:]) != "PAR1" || string(tail[4:]) != "PAR1" {
		return errors.New(`offset 0: expected a parquet file, with "PAR1" at both ends`)
	}
	end := size - 8
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > maxDecoded || n > end-4 {
		return fmt.Errorf("offset %d: expected metadata of at most %d bytes, found %d", end, min(maxDecoded, end-4), n)
	}
	b, err := span(r, end-n, n)
	if err != nil {
		return err
	}
	c := compact{b: b, strict: true}
	err = c.metadata()
	switch {
	case errors.Is(c.err, errStructs):
		return fmt.Errorf("offset %d: expected metadata of at most %d structures, found more", end-n, maxStructs)
	case err == nil && c.err != nil:
		return fmt.Errorf("offset %d: expected metadata of a parquet file: %w", end-n, c.err)
	}
	return err
}

// metadata walks over a FileMetaData (parquet.thrift), whose second field is the schema. The error is of a schema that is well
// formed, and too large.
func (c *compact) metadata() (err error) {
	c.fields(func(id int64, typ byte) {
		if id == 2 && err == nil {
			err = c.schema(typ)
			return
		}
		c.skip(typ)
	})
	return err
}

// schema walks over a list of SchemaElements, the tree of columns from its root on: those that have children (their
// fifth field) stand before them.
func (c *compact) schema(typ byte) error {
	var open []int64 // how many children each group has that are still to come
	found, depth, least := 0, 0, int64(0)
	c.eachStruct(typ, func() {
		found++
		for len(open) > 0 && open[len(open)-1] <= 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		children := int64(0)
		c.fields(func(id int64, typ byte) {
			if id == 5 && typ >= thriftI16 && typ <= thriftI64 {
				children = c.int(typ)
				return
			}
			c.skip(typ)
		})
		least = min(least, children)
		if depth <= maxNesting {
			open = append(open, children)
			depth = max(depth, len(open))
		}
	})
	switch {
	case least < 0: // parquet-go makes a slice of that
		return fmt.Errorf("a schema element with %d children", least)
	case found > maxSchema:
		return fmt.Errorf("expected a schema of at most %d elements, found %d", maxSchema, found)
	case depth > maxNesting:
		return fmt.Errorf("expected columns of at most %d levels, found more", maxNesting)
	}
	return nil
}
