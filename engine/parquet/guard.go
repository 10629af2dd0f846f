package parquet

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// MaxRatio and MaxExtra bound what a file may become in memory, in bytes: so many times its size, and so much more. A page may
// say how much it holds in very few bytes: runs of one value, or what a compressor makes of them. So much is believed of a
// whole column: real vectors hardly shrink.
const (
	MaxRatio = 256
	MaxExtra = 64 << 20
)

// Open holds a file's metadata against its size and has parquet-go open it. Before values of a column are read, CheckPages has to
// look at its pages: parquet-go makes room for what they announce.
func Open(r io.ReaderAt, size int64) (file *parquet.File, err error) {
	if err := checkFooter(r, size); err != nil {
		return nil, err
	}
	defer func() { // parquet-go takes much of the metadata for granted
		if p := recover(); p != nil {
			file, err = nil, fmt.Errorf("expected a parquet file: %v", p)
		}
	}()
	file, err = parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("expected a parquet file: %s", shownError(err))
	}
	return file, nil
}

// CheckPages walks over the headers of a column's pages before anything of them is decoded. each is the memory that a value takes
// when it is, in bytes. It returns how many values there are.
func CheckPages(file *parquet.File, leaf *parquet.Column, r io.ReaderAt, size, each int64) (values int64, err error) {
	left := size*MaxRatio + MaxExtra
	for i := range file.Metadata().RowGroups {
		meta := &file.Metadata().RowGroups[i].Columns[leaf.Index()].MetaData
		start := meta.DataPageOffset
		if meta.DictionaryPageOffset != 0 {
			start = meta.DictionaryPageOffset // which is where parquet-go starts
		}
		if start < 0 || meta.TotalCompressedSize < 0 || start > size || meta.TotalCompressedSize > size-start {
			return 0, fmt.Errorf("row group %d: offset %d: %d bytes of pages declared, the file has %d",
				i, start, meta.TotalCompressedSize, size)
		}
		data, err := span(r, start, meta.TotalCompressedSize)
		if err != nil {
			return 0, fmt.Errorf("row group %d: %w", i, err)
		}
		for at := int64(0); at < int64(len(data)); {
			page, next, err := sizeOf(data[at:], meta.Codec)
			if err != nil {
				return 0, fmt.Errorf("row group %d: offset %d: %w", i, start+at, err)
			}
			if page.values > left/each || page.bytes > left {
				return 0, fmt.Errorf("row group %d: offset %d: a page of %d values and %d bytes is more than %d bytes can hold",
					i, start+at, page.values, page.bytes, size)
			}
			left -= max(page.values*each, page.bytes)
			if !page.dictionary {
				values += page.values
			}
			at += next
		}
	}
	return values, nil
}

// Recover makes an error of a panic where it is deferred: parquet-go's decoders trust some of what a page says and panic where it lies.
func Recover(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the pages of the parquet file contradict themselves: %v", p)
	}
}

// LeafOf is the column of values below another one; false if there are several. A list is wrapped in groups of one member
// each, however its writer calls them.
func LeafOf(top *parquet.Column) (leaf *parquet.Column, ok bool) {
	for leaf = top; !leaf.Leaf(); leaf = leaf.Columns()[0] {
		if len(leaf.Columns()) != 1 {
			return nil, false
		}
	}
	return leaf, true
}

// Values gives each value of a column to take, in order; what lasts of one is its Clone.
func Values(ctx context.Context, leaf *parquet.Column, take func(parquet.Value) error) error {
	pages := leaf.Pages()
	defer pages.Close()
	buffer := make([]parquet.Value, 1024)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = valuesOf(page.Values(), buffer, take)
			parquet.Release(page)
		}
		if err != nil {
			return err
		}
	}
}

