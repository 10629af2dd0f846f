package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxFooter bounds the metadata of a parquet file: a thousand columns in a thousand row groups
// take some 150 MB, more than Milvus ever writes by two orders of magnitude.
const maxFooter = 64 << 20

// Physical types of parquet.thrift: Leaf.Physical.
const (
	Boolean   = 0
	Int32     = 1
	Int64     = 2
	Int96     = 3
	Float     = 4
	Double    = 5
	ByteArray = 6
	Fixed     = 7
)

// File is the metadata of a parquet file that lies within another file.
type File struct {
	R      io.ReaderAt
	Base   int64 // where it starts in R
	Size   int64
	Rows   int64
	Leaves []Leaf
	Groups []RowGroup
	Values map[string]string // key-value metadata
}

// Leaf is a column of the schema.
type Leaf struct {
	Name     string
	ID       int64 // field_id, -1 without one
	Physical int
	Length   int // bytes of a fixed_len_byte_array
	Optional bool
	Nested   bool // in a group, or repeated
}

// RowGroup is a number of rows, with a chunk for each leaf.
type RowGroup struct {
	Rows   int64
	Chunks []Chunk
}

// Chunk is where the pages of a column lie in a row group.
type Chunk struct {
	Codec              int
	At, Length         int64 // from the start of the parquet file
	dictPage, dataPage int64
}

// ReadFooter reads the metadata of the parquet file of size bytes at base.
func ReadFooter(r io.ReaderAt, base, size int64) (*File, error) {
	var tail [8]byte
	if size < 12 {
		return nil, fmt.Errorf("offset %d: %d bytes are not a parquet file", base, size)
	}
	if err := ReadAt(r, tail[:4], base); err != nil {
		return nil, err
	}
	if string(tail[:4]) != "PAR1" {
		return nil, fmt.Errorf("offset %d: expected a parquet file (PAR1), found %s", base, Quote(string(tail[:4])))
	}
	if err := ReadAt(r, tail[:], base+size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != "PAR1" {
		return nil, fmt.Errorf("offset %d: expected the end of a parquet file (PAR1), found %s", base+size-4, Quote(string(tail[4:])))
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 || n > maxFooter {
		return nil, fmt.Errorf("offset %d: parquet metadata of %d bytes in a file of %d", base+size-8, n, size)
	}
	b := make([]byte, n)
	if err := ReadAt(r, b, base+size-8-n); err != nil {
		return nil, err
	}
	p := &File{R: r, Base: base, Size: size, Values: map[string]string{}}
	if err := p.parse(b); err != nil {
		return nil, fmt.Errorf("parquet metadata at offset %d: %w", base+size-8-n, err)
	}
	return p, p.check(size - 8 - n)
}

func (p *File) parse(b []byte) error {
	c := &compact{b: b}
	var schema []schemaElement
	c.fields(func(id int64, typ byte) {
		switch id {
		case 2:
			c.eachStruct(typ, func() { schema = append(schema, c.schemaElement()) })
		case 3:
			p.Rows = c.int(typ)
		case 4:
			c.eachStruct(typ, func() { p.Groups = append(p.Groups, c.rowGroup()) })
		case 5:
			c.eachStruct(typ, func() {
				key, value := c.keyValue()
				p.Values[key] = value
			})
		default:
			c.skip(typ)
		}
	})
	if c.err != nil {
		return c.err
	}
	return p.flatten(schema)
}

func (c *compact) keyValue() (key, value string) {
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			key = string(c.bytes(typ))
		case 2:
			value = string(c.bytes(typ))
		default:
			c.skip(typ)
		}
	})
	return key, value
}

type schemaElement struct {
	Leaf
	children   int64
	repetition int64 // 0 required, 1 optional, 2 repeated
}

func (c *compact) schemaElement() schemaElement {
	e := schemaElement{Leaf: Leaf{ID: -1, Physical: -1}}
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			e.Physical = int(c.int(typ))
		case 2:
			e.Length = int(c.int(typ))
		case 3:
			e.repetition = c.int(typ)
		case 4:
			e.Name = strings.ToValidUTF8(string(c.bytes(typ)), "?")
		case 5:
			e.children = c.int(typ)
		case 9:
			e.ID = c.int(typ)
		default:
			c.skip(typ)
		}
	})
	if e.Name == "" { // an element of one byte would become ninety in memory
		c.fail(fmt.Errorf("a column without a name before byte %d", c.at))
	}
	return e
}

