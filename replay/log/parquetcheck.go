package log

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"kitescope/engine/dataset"
)

// check goes over the pages of the column before anything of them is decoded, as parquet-go makes room for what they
// announce. Columns of parameters are small: their compressed bytes are read whole.
func (c *parquetColumn) check(file *parquet.File, f *os.File, size int64) error {
	left := size*maxRatio + maxExtra
	for i := range file.Metadata().RowGroups {
		meta := &file.Metadata().RowGroups[i].Columns[c.leaf.Index()].MetaData
		start := meta.DataPageOffset
		if meta.DictionaryPageOffset != 0 {
			start = meta.DictionaryPageOffset
		}
		if start < 0 || meta.TotalCompressedSize < 0 || start > size || meta.TotalCompressedSize > size-start {
			return fmt.Errorf("row group %d: %d bytes of pages at offset %d were announced, the file has %d", i, meta.TotalCompressedSize, start, size)
		}
		data := make([]byte, meta.TotalCompressedSize)
		if _, err := f.ReadAt(data, start); err != nil {
			return plain(err)
		}
		for len(data) > 0 {
			cost, next, err := pageCost(data, meta.Codec)
			if err != nil {
				return fmt.Errorf("row group %d: %w", i, err)
			}
			if left -= cost; left < 0 {
				return fmt.Errorf("row group %d: pages of more than %d bytes were announced", i, size*maxRatio+maxExtra)
			}
			data = data[next:]
		}
	}
	return nil
}

// pageCost is about what a page takes when it is decoded, and where the next one begins.
func pageCost(data []byte, codec format.CompressionCodec) (cost int64, next int, err error) {
	h, at, err := dataset.PageHeader(data)
	if err != nil {
		return 0, 0, err
	}
	body, announced := data[at:at+int(h.CompressedPageSize)], int64(h.UncompressedPageSize)
	var values int64
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		values = int64(h.DataPageHeader.V.NumValues)
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		values = int64(h.DictionaryPageHeader.V.NumValues)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		v2 := &h.DataPageHeaderV2.V
		values = int64(v2.NumValues)
		levels := int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
		if v2.RepetitionLevelsByteLength < 0 || v2.DefinitionLevelsByteLength < 0 || levels > int64(len(body)) {
			return 0, 0, fmt.Errorf("a page with %d bytes of levels was announced, %d are there", levels, len(body))
		}
		body, announced = body[levels:], announced-levels
		if is := v2.IsCompressed; is.Valid && !is.V {
			codec = format.Uncompressed
		}
	default:
		return 0, 0, errors.New("a page of data or a dictionary was expected")
	}
	if values < 0 {
		return 0, 0, fmt.Errorf("a page of %d values", values)
	}
	grown, err := grownSize(codec, body, announced)
	if err == nil && announced > grown { // for which parquet-go would make room
		err = fmt.Errorf("a page of %d bytes was announced, its %d compressed ones become %d", announced, len(body), grown)
	}
	return max(grown, int64(h.UncompressedPageSize)) + 24*values, at + int(h.CompressedPageSize), err
}

// grownSize is what a compressed page becomes.
func grownSize(codec format.CompressionCodec, body []byte, announced int64) (int64, error) {
	var in io.Reader
	switch codec {
	case format.Uncompressed:
		return int64(len(body)), nil
	case format.Snappy: // starts with the length
		n, used := binary.Uvarint(body)
		if len(body) > 0 && used <= 0 {
			return 0, errors.New("the length of a snappy page was expected")
		}
		if n > 32*uint64(len(body)) { // three bytes copy 64 at the most
			return 0, fmt.Errorf("a snappy page of %d bytes says that it becomes %d", len(body), n)
		}
		return int64(n), nil
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return 0, fmt.Errorf("a gzip page was expected: %w", err)
		}
		in = z
	case format.Zstd:
		z, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return 0, fmt.Errorf("a zstd page was expected: %w", err)
		}
		defer z.Close()
		in = z
	default:
		return 0, fmt.Errorf("pages compressed with %s are not supported", codec)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(in, announced+1))
	if err == nil && n > announced {
		err = fmt.Errorf("a page of %d bytes was announced, it becomes more", announced)
	}
	return n, err
}
