package binlog

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// pageHeader is what parquet.thrift's PageHeader says, without statistics.
type pageHeader struct {
	kind                     int // dataPage, dictionaryPage, dataPageV2
	uncompressed, compressed int
	values                   int
	encoding                 int
	levelEncoding            int // of definition levels, version 1
	levels                   int // bytes of definition levels, version 2
	stored                   bool
}

// header reads the next page header. Its length is not known before it is read.
func (p *pageReader) header() (pageHeader, error) {
	for n := int64(512); ; n *= 8 {
		b, err := p.peek(n)
		if err != nil {
			return pageHeader{}, err
		}
		c := &compact{b: b}
		h, repetition := c.pageHeader()
		if c.err == errShort && int64(len(b)) == n && n < maxPageHeader { //nolint:errorlint // never wrapped
			continue
		}
		if c.err != nil {
			return h, c.err
		}
		p.skip(c.at)
		return h, h.check(repetition)
	}
}

func (c *compact) pageHeader() (h pageHeader, repetition int) {
	h.kind = -1
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			h.kind = int(c.int(typ))
		case 2:
			h.uncompressed = int(c.int(typ))
		case 3:
			h.compressed = int(c.int(typ))
		case 5, 7, 8:
			if typ != thriftStruct {
				c.fail(fmt.Errorf("expected a struct, found thrift type %d", typ))
				return
			}
			c.fields(func(inner int64, typ byte) {
				if id == 8 {
					repetition += c.headerV2(&h, inner, typ)
					return
				}
				switch inner {
				case 1:
					h.values = int(c.int(typ))
				case 2:
					h.encoding = int(c.int(typ))
				case 3:
					if id == 5 {
						h.levelEncoding = int(c.int(typ))
						return
					}
					c.skip(typ)
				default:
					c.skip(typ)
				}
			})
		default:
			c.skip(typ)
		}
	})
	return h, repetition
}

// headerV2 reads a field of a DataPageHeaderV2 and returns the bytes of repetition levels.
func (c *compact) headerV2(h *pageHeader, id int64, typ byte) (repetition int) {
	switch id {
	case 1:
		h.values = int(c.int(typ))
	case 4:
		h.encoding = int(c.int(typ))
	case 5:
		h.levels = int(c.int(typ))
	case 6:
		return int(c.int(typ))
	case 7:
		h.stored = !c.bool(typ)
	default:
		c.skip(typ)
	}
	return 0
}

func (h *pageHeader) check(repetition int) error {
	const most = 1<<31 - 1 // as parquet.thrift has them in 32 bits
	for _, n := range []int{h.uncompressed, h.compressed, h.values, h.levels, repetition} {
		if n < 0 || n > most {
			return fmt.Errorf("a length or count of %d", n)
		}
	}
	if repetition != 0 {
		return fmt.Errorf("%d bytes of repetition levels in a column without repetition", repetition)
	}
	if h.kind != dataPage && h.kind != dictionaryPage && h.kind != dataPageV2 {
		h.values = 0 // an index page, or one of a later version: its bytes are skipped
	}
	if h.kind != dictionaryPage && h.values == 0 && h.compressed == 0 {
		return errors.New("an empty page")
	}
	return nil
}

func encodingName(e int) string {
	names := map[int]string{
		0: "PLAIN", 2: "PLAIN_DICTIONARY", 3: "RLE", 4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED",
		6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY", 8: "RLE_DICTIONARY", 9: "BYTE_STREAM_SPLIT",
	}
	if name, ok := names[e]; ok {
		return name
	}
	return strconv.Itoa(e)
}

// pageReader reads a chunk from front to back, a window at a time.
type pageReader struct {
	r       io.ReaderAt
	at, end int64  // what is not yet taken
	ahead   []byte // read already, from at on
	buffer  []byte
}

// peek returns the next n bytes, or all that are left.
func (p *pageReader) peek(n int64) ([]byte, error) {
	n = min(n, p.end-p.at)
	if int64(len(p.ahead)) >= n {
		return p.ahead[:n], nil
	}
	size := min(max(n, window), p.end-p.at)
	if int64(cap(p.buffer)) < size {
		p.buffer = make([]byte, size)
	}
	b := p.buffer[:size]
	have := copy(b, p.ahead)
	if err := readAt(p.r, b[have:], p.at+int64(have)); err != nil {
		return nil, err
	}
	p.ahead = b
	return b[:n], nil
}

func (p *pageReader) skip(n int) {
	p.ahead = p.ahead[n:]
	p.at += int64(n)
}

// next returns the next n bytes, which stay until more is read.
func (p *pageReader) next(n int64) ([]byte, error) {
	if n > window || n > p.end-p.at {
		return p.take(n, nil)
	}
	b, err := p.peek(n)
	if err == nil {
		p.skip(int(n))
	}
	return b, err
}

// take copies the next n bytes into buffer, or a new one if that is too small.
func (p *pageReader) take(n int64, buffer []byte) ([]byte, error) {
	if n > p.end-p.at {
		return nil, fmt.Errorf("page at offset %d: %d bytes where the column has %d left", p.at, n, p.end-p.at)
	}
	if int64(cap(buffer)) < n {
		buffer = make([]byte, n)
	}
	buffer = buffer[:n]
	if _, err := p.peek(min(n, window)); err != nil {
		return nil, err
	}
	have := copy(buffer, p.ahead)
	p.skip(have)
	if int64(have) == n {
		return buffer, nil
	}
	err := readAt(p.r, buffer[have:], p.at)
	p.at += n - int64(have)
	return buffer, err
}
