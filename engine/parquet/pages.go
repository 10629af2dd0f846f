package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
)

// Encodings of parquet.thrift: PageHeader.Encoding.
const (
	PlainEncoding     = 0
	PlainDictionary   = 2
	RLEEncoding       = 3
	DeltaBinaryPacked = 5
	DeltaByteArray    = 7
	RLEDictionary     = 8
	ByteStreamSplit   = 9
)

// Page types of parquet.thrift: PageHeader.Kind.
const (
	DataPage       = 0
	DictionaryPage = 2
	DataPageV2     = 3
)

const (
	// Window is the number of bytes of a column that are read at once. It covers several pages, so that moving the
	// page that crosses its end costs little.
	Window = 4 << 20
	// localWindow is the window of Local readers. It is small so that data is still in the core's cache when it is
	// decompressed.
	localWindow = 256 << 10
	// maxPageHeader bounds a page header in bytes. With statistics, a header contains two values.
	maxPageHeader = 8 << 20
)

// PageHeader is parquet.thrift's PageHeader, without statistics.
type PageHeader struct {
	Kind                     int // DataPage, DictionaryPage, DataPageV2
	Uncompressed, Compressed int
	Values                   int
	Encoding                 int
	DefinitionEncoding       int // of levels, version 1
	RepetitionEncoding       int
	Definitions, Repetitions int // size in bytes of the levels, version 2
	Stored                   bool
	HasCRC                   bool // whether there is a CRC
	CRC                      uint32
}

// Header reads the next page header. The length of a header is unknown before it is parsed.
func (p *PageReader) Header() (PageHeader, error) {
	for n := int64(512); ; n *= 8 {
		b, err := p.peek(n)
		if err != nil {
			return PageHeader{}, err
		}
		c := &compact{b: b}
		h := c.pageHeader()
		if c.err == errShort && int64(len(b)) == n && n < maxPageHeader { //nolint:errorlint // never wrapped
			continue
		}
		if c.err != nil {
			return h, c.err
		}
		p.skip(c.at)
		return h, h.check()
	}
}

