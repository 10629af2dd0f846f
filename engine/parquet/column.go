package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// MaxRatio and MaxExtra bound the size of a file in memory, in bytes: MaxRatio times its size, plus MaxExtra. Runs
// of equal values take very few bytes, but real vectors hardly compress.
const (
	MaxRatio = 256
	MaxExtra = 64 << 20
)

// Content holds the decompressed bytes of a data page.
type Content struct{ Repetitions, Definitions, Values []byte }

// Content decompresses a data page, and separates levels from values. In version 2, levels precede the compressed
// bytes. In version 1, they are within these bytes, each kind after its length.
func (d *Decompressor) Content(leaf Leaf, codec int, h PageHeader, body []byte) (c Content, err error) {
	if h.Kind == DataPageV2 {
		levels := h.Repetitions + h.Definitions
		if levels > len(body) || levels > h.Uncompressed {
			return c, fmt.Errorf("levels of %d bytes in a page of %d", levels, len(body))
		}
		if h.Stored {
			codec = CodecNone
		}
		c.Repetitions, c.Definitions = body[:h.Repetitions], body[h.Repetitions:levels]
		c.Values, err = d.Decompress(codec, body[levels:], h.Uncompressed-levels)
		return c, err
	}
	if c.Values, err = d.Decompress(codec, body, h.Uncompressed); err != nil {
		return c, err
	}
	if leaf.Repetitions > 0 {
		if c.Repetitions, c.Values, err = levelsV1(h.RepetitionEncoding, c.Values); err != nil {
			return c, fmt.Errorf("repetition levels: %w", err)
		}
	}
	if leaf.Definitions > 0 {
		if c.Definitions, c.Values, err = levelsV1(h.DefinitionEncoding, c.Values); err != nil {
			return c, fmt.Errorf("definition levels: %w", err)
		}
	}
	return c, nil
}

func levelsV1(encoding int, b []byte) (levels, rest []byte, err error) {
	if encoding != RLEEncoding {
		return nil, nil, fmt.Errorf("encoding %s is not supported", EncodingName(encoding))
	}
	if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
		return nil, nil, fmt.Errorf("they are longer than the page of %d bytes", len(b))
	}
	n := 4 + int(binary.LittleEndian.Uint32(b))
	return b[4:n], b[n:], nil
}

// Page holds the entries of a data page, of a column of fixed width in at most one list.
type Page struct {
	Entries int
	Starts  []bool // whether an entry starts a row; nil if each does
	Present []bool // whether an entry has a value; nil if all have
	Values  []byte // of the present entries: little-endian, Leaf.Width bytes each
}

// Width returns the size of a value in bytes, or 0 if sizes vary.
func (l Leaf) Width() int {
	switch l.Physical {
	case Int32, Float:
		return 4
	case Int64, Double:
		return 8
	case Fixed:
		return l.Length
	default:
		return 0
	}
}

// Pages calls take for each data page of a column, in order. A page is valid until take returns.
func (p *File) Pages(ctx context.Context, index int, take func(Page) error) error {
	leaf := p.Leaves[index]
	if leaf.Width() <= 0 || leaf.Repetitions > 1 {
		return fmt.Errorf("expected numbers or FIXED_LEN_BYTE_ARRAY, found %s of %d bytes", PhysicalName(leaf.Physical),
			leaf.Length)
	}
	d, err := NewDecompressor()
	if err != nil {
		return err
	}
	defer d.Close()
	left := (MaxRatio*p.Size + MaxExtra) / int64(leaf.Width()+2) // levels take a byte each
	for i, g := range p.Groups {
		if left -= g.Chunks[index].Values; left < 0 {
			return fmt.Errorf("row group %d: more values than a file of %d bytes holds", i, p.Size)
		}
		c := chunkReader{
			leaf: leaf, chunk: g.Chunks[index], d: d, in: NewPageReader(p, g.Chunks[index], nil), take: take,
		}
		err := c.read(ctx)
		if err == nil && int64(c.rows) != g.Rows {
			err = fmt.Errorf("expected %d rows, found %d", g.Rows, c.rows)
		}
		if err != nil {
			return fmt.Errorf("row group %d: %w", i, err)
		}
	}
	return nil
}

// chunkReader decodes the pages of a column in a row group.
type chunkReader struct {
	leaf  Leaf
	chunk Chunk
	d     *Decompressor
	in    *PageReader
	take  func(Page) error

	dict    []byte
	entries int64
	rows    int
	values  []byte // of the previous page
}