func (c *compact) rowGroup() RowGroup {
	var g RowGroup
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			c.eachStruct(typ, func() { g.Chunks = append(g.Chunks, c.columnChunk()) })
		case 3:
			g.Rows = c.int(typ)
		default:
			c.skip(typ)
		}
	})
	if g.Chunks == nil {
		c.fail(fmt.Errorf("a row group without columns before byte %d", c.at))
	}
	return g
}

func (c *compact) columnChunk() Chunk {
	var k Chunk
	var hasMetadata, external, encrypted bool
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			external = len(c.bytes(typ)) > 0
		case 3:
			hasMetadata = true
			c.fields(func(id int64, typ byte) { c.columnMetadata(&k, id, typ) })
		case 8:
			encrypted = true
			c.skip(typ)
		default:
			c.skip(typ)
		}
	})
	if !hasMetadata || external || encrypted {
		c.fail(fmt.Errorf("a column before byte %d is in another file or encrypted", c.at))
	}
	return k
}

func (c *compact) columnMetadata(k *Chunk, id int64, typ byte) {
	switch id {
	case 4:
		k.Codec = int(c.int(typ))
	case 7:
		k.Length = c.int(typ)
	case 9:
		k.dataPage = c.int(typ)
	case 11:
		k.dictPage = c.int(typ)
	default:
		c.skip(typ)
	}
}

// flatten finds the leaves of the schema. Its root may be of any repetition: arrow-go wrote
// `repeated`, against the specification, in every insert log of 2.2 and 2.3.
func (p *File) flatten(schema []schemaElement) error {
	if len(schema) == 0 {
		return errors.New("a schema without a root")
	}
	open := []int64{schema[0].children} // how many children each open group still has
	top := int64(-1)                    // the id of the outermost group, by which a nested field is found
	for _, e := range schema[1:] {
		for len(open) > 0 && open[len(open)-1] <= 0 {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return fmt.Errorf("%d elements of the schema belong to no group", len(schema))
		}
		open[len(open)-1]--
		if len(open) == 1 {
			top = e.ID
		}
		if e.children > 0 {
			open = append(open, e.children)
			continue
		}
		e.Optional = e.repetition == 1
		e.Nested = len(open) > 1 || e.repetition > 1
		if e.Nested {
			e.ID = top
		}
		p.Leaves = append(p.Leaves, e.Leaf)
	}
	return nil
}

// check sees that row groups and chunks fit together and into the bytes before the metadata.
func (p *File) check(end int64) error {
	var rows int64
	for i, g := range p.Groups {
		if g.Rows < 0 || g.Rows > 1<<40 || len(g.Chunks) != len(p.Leaves) {
			return fmt.Errorf("row group %d of the parquet file at offset %d: %d rows, %d of %d columns",
				i, p.Base, g.Rows, len(g.Chunks), len(p.Leaves))
		}
		rows += g.Rows
		for j := range g.Chunks {
			k := &g.Chunks[j]
			k.At = k.dataPage
			if k.dictPage > 0 && k.dictPage < k.At {
				k.At = k.dictPage
			}
			if k.At < 4 || k.Length < 0 || k.At > end || k.Length > end-k.At {
				return fmt.Errorf("row group %d of the parquet file at offset %d: column %s has %d bytes at %d of %d",
					i, p.Base, Quote(p.Leaves[j].Name), k.Length, k.At, end)
			}
		}
	}
	if rows != p.Rows {
		return fmt.Errorf("the parquet file at offset %d has %d rows, its row groups %d", p.Base, p.Rows, rows)
	}
	return nil
}

// PhysicalName is parquet.thrift's name of a physical type.
func PhysicalName(physical int) string {
	names := [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if physical >= 0 && physical < len(names) {
		return names[physical]
	}
	return strconv.Itoa(physical)
}