func valuesOf(values parquet.ValueReader, buffer []parquet.Value, take func(parquet.Value) error) error {
	for {
		n, err := values.ReadValues(buffer)
		for _, v := range buffer[:n] {
			if err := take(v); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Bytes is a file in memory.
type Bytes []byte

// ReadAt is io.ReaderAt's.
func (b Bytes) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(b).ReadAt(p, at) }

// span is so many bytes of a file, in place where that is in memory.
func span(r io.ReaderAt, at, n int64) ([]byte, error) {
	if b, ok := r.(Bytes); ok {
		return b[at : at+n : at+n], nil
	}
	data := make([]byte, n)
	return data, ReadAt(r, data, at)
}

// pageSize is what a page takes when it is decoded.
type pageSize struct {
	values, bytes int64
	dictionary    bool
}

// sizeOf reads the header of a page, and how far it is to the next.
func sizeOf(data []byte, codec format.CompressionCodec) (pageSize, int64, error) {
	h, used, err := header(data)
	if err != nil {
		return pageSize{}, 0, err
	}
	body := data[used:]
	next := int64(used) + int64(h.CompressedPageSize)
	body = body[:h.CompressedPageSize]
	size := pageSize{bytes: int64(h.UncompressedPageSize)}
	compressed, announced := true, size.bytes
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		size.values = int64(h.DataPageHeader.V.NumValues)
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		size.values, size.dictionary = int64(h.DictionaryPageHeader.V.NumValues), true
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v2 := &h.DataPageHeaderV2.V
		size.values = int64(v2.NumValues)
		levels := int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
		if v2.RepetitionLevelsByteLength < 0 || v2.DefinitionLevelsByteLength < 0 || levels > int64(len(body)) {
			return size, 0, fmt.Errorf("a page declares %d bytes of levels, found %d", levels, len(body))
		}
		body, announced = body[levels:], announced-levels // which are never compressed
		if c := v2.IsCompressed; c.Valid {
			compressed = c.V
		}
	default:
		return size, 0, fmt.Errorf("unexpected page of type %s", h.Type)
	}
	if size.values < 0 {
		return size, 0, fmt.Errorf("a page of %d values", size.values)
	}
	if compressed {
		grown, err := decompressedSize(codec, body, announced)
		if err == nil && announced > grown { // for which parquet-go would make room
			err = fmt.Errorf("a page declares %d bytes, its %d compressed bytes hold at most %d", announced, len(body), grown)
		}
		if err != nil {
			return size, 0, err
		}
		size.bytes = max(size.bytes, grown)
	}
	return size, next, nil
}

// header reads the header of the page that data begins with, and how long it is. The page lies in data, and the header
// nests no deeper than parquet's do: parquet-go's decoder goes down by recursion.
func header(data []byte) (h format.PageHeader, used int, err error) {
	c := compact{b: data, strict: true}
	if c.skip(thriftStruct); c.err != nil {
		return h, 0, errors.New("expected the header of a page")
	}
	var protocol thrift.CompactProtocol
	reader := protocol.NewReaderFromBytes(data)
	if err := thrift.NewDecoder(reader).Decode(&h); err != nil {
		return h, 0, fmt.Errorf("expected the header of a page: %w", err)
	}
	used = reader.BytesRead()
	if used <= 0 || used > len(data) || h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || int(h.CompressedPageSize) > len(data)-used {
		return h, 0, fmt.Errorf("a page declares %d bytes, found %d", h.CompressedPageSize, len(data)-used)
	}
	return h, used, nil
}

// decompressedSize is the most that a compressed page can become, whatever its header says:
// parquet-go decompresses to the end.
func decompressedSize(codec format.CompressionCodec, body []byte, announced int64) (int64, error) {
	switch codec {
	case format.Uncompressed:
		return int64(len(body)), nil
	case format.Snappy: // starts with the length
		n, used := binary.Uvarint(body)
		if len(body) > 0 && used <= 0 {
			return 0, errors.New("expected the length of a snappy page")
		}
		if n > 32*uint64(len(body)) { // three bytes copy 64 at the most
			return 0, fmt.Errorf("a snappy page of %d bytes claims to become %d", len(body), n)
		}
		return int64(n), nil
	case format.Zstd:
		return zstdBound(body)
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return 0, fmt.Errorf("expected a gzip page: %w", err)
		}
		n, err := io.Copy(io.Discard, io.LimitReader(z, announced+1))
		if err == nil && n > announced {
			err = fmt.Errorf("a page declares %d bytes, but decompresses to more", announced)
		}
		return n, err
	case format.Lz4Raw:
		return 255 * int64(len(body)), nil // a byte of length stands for 255 at the most
	default:
		return 0, fmt.Errorf("pages compressed with %s are not supported", codec)
	}
}

// zstdBound adds up what the blocks of zstd frames can become (RFC 8878, 3.1.1): a compressed
// one 128 KiB, one of a repeated byte what it says.
func zstdBound(body []byte) (bound int64, err error) {
	const maxBlock = 128 << 10
	short := errors.New("a zstd page ends within a frame")
	for len(body) > 0 {
		if len(body) < 8 {
			return 0, short
		}
		magic := binary.LittleEndian.Uint32(body)
		if magic&^0xf == 0x184d2a50 { // a frame to skip
			n := uint64(binary.LittleEndian.Uint32(body[4:])) + 8
			if n > uint64(len(body)) {
				return 0, short
			}
			body = body[n:]
			continue
		}
		if magic != 0xfd2fb528 {
			return 0, fmt.Errorf("expected a zstd page, found %#x", magic)
		}
		descriptor := body[4]
		header := 5 + [4]int{0, 1, 2, 4}[descriptor&3] + [4]int{0, 2, 4, 8}[descriptor>>6]
		if single := descriptor&0x20 != 0; !single || descriptor>>6 == 0 {
			header++ // the window, or a content size of one byte
		}
		for last := false; !last; {
			if header+3 > len(body) {
				return 0, short
			}
			block := int(body[header]) | int(body[header+1])<<8 | int(body[header+2])<<16
			size := block >> 3
			last = block&1 != 0
			switch block >> 1 & 3 {
			case 1:
				bound, size = bound+int64(size), 1
			default:
				bound += maxBlock
			}
			header += 3 + size
		}
		if descriptor&4 != 0 {
			header += 4 // the checksum
		}
		if header > len(body) {
			return 0, short
		}
		body = body[header:]
	}
	return bound, nil
}