func (c *compact) pageHeader() (h PageHeader) {
	h.Kind = -1
	c.fields(func(id int64, typ byte) {
		switch id {
		case 1:
			h.Kind = int(c.int(typ))
		case 2:
			h.Uncompressed = int(c.int(typ))
		case 3:
			h.Compressed = int(c.int(typ))
		case 4:
			h.HasCRC, h.CRC = true, uint32(c.int(typ))
		case 5, 7, 8:
			if typ != thriftStruct {
				c.fail(fmt.Errorf("expected a struct, found thrift type %d", typ))
				return
			}
			c.fields(func(inner int64, typ byte) {
				if id == 8 {
					c.headerV2(&h, inner, typ)
					return
				}
				switch inner {
				case 1:
					h.Values = int(c.int(typ))
				case 2:
					h.Encoding = int(c.int(typ))
				case 3, 4:
					to := &h.DefinitionEncoding
					if inner == 4 {
						to = &h.RepetitionEncoding
					}
					if id == 5 {
						*to = int(c.int(typ))
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
	return h
}

// headerV2 reads a field of a DataPageHeaderV2.
func (c *compact) headerV2(h *PageHeader, id int64, typ byte) {
	switch id {
	case 1:
		h.Values = int(c.int(typ))
	case 4:
		h.Encoding = int(c.int(typ))
	case 5:
		h.Definitions = int(c.int(typ))
	case 6:
		h.Repetitions = int(c.int(typ))
	case 7:
		h.Stored = !c.bool(typ)
	default:
		c.skip(typ)
	}
}

func (h *PageHeader) check() error {
	const most = 1<<31 - 1 // parquet.thrift stores them in 32 bits
	for _, n := range []int{h.Uncompressed, h.Compressed, h.Values, h.Definitions, h.Repetitions} {
		if n < 0 || n > most {
			return fmt.Errorf("a length or count of %d", n)
		}
	}
	if h.Kind != DataPage && h.Kind != DictionaryPage && h.Kind != DataPageV2 {
		h.Values = 0 // an index page, or a type of a later version: its bytes are skipped
	}
	if h.Kind != DictionaryPage && h.Values == 0 && h.Compressed == 0 {
		return errors.New("an empty page")
	}
	return nil
}

// EncodingName returns parquet.thrift's name of an encoding.
func EncodingName(e int) string {
	names := map[int]string{
		0: "PLAIN", 2: "PLAIN_DICTIONARY", 3: "RLE", 4: "BIT_PACKED", 5: "DELTA_BINARY_PACKED",
		6: "DELTA_LENGTH_BYTE_ARRAY", 7: "DELTA_BYTE_ARRAY", 8: "RLE_DICTIONARY", 9: "BYTE_STREAM_SPLIT",
	}
	if name, ok := names[e]; ok {
		return name
	}
	return strconv.Itoa(e)
}

// Local is implemented by readers for which two reads cost no more than one, i.e. local files and not requests to a
// server.
type Local interface{ Local() bool }

// PageReader reads a chunk sequentially, one window at a time.
type PageReader struct {
	r        io.ReaderAt
	at, end  int64  // unread range
	buffered []byte // read ahead, from at on; the end of the used part of buffer
	buffer   []byte
	window   int64
}

// NewPageReader returns a reader of the pages of a chunk. It uses buffer for its window if buffer is large enough.
func NewPageReader(f *File, k Chunk, buffer []byte) *PageReader {
	p := &PageReader{r: f.R, at: f.Base + k.At, end: f.Base + k.At + k.Length, buffer: buffer, window: Window}
	if r, ok := f.R.(Local); ok && r.Local() {
		p.window = localWindow
	}
	return p
}

// At returns the offset of the next byte.
func (p *PageReader) At() int64 { return p.at }

// More reports whether bytes are left.
func (p *PageReader) More() bool { return p.at < p.end }

// Buffer returns the memory of the window.
func (p *PageReader) Buffer() []byte { return p.buffer }

// Move continues in other memory. It copies the bytes that were read ahead. Returned bytes stay valid in the old
// memory.
func (p *PageReader) Move(buffer []byte) {
	p.buffered = append(buffer[:0], p.buffered...)
	p.buffer = p.buffered
}

// Buffered reports whether the next page is in the window. If it is, reading it does not move returned bytes.
func (p *PageReader) Buffered() bool {
	c := &compact{b: p.buffered}
	h := c.pageHeader()
	return c.err == nil && h.Compressed >= 0 && h.Compressed <= len(p.buffered)-c.at
}

// peek returns the next n bytes, or all remaining bytes if there are fewer.
func (p *PageReader) peek(n int64) ([]byte, error) {
	n = min(n, p.end-p.at)
	if int64(len(p.buffered)) >= n {
		return p.buffered[:n], nil
	}
	size := min(max(n, p.window), p.end-p.at)
	b, have := p.buffered, len(p.buffered)
	if int64(cap(b)) < size { // no room after it
		if int64(cap(p.buffer)) < size {
			p.buffer = make([]byte, size, size+size/8) // room for a header, and for a slightly larger next page
		}
		b = p.buffer
		copy(b[:have], p.buffered)
	}
	b = b[:size]
	if err := ReadAt(p.r, b[have:], p.at+int64(have)); err != nil {
		return nil, err
	}
	p.buffered = b
	return b[:n], nil
}

func (p *PageReader) skip(n int) {
	p.buffered = p.buffered[n:]
	p.at += int64(n)
}

// Body returns the bytes of the page whose header was read. They are valid as long as the bytes that Next returns.
func (p *PageReader) Body(h PageHeader) ([]byte, error) {
	at := p.at
	b, err := p.Next(int64(h.Compressed))
	if err == nil && h.HasCRC && crc32.ChecksumIEEE(b) != h.CRC {
		err = fmt.Errorf("page at offset %d: checksum mismatch", at)
	}
	return b, err
}

// Next returns the next n bytes. They are valid until a page is read for which Buffered is false.
func (p *PageReader) Next(n int64) ([]byte, error) {
	if n > p.end-p.at {
		return nil, fmt.Errorf("page at offset %d: %d bytes where the column has %d left", p.at, n, p.end-p.at)
	}
	b, err := p.peek(n)
	if err == nil {
		p.skip(int(n))
	}
	return b, err
}
