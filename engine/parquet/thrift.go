package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// compact reads Thrift's compact protocol, the encoding of parquet's metadata and page headers. It keeps the first
// error in err, and then every read returns zero. It allocates nothing, unlike library decoders, which trust the
// counts of lists.
//
// Reference: thrift-compact-protocol.md of Apache Thrift.
type compact struct {
	b   []byte
	at  int
	err error
}

// Types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftI8     = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

// maxDepth bounds the nesting of skipped values. Parquet nests five deep.
const maxDepth = 16

// errShort reports that the bytes end within a value.
var errShort = errors.New("the metadata ends within a value")

func (c *compact) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.at = len(c.b)
}

func (c *compact) byte() byte {
	if c.at >= len(c.b) {
		c.fail(errShort)
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *compact) uvarint() uint64 {
	v, n := binary.Uvarint(c.b[c.at:])
	switch {
	case n == 0:
		c.fail(errShort)
		return 0
	case n < 0:
		c.fail(fmt.Errorf("a number of more than 64 bits at byte %d of the metadata", c.at))
		return 0
	}
	c.at += n
	return v
}

// int reads a number of any width. typ is the type in the field's header.
func (c *compact) int(typ byte) int64 {
	switch typ {
	case thriftI16, thriftI32, thriftI64:
		u := c.uvarint()
		return int64(u>>1) ^ -int64(u&1)
	case thriftI8:
		return int64(int8(c.byte()))
	}
	c.fail(fmt.Errorf("expected a number at byte %d of the metadata, found thrift type %d", c.at, typ))
	return 0
}

func (c *compact) bool(typ byte) bool {
	if typ != thriftTrue && typ != thriftFalse {
		c.fail(fmt.Errorf("expected a boolean at byte %d of the metadata, found thrift type %d", c.at, typ))
	}
	return typ == thriftTrue
}

func (c *compact) bytes(typ byte) []byte {
	if typ != thriftBinary {
		c.fail(fmt.Errorf("expected a string at byte %d of the metadata, found thrift type %d", c.at, typ))
		return nil
	}
	n := c.uvarint()
	if n > uint64(len(c.b)-c.at) {
		c.fail(errShort)
		return nil
	}
	b := c.b[c.at : c.at+int(n)]
	c.at += int(n)
	return b
}

// list reads the header of a list. An element takes at least one byte, so the count cannot exceed the remaining
// bytes.
func (c *compact) list(typ byte) (n int, element byte) {
	if typ != thriftList && typ != thriftSet {
		c.fail(fmt.Errorf("expected a list at byte %d of the metadata, found thrift type %d", c.at, typ))
		return 0, 0
	}
	head := c.byte()
	count := uint64(head >> 4)
	if count == 15 {
		count = c.uvarint()
	}
	if count > uint64(len(c.b)-c.at) {
		c.fail(errShort)
		return 0, 0
	}
	return int(count), head & 15
}

// eachStruct calls f for each element of a list of structs. f must call fields.
func (c *compact) eachStruct(typ byte, f func()) {
	n, element := c.list(typ)
	if n > 0 && element != thriftStruct {
		c.fail(fmt.Errorf("expected a list of structs before byte %d of the metadata, found thrift type %d", c.at,
			element))
	}
	for i := 0; i < n && c.err == nil; i++ {
		f()
	}
}

// fields calls f for each field of a struct. f must read or skip the field.
func (c *compact) fields(f func(id int64, typ byte)) {
	var id int64
	for c.err == nil {
		head := c.byte()
		typ := head & 15
		if head == 0 || c.err != nil {
			return
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else {
			id = c.int(thriftI16)
		}
		f(id, typ)
	}
}

// skip skips the value of a field.
func (c *compact) skip(typ byte) { c.skipDeep(typ, 0) }

func (c *compact) skipDeep(typ byte, depth int) {
	if depth > maxDepth {
		c.fail(fmt.Errorf("structs nested deeper than %d at byte %d of the metadata", maxDepth, c.at))
	}
	switch typ {
	case thriftTrue, thriftFalse: // in the header
	case thriftI8:
		c.byte()
	case thriftI16, thriftI32, thriftI64:
		c.uvarint()
	case thriftDouble:
		c.over(8)
	case thriftUUID:
		c.over(16)
	case thriftBinary:
		c.bytes(typ)
	case thriftList, thriftSet:
		n, element := c.list(typ)
		for i := 0; i < n && c.err == nil; i++ {
			c.skipElement(element, depth+1)
		}
	case thriftMap:
		c.skipMap(depth)
	case thriftStruct:
		c.fields(func(_ int64, typ byte) { c.skipDeep(typ, depth+1) })
	default:
		c.fail(fmt.Errorf("unknown thrift type %d at byte %d of the metadata", typ, c.at))
	}
}

func (c *compact) skipMap(depth int) {
	n := c.uvarint()
	if n == 0 {
		return
	}
	if n > uint64(len(c.b)-c.at) {
		c.fail(errShort)
		return
	}
	types := c.byte()
	for ; n > 0 && c.err == nil; n-- {
		c.skipElement(types>>4, depth+1)
		c.skipElement(types&15, depth+1)
	}
}

// skipElement is skip for an element of a container, where booleans take a byte.
func (c *compact) skipElement(typ byte, depth int) {
	if typ == thriftTrue || typ == thriftFalse {
		c.byte()
		return
	}
	c.skipDeep(typ, depth)
}

func (c *compact) over(n int) {
	if n > len(c.b)-c.at {
		c.fail(errShort)
		return
	}
	c.at += n
}
