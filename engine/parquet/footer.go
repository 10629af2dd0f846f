package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds on the metadata of a parquet file, far above those of real files: bytes, columns and groups, nesting of
// groups.
const (
	maxFooter  = 16 << 20
	maxSchema  = 1 << 15
	maxNesting = 64
)

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

// File is the metadata of a parquet file inside another file.
type File struct {
	R      io.ReaderAt
	Base   int64 // offset of its start in R
	Size   int64
	Rows   int64
	Leaves []Leaf
	Groups []RowGroup
	Values map[string]string // key-value metadata
}

// Leaf is a column of the schema.
type Leaf struct {
	Name     string
	ID       int64 // field_id, or -1 if there is none
	Physical int
	Length   int // size in bytes of a fixed_len_byte_array
	Logical  Logical
	Optional bool
	Nested   bool // in a group, or repeated

	Column                   int    // index of the root's child that is or contains the leaf
	Top                      string // name of the child
	Definitions, Repetitions int    // highest levels
}

// Logical is the meaning of a physical value, as far as it matters for reading vectors and ids.
type Logical uint8

// The meanings.
const (
	NoLogical Logical = iota
	OtherLogical
	Integer // equal to its physical value
	Int8
	Uint8
	Uint32
	Uint64
	Float16
)

// RowGroup is a set of rows, with one chunk for each leaf.
type RowGroup struct {
	Rows   int64
	Chunks []Chunk
}

// Chunk locates the pages of a column in a row group.
type Chunk struct {
	Codec              int
	Values             int64 // including nulls
	At, Length         int64 // At is relative to the start of the parquet file
	dictPage, dataPage int64
}

// ReadFooter reads the metadata of the parquet file of size bytes at offset base.
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
		return nil,
			fmt.Errorf("offset %d: expected the end of a parquet file (PAR1), found %s", base+size-4,
				Quote(string(tail[4:])))
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
			c.eachStruct(typ, func() {
				if schema = append(schema, c.schemaElement()); len(schema) > maxSchema {
					c.fail(fmt.Errorf("a schema of more than %d elements", maxSchema))
				}
			})
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
		case 6:
			if converted := c.int(typ); e.Logical == NoLogical {
				e.Logical = logicalOf(
					map[int64]int64{15: 8, 11: -8, 12: -16, 13: -32, 14: -64, 16: 16, 17: 32, 18: 64}[converted],
				)
			}
		case 9:
			e.ID = c.int(typ)
		case 10:
			e.Logical = OtherLogical
			c.fields(func(id int64, typ byte) {
				switch {
				case id == 10 && typ == thriftStruct:
					e.Logical = c.integer()
				case id == 15:
					e.Logical = Float16
					c.skip(typ)
				default:
					c.skip(typ)
				}
			})
		default:
			c.skip(typ)
		}
	})
	if e.children < 0 {
		c.fail(fmt.Errorf("a column with %d children before byte %d", e.children, c.at))
	}
	return e
}

// integer reads an IntType.
func (c *compact) integer() Logical {
	var width, sign int64 = 0, 1
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			width = c.int(typ)
		case 2:
			if !c.bool(typ) {
				sign = -1
			}
		default:
			c.skip(typ)
		}
	})
	return logicalOf(sign * width)
}

// logicalOf returns the meaning of an integer of the given number of bits, negative for an unsigned one.
func logicalOf(bits int64) Logical {
	switch bits {
	case 8:
		return Int8
	case -8:
		return Uint8
	case -32:
		return Uint32
	case -64:
		return Uint64
	case 16, -16, 32, 64:
		return Integer
	}
	return OtherLogical
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
	case 5:
		k.Values = c.int(typ)
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

// flatten collects the leaves of the schema. The root may have any repetition: arrow-go wrote `repeated`, which the
// specification does not allow, in every insert log of 2.2 and 2.3.
func (p *File) flatten(schema []schemaElement) error {
	if len(schema) == 0 {
		return errors.New("a schema without a root")
	}
	type group struct{ left, definitions, repetitions int } // left: remaining children
	open := []group{{left: int(schema[0].children)}}
	column, top := -1, schema[0] // the outermost element, whose id identifies a nested field
	for _, e := range schema[1:] {
		for len(open) > 0 && open[len(open)-1].left <= 0 {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return fmt.Errorf("%d elements of the schema belong to no group", len(schema))
		}
		in := &open[len(open)-1]
		in.left--
		if len(open) == 1 {
			column, top = column+1, e
		}
		e.Definitions, e.Repetitions = in.definitions, in.repetitions
		if e.repetition > 0 {
			e.Definitions++
		}
		if e.repetition > 1 {
			e.Repetitions++
		}
		if e.children > 0 {
			if open = append(open, group{int(e.children), e.Definitions, e.Repetitions}); len(open) > maxNesting {
				return fmt.Errorf("columns nested deeper than %d", maxNesting)
			}
			continue
		}
		e.Column, e.Top = column, top.Name
		e.Optional = e.repetition == 1
		e.Nested = len(open) > 1 || e.repetition > 1
		if e.Nested {
			e.ID = top.ID
		}
		p.Leaves = append(p.Leaves, e.Leaf)
	}
	for _, g := range open {
		if g.left > 0 {
			return fmt.Errorf("a group whose last %d columns are missing", g.left)
		}
	}
	return nil
}

// check checks that row groups and chunks are consistent and within the bytes before the metadata.
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
			if k.Values < 0 || p.Leaves[j].Repetitions == 0 && k.Values != g.Rows {
				return fmt.Errorf("row group %d of the parquet file at offset %d: column %s has %d values in %d rows",
					i, p.Base, Quote(p.Leaves[j].Name), k.Values, g.Rows)
			}
			k.At = k.dataPage
			if k.dictPage > 0 && (k.dictPage < k.At || k.At == 0) { // 0 without data pages
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

// PhysicalName returns parquet.thrift's name of a physical type.
func PhysicalName(physical int) string {
	names := [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	if physical >= 0 && physical < len(names) {
		return names[physical]
	}
	return strconv.Itoa(physical)
}
