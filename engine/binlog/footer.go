package binlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxFooter bounds the metadata of a parquet file: a thousand columns in a thousand row groups
// take some 150 MB, more than Milvus ever writes by two orders of magnitude.
const maxFooter = 64 << 20

// Physical types of parquet.thrift.
const (
	parquetBoolean   = 0
	parquetInt32     = 1
	parquetInt64     = 2
	parquetInt96     = 3
	parquetFloat     = 4
	parquetDouble    = 5
	parquetByteArray = 6
	parquetFixed     = 7
)

// parquetFile is the metadata of a parquet file that lies within another file.
type parquetFile struct {
	r      io.ReaderAt
	base   int64 // where it starts in r
	size   int64
	rows   int64
	leaves []leaf
	groups []rowGroup
	values map[string]string // key-value metadata
}

// leaf is a column of the schema.
type leaf struct {
	name     string
	id       int64 // field_id, -1 without one
	physical int
	length   int // bytes of a fixed_len_byte_array
	optional bool
	nested   bool // in a group, or repeated: no column of Milvus's
}

type rowGroup struct {
	rows   int64
	chunks []chunk
}

// chunk is where the pages of a column lie in a row group.
type chunk struct {
	codec      int
	at, length int64 // from the start of the parquet file
	values     int64
	dictPage   int64
	dataPage   int64
}

// readFooter reads the metadata of the parquet file of size bytes at base.
func readFooter(r io.ReaderAt, base, size int64) (*parquetFile, error) {
	var tail [8]byte
	if size < 12 {
		return nil, fmt.Errorf("offset %d: %d bytes are no parquet file", base, size)
	}
	if err := readAt(r, tail[:4], base); err != nil {
		return nil, err
	}
	if string(tail[:4]) != "PAR1" {
		return nil, fmt.Errorf("offset %d: expected a parquet file (PAR1), found %s", base, quote(string(tail[:4])))
	}
	if err := readAt(r, tail[:], base+size-8); err != nil {
		return nil, err
	}
	if string(tail[4:]) != "PAR1" {
		return nil, fmt.Errorf("offset %d: expected the end of a parquet file (PAR1), found %s", base+size-4, quote(string(tail[4:])))
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 || n > maxFooter {
		return nil, fmt.Errorf("offset %d: parquet metadata of %d bytes in a file of %d", base+size-8, n, size)
	}
	b := make([]byte, n)
	if err := readAt(r, b, base+size-8-n); err != nil {
		return nil, err
	}
	p := &parquetFile{r: r, base: base, size: size, values: map[string]string{}}
	if err := p.parse(b); err != nil {
		return nil, fmt.Errorf("parquet metadata at offset %d: %w", base+size-8-n, err)
	}
	return p, p.check(size - 8 - n)
}

func (p *parquetFile) parse(b []byte) error {
	c := &compact{b: b}
	var schema []schemaElement
	c.fields(func(id int64, typ byte) {
		switch id {
		case 2:
			c.structs(typ, func() { schema = append(schema, c.schemaElement()) })
		case 3:
			p.rows = c.int(typ)
		case 4:
			c.structs(typ, func() { p.groups = append(p.groups, c.rowGroup()) })
		case 5:
			c.structs(typ, func() {
				key, value := c.keyValue()
				p.values[key] = value
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
	leaf
	children   int64
	repetition int64 // 0 required, 1 optional, 2 repeated
}

func (c *compact) schemaElement() schemaElement {
	e := schemaElement{leaf: leaf{id: -1, physical: -1}}
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			e.physical = int(c.int(typ))
		case 2:
			e.length = int(c.int(typ))
		case 3:
			e.repetition = c.int(typ)
		case 4:
			e.name = strings.ToValidUTF8(string(c.bytes(typ)), "?")
		case 5:
			e.children = c.int(typ)
		case 9:
			e.id = c.int(typ)
		default:
			c.skip(typ)
		}
	})
	if e.name == "" { // an element of one byte would become ninety in memory
		c.fail(fmt.Errorf("a column without a name before byte %d", c.at))
	}
	return e
}

func (c *compact) rowGroup() rowGroup {
	var g rowGroup
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			c.structs(typ, func() { g.chunks = append(g.chunks, c.columnChunk()) })
		case 3:
			g.rows = c.int(typ)
		default:
			c.skip(typ)
		}
	})
	if g.chunks == nil {
		c.fail(fmt.Errorf("a row group without columns before byte %d", c.at))
	}
	return g
}

func (c *compact) columnChunk() chunk {
	var k chunk
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
		c.fail(fmt.Errorf("a column before byte %d lies in another file or is encrypted", c.at))
	}
	return k
}

func (c *compact) columnMetadata(k *chunk, id int64, typ byte) {
	switch id {
	case 4:
		k.codec = int(c.int(typ))
	case 5:
		k.values = c.int(typ)
	case 7:
		k.length = c.int(typ)
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
func (p *parquetFile) flatten(schema []schemaElement) error {
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
			top = e.id
		}
		if e.children > 0 {
			open = append(open, e.children)
			continue
		}
		e.optional = e.repetition == 1
		e.nested = len(open) > 1 || e.repetition > 1
		if e.nested {
			e.id = top
		}
		p.leaves = append(p.leaves, e.leaf)
	}
	return nil
}

// check sees that row groups and chunks fit together and into the bytes before the metadata.
func (p *parquetFile) check(end int64) error {
	var rows int64
	for i, g := range p.groups {
		if g.rows < 0 || g.rows > 1<<40 || len(g.chunks) != len(p.leaves) {
			return fmt.Errorf("row group %d of the parquet file at offset %d: %d rows, %d of %d columns",
				i, p.base, g.rows, len(g.chunks), len(p.leaves))
		}
		rows += g.rows
		for j := range g.chunks {
			k := &g.chunks[j]
			k.at = k.dataPage
			if k.dictPage > 0 && k.dictPage < k.at {
				k.at = k.dictPage
			}
			if k.at < 4 || k.length < 0 || k.at > end || k.length > end-k.at {
				return fmt.Errorf("row group %d of the parquet file at offset %d: column %s has %d bytes at %d of %d",
					i, p.base, quote(p.leaves[j].name), k.length, k.at, end)
			}
		}
	}
	if rows != p.rows {
		return fmt.Errorf("the parquet file at offset %d has %d rows, its row groups %d", p.base, p.rows, rows)
	}
	return nil
}