func (c *chunkReader) read(ctx context.Context) error {
	for c.entries < c.chunk.Values {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !c.in.More() {
			return fmt.Errorf("expected %d values, the pages have %d", c.chunk.Values, c.entries)
		}
		at := c.in.At()
		h, err := c.in.Header()
		if err != nil {
			return fmt.Errorf("page header at offset %d: %w", at, err)
		}
		body, err := c.in.Body(h)
		if err != nil {
			return err
		}
		p, err := c.decode(h, body)
		if err != nil {
			return fmt.Errorf("page at offset %d: %w", at, err)
		}
		if p.Entries > 0 {
			if err := c.take(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// decode decodes a data page. It keeps a dictionary, and skips other pages.
func (c *chunkReader) decode(h PageHeader, body []byte) (p Page, err error) {
	switch h.Kind {
	case DictionaryPage:
		return p, c.dictionary(h, body)
	case DataPage, DataPageV2:
	default:
		return p, nil
	}
	if int64(h.Values) > c.chunk.Values-c.entries {
		return p, fmt.Errorf("%d values where %d are left", h.Values, c.chunk.Values-c.entries)
	}
	content, err := c.d.Content(c.leaf, c.chunk.Codec, h, body)
	if err != nil {
		return p, err
	}
	p.Entries = h.Values
	rows, present := h.Values, h.Values
	if c.leaf.Repetitions > 0 {
		if p.Starts, rows, err = levels(content.Repetitions, c.leaf.Repetitions, h.Values, 0); err != nil {
			return p, fmt.Errorf("repetition levels: %w", err)
		}
		if c.entries == 0 && len(p.Starts) > 0 && !p.Starts[0] {
			return p, errors.New("the first value continues a row")
		}
	}
	if most := c.leaf.Definitions; most > 0 {
		if p.Present, present, err = levels(content.Definitions, most, h.Values, most); err != nil {
			return p, fmt.Errorf("definition levels: %w", err)
		}
	}
	p.Values, err = c.decodeValues(h.Encoding, content.Values, present)
	c.entries, c.rows = c.entries+int64(h.Values), c.rows+rows
	return p, err
}

func (c *chunkReader) dictionary(h PageHeader, body []byte) error {
	switch {
	case c.dict != nil:
		return errors.New("a second dictionary")
	case h.Encoding != PlainEncoding && h.Encoding != PlainDictionary:
		return fmt.Errorf("encoding %s of a dictionary is not supported", EncodingName(h.Encoding))
	}
	b, err := c.d.Decompress(c.chunk.Codec, body, h.Uncompressed)
	if err == nil && len(b) != h.Values*c.leaf.Width() {
		err = errSize(h.Values, c.leaf.Width(), len(b))
	}
	c.dict = append([]byte{}, b...)
	return err
}

func errSize(n, width, found int) error {
	return fmt.Errorf("expected %d values of %d bytes, found %d bytes", n, width, found)
}

// checkEnd checks the bytes after the last value of a page. It allows up to eight zero bytes, which fastparquet
// adds.
func checkEnd(b []byte) error {
	if len(b) > 8 || len(bytes.Trim(b, "\x00")) > 0 {
		return fmt.Errorf("%d bytes follow the last value", len(b))
	}
	return nil
}

// levels decodes n levels from 0 to most. is[i] is set if level i equals level; count is the number of such
// levels.
func levels(b []byte, most, n, level int) (is []bool, count int, err error) {
	is = make([]bool, n)
	width := bits.Len(uint(most))
	set := func(at int, v uint32) error {
		if v > uint32(most) {
			return fmt.Errorf("level %d of at most %d", v, most)
		}
		if v == uint32(level) {
			is[at] = true
			count++
		}
		return nil
	}
	return is, count, eachValue(b, width, n, set)
}

// eachValue calls take for n values in the hybrid of run-length and bit-packed encoding.
func eachValue(b []byte, width, n int, take func(at int, v uint32) error) error {
	return EachRun(b, width, 0, n, func(v uint32, at, n int) error {
		for i := range n {
			if err := take(at+i, v); err != nil {
				return err
			}
		}
		return nil
	}, func(b []byte, width, at, n int) error {
		return EachIndex(b, width, n, func(i int, values []uint32) error {
			for j, v := range values {
				if err := take(at+i+j, v); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// decodeValues decodes n values to PLAIN.
func (c *chunkReader) decodeValues(encoding int, b []byte, n int) ([]byte, error) {
	width := c.leaf.Width()
	switch encoding {
	case PlainEncoding:
		if len(b) < n*width || checkEnd(b[n*width:]) != nil {
			return nil, errSize(n, width, len(b))
		}
		return b[:n*width], nil
	case ByteStreamSplit:
		if len(b) != n*width {
			return nil, errSize(n, width, len(b))
		}
		out := c.room(n * width)
		for i := range out {
			out[i] = b[i%width*n+i/width]
		}
		return out, nil
	case PlainDictionary, RLEDictionary:
		if n == 0 {
			return nil, nil
		}
		if len(b) == 0 || b[0] > 32 {
			return nil, errors.New("indices into a dictionary of more than 32 bits")
		}
		out, known := c.room(n*width), len(c.dict)/width
		return out, eachValue(b[1:], int(b[0]), n, func(at int, v uint32) error {
			if uint64(v) >= uint64(known) {
				return fmt.Errorf("index %d into a dictionary of %d values", v, known)
			}
			copy(out[at*width:(at+1)*width], c.dict[int(v)*width:])
			return nil
		})
	case DeltaBinaryPacked:
		if c.leaf.Physical == Int32 || c.leaf.Physical == Int64 {
			return c.deltaIntegers(b, n)
		}
	case DeltaByteArray:
		if c.leaf.Physical == Fixed {
			return c.deltaBytes(b, n)
		}
	}
	return nil, fmt.Errorf("encoding %s of %s is not supported", EncodingName(encoding), PhysicalName(c.leaf.Physical))
}

// room returns n bytes, which the next page reuses.
func (c *chunkReader) room(n int) []byte {
	c.values = slices.Grow(c.values[:0], n)[:n]
	return c.values
}

func (c *chunkReader) deltaIntegers(b []byte, n int) ([]byte, error) {
	values, rest, err := deltas(b, n)
	if err == nil {
		err = checkEnd(rest)
	}
	out := c.room(0)
	for _, v := range values {
		if c.leaf.Physical == Int32 {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		} else {
			out = binary.LittleEndian.AppendUint64(out, uint64(v))
		}
	}
	c.values = out
	return out, err
}

// deltaBytes decodes values that share a prefix with the previous value.
func (c *chunkReader) deltaBytes(b []byte, n int) ([]byte, error) {
	prefixes, b, err := deltas(b, n)
	if err != nil {
		return nil, fmt.Errorf("lengths of prefixes: %w", err)
	}
	suffixes, b, err := deltas(b, n)
	if err != nil {
		return nil, fmt.Errorf("lengths of suffixes: %w", err)
	}
	width := int64(c.leaf.Length)
	out, before := c.room(0), []byte(nil)
	for i, prefix := range prefixes {
		suffix := suffixes[i]
		if prefix < 0 || prefix > int64(len(before)) || suffix != width-prefix || suffix > int64(len(b)) {
			return nil,
				fmt.Errorf("value %d: expected %d bytes, found a prefix of %d and a suffix of %d", i, width, prefix,
					suffix)
		}
		out = append(append(out, before[:prefix]...), b[:suffix]...)
		before, b = out[len(out)-int(width):], b[suffix:]
	}
	c.values = out
	return out, checkEnd(b)
}

// deltas decodes n integers in DELTA_BINARY_PACKED: a header, then blocks of miniblocks, each with its own bit
// width.
func deltas(b []byte, n int) (values []int64, rest []byte, err error) {
	r := bytes.NewReader(b)
	var header [3]uint64 // values per block, miniblocks per block, values
	for i := range header {
		if header[i], err = binary.ReadUvarint(r); err != nil {
			return nil, nil, err
		}
	}
	value, err := binary.ReadVarint(r)
	block, minis := header[0], header[1]
	switch {
	case err != nil:
		return nil, nil, err
	case header[2] != uint64(n):
		return nil, nil, fmt.Errorf("expected %d values, found %d", n, header[2])
	case block == 0 || block > 1<<20 || block%128 != 0 || minis == 0 || block%minis != 0 || block/minis%32 != 0:
		return nil, nil, fmt.Errorf("blocks of %d values in %d parts", block, minis)
	}
	b = b[len(b)-r.Len():]
	values = make([]int64, 0, n)
	if n > 0 {
		values = append(values, value)
	}
	for len(values) < n {
		least, used := binary.Varint(b)
		if used <= 0 || uint64(len(b)-used) < minis {
			return nil, nil, fmt.Errorf("the values end with %d missing", n-len(values))
		}
		widths := b[used:][:minis]
		b = b[used+int(minis):]
		for _, width := range widths {
			if len(values) == n {
				break // the rest of the block has no bytes
			}
			mini := int(block / minis)
			size := mini / 8 * int(width)
			if width > 64 || size > len(b) {
				return nil, nil, fmt.Errorf("%d values of %d bits in %d bytes", mini, width, len(b))
			}
			for i := range min(mini, n-len(values)) {
				value += least + int64(unpack64(b[:size], int(width), i))
				values = append(values, value)
			}
			b = b[size:]
		}
	}
	return values, b, nil
}

// unpack64 returns value i of values of width bits each, least significant bit first.
func unpack64(b []byte, width, i int) (v uint64) {
	for bit, end := i*width, (i+1)*width; bit < end; {
		n := min(8-bit&7, end-bit)
		v |= uint64(b[bit>>3]>>(bit&7)&(1<<n-1)) << (bit - i*width)
		bit += n
	}
	return v
}
