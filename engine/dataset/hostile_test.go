package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// withFooter returns a parquet file with the given pages and footer.
func withFooter(pages, footer []byte) []byte {
	b := append([]byte("PAR1"), pages...)
	b = append(b, footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, "PAR1"...)
}

// vectorsOf returns a valid file of vectors. edit may modify its footer.
func vectorsOf(t *testing.T, rows, dim int, edit func(*format.FileMetaData), options ...parquet.WriterOption) []byte {
	t.Helper()
	type row struct {
		Vector []float32 `parquet:"vector,list"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, options...)
	for i := range rows {
		r := row{make([]float32, dim)}
		for j := range r.Vector {
			r.Vector[j] = float32(i*dim + j)
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return editFooter(t, out.Bytes(), edit)
}

// editFooter rewrites the footer of a file.
func editFooter(t *testing.T, b []byte, edit func(*format.FileMetaData)) []byte {
	t.Helper()
	if edit == nil {
		return b
	}
	n := int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	var meta format.FileMetaData
	var protocol thrift.CompactProtocol
	if err := thrift.Unmarshal(&protocol, b[len(b)-8-n:len(b)-8], &meta); err != nil {
		t.Fatal(err)
	}
	edit(&meta)
	footer, err := thrift.Marshal(&protocol, &meta)
	if err != nil {
		t.Fatal(err)
	}
	return withFooter(b[4:len(b)-8-n], footer)
}

// elements returns a file whose footer has only a schema of n elements, each with the given number of children.
func elements(n int, children byte, name string) []byte {
	b := []byte{1<<4 | 5, 2, 1<<4 | 9, 0xfc}
	b = binary.AppendUvarint(b, uint64(n))
	for i := range n {
		if i == n-1 {
			b = append(b, 1<<4|5, 8, 3<<4|8) // a leaf of FLOAT
		} else {
			b = append(b, 4<<4|8)
		}
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
		if i < n-1 {
			b = append(b, 1<<4|5, 2*children)
		}
		b = append(b, 0)
	}
	b = append(b, 1<<4|6, 0, 1<<4|9, 0x0c, 0)
	return withFooter(nil, b)
}

// flat returns a file whose footer has only a schema of n columns below one root.
func flat(n int, name string) []byte {
	b := []byte{1<<4 | 5, 2, 1<<4 | 9, 0xfc}
	b = binary.AppendUvarint(b, uint64(n+1))
	b = append(b, 4<<4|8, 1, 'r', 1<<4|5)
	b = append(binary.AppendVarint(b, int64(n)), 0)
	for range n {
		b = append(b, 1<<4|5, 12, 3<<4|8) // BYTE_ARRAY
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(append(b, name...), 0)
	}
	b = append(b, 1<<4|6, 0, 1<<4|9, 0x0c, 0)
	return withFooter(nil, b)
}

// empties returns a file whose footer has a list of n structs without fields. field is the number of the list, or
// columns for the columns of a row group.
func empties(field byte, n int) []byte {
	b := []byte{1<<4 | 5, 2, (field-1)<<4 | 9}
	if field == columns {
		b = []byte{1<<4 | 5, 2, 3<<4 | 9, 0x1c, 1<<4 | 9}
	}
	b = binary.AppendUvarint(append(b, 0xfc), uint64(n))
	return withFooter(nil, append(append(b, make([]byte, n)...), 0, 0))
}

const columns = 0 // the columns of a row group

// onePage returns a file with a single page of the given header and body, followed by n zero bytes.
func onePage(t *testing.T, codec format.CompressionCodec, h format.PageHeader, body []byte, n int) []byte {
	t.Helper()
	var protocol thrift.CompactProtocol
	h.CompressedPageSize = int32(len(body))
	head, err := thrift.Marshal(&protocol, &h)
	if err != nil {
		t.Fatal(err)
	}
	good := vectorsOf(t, 1, 1, nil)
	page := slices.Concat(head, body)
	footer := good[len(good)-8-int(binary.LittleEndian.Uint32(good[len(good)-8:])) : len(good)-8]
	return editFooter(t, withFooter(append(page, make([]byte, n)...), footer), func(m *format.FileMetaData) {
		meta := &m.RowGroups[0].Columns[0].MetaData
		meta.DataPageOffset, meta.DictionaryPageOffset, meta.TotalCompressedSize, meta.Codec = 4, 0, int64(len(page)),
			codec
		meta.NumValues = int64(h.DataPageHeader.V.NumValues)
	})
}

func dataPage(values, size int32) format.PageHeader {
	return format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: size,
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: values, Encoding: format.Plain, DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE,
		}),
	}
}

// TestHostileParquet checks that files with arbitrary claims are rejected with a short one-line error and little
// memory.
func TestHostileParquet(t *testing.T) {
	type meta = format.FileMetaData
	type chunk = format.ColumnMetaData
	says := func(edit func(m *meta, c *chunk)) []byte {
		return vectorsOf(t, 3, 4, func(m *meta) { edit(m, &m.RowGroups[0].Columns[0].MetaData) })
	}
	snappy := append(binary.AppendUvarint(nil, 1<<30), 0, 0)
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var g bytes.Buffer
	gz := gzip.NewWriter(&g)
	if _, err := gz.Write(make([]byte, 96<<20)); err != nil || gz.Close() != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"2^40 rows": {
			says(func(m *meta, _ *chunk) { m.RowGroups[0].NumRows, m.NumRows = 1<<40, 1<<40 }),
			"expected 1099511627776 rows, found 3",
		},
		"2^62 rows": {
			says(func(m *meta, _ *chunk) { m.NumRows = 1 << 62 }), "has 4611686018427387904 rows, its row groups 3",
		},
		"-1 rows": {says(func(m *meta, _ *chunk) { m.NumRows = -1 }), "has -1 rows, its row groups 3"},
		"no column chunks": {
			says(func(m *meta, _ *chunk) { m.RowGroups[0].Columns = nil }), "a row group without columns",
		},
		"offset 2^63": {
			says(func(_ *meta, c *chunk) { c.DataPageOffset = math.MaxInt64 }), "bytes at 9223372036854775807 of",
		},
		"offset 0": {says(func(_ *meta, c *chunk) { c.DataPageOffset = 0 }), "bytes at 0 of"},
		"size 2^63": {
			says(func(_ *meta, c *chunk) { c.TotalCompressedSize = math.MaxInt64 }), "has 9223372036854775807 bytes",
		},
		"size -1":          {says(func(_ *meta, c *chunk) { c.TotalCompressedSize = -1 }), "has -1 bytes"},
		"20,000 levels":    {elements(20_000, 1, "c"), "columns nested deeper than 64"},
		"65 levels":        {elements(66, 1, "c"), "columns nested deeper than 64"},
		"100,000 columns":  {flat(100_000, "c"), "a schema of more than 32768 elements"},
		"hostile names":    {flat(300, "a\x1b]0;x\x07\xff\n\u202e"), `"a\x1b]0;x\a?\n\u202e"`},
		"names of 1 MB":    {flat(3, strings.Repeat("n", 1<<20)), "no column holds vectors: nnn"},
		"children missing": {elements(3, 100, "c"), "expected a number"},
		"2M schema":        {empties(2, 2<<20), "parquet metadata at offset 4"},
		"2M row groups":    {empties(4, 2<<20), "parquet metadata at offset 4"},
		"2M keys":          {empties(5, 2<<20), "parquet metadata at offset 4"},
		"2M column orders": {empties(7, 2<<20), "parquet metadata at offset 4"},
		"2M columns":       {empties(columns, 2<<20), "parquet metadata at offset 4"},
		"nested structs":   {withFooter(nil, bytes.Repeat([]byte{1<<4 | 12}, 1<<20)), "nested deeper than 16"},
		"list of booleans": {withFooter(nil, []byte{15<<4 | 9, 2<<4 | 1, 1, 1, 0}), "a schema without a root"},
		"snappy of 1 GB": {
			onePage(t, format.Snappy, dataPage(4, 16), snappy, 5<<20), "snappy do not decompress to the declared 16",
		},
		"zstd of 1 GB": {
			onePage(t, format.Zstd, dataPage(4, 1<<30), z.EncodeAll(make([]byte, 64), nil), 5<<20),
			"claim to decompress to 1073741824",
		},
		"zstd bomb": {
			onePage(t, format.Zstd, dataPage(4, 16), z.EncodeAll(make([]byte, 96<<20), nil), 0),
			"ZSTD: decompressed size exceeds configured limit",
		},
		"gzip of 1 GB": {
			onePage(t, format.Gzip, dataPage(4, 1<<30), g.Bytes(), 5<<20), "claim to decompress to 1073741824",
		},
		"gzip bomb": {onePage(t, format.Gzip, dataPage(4, 16), g.Bytes(), 0), "GZIP: 17 bytes, expected 16"},
		"2^31 values": {
			onePage(t, format.Uncompressed, dataPage(math.MaxInt32, 6), []byte{2, 0, 0, 0, 8, 1}, 0),
			"more values than a file of",
		},
		"-1 values": {
			onePage(t, format.Uncompressed, dataPage(-1, 6), []byte{2, 0, 0, 0, 8, 1}, 0), "has -1 values in 1 rows",
		},
		"1 GB that is not": {
			onePage(t, format.Uncompressed, dataPage(1, 1<<30), []byte{2, 0, 0, 0, 8, 1}, 5<<20),
			"claim to decompress to 1073741824",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := parse(t.Context(), Parquet, "", test.data)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%.500v, want %q", err, test.want)
			}
			if used := int64(after.TotalAlloc - before.TotalAlloc); used > 32<<20 {
				t.Errorf("%d MB for a file of %d bytes", used>>20, len(test.data))
			}
			if text := err.Error(); len(text) > 2000 || strings.ContainsFunc(text, unicode.IsControl) ||
				!utf8.ValidString(text) {
				t.Errorf("%d bytes of text: %.300q", len(text), text)
			}
		})
	}
}

// TestDamagedParquet changes each byte of small files, including levels, runs and dictionary indexes.
func TestDamagedParquet(t *testing.T) {
	for name, options := range map[string][]parquet.WriterOption{
		"plain": nil, "version 1": {parquet.DataPageVersion(1)},
		"dictionary": {parquet.DefaultEncodingFor(parquet.Float, &parquet.RLEDictionary)},
		"snappy":     {parquet.Compression(&parquet.Snappy)}, "gzip": {parquet.Compression(&parquet.Gzip)},
		"zstd": {parquet.Compression(&parquet.Zstd)},
	} {
		data := vectorsOf(t, 3, 4, nil, options...)
		refused := 0
		for at := range data {
			for _, change := range []byte{0x01, 0x80, 0xff} {
				data[at] ^= change
				s, err := parse(t.Context(), Parquet, "", data)
				data[at] ^= change
				if err != nil {
					refused++
					continue
				}
				if s.Vectors != nil && s.Vectors.Rows*s.Vectors.Dim > 64 {
					t.Errorf("%s: byte %d: %d rows of %d", name, at, s.Vectors.Rows, s.Vectors.Dim)
				}
				s.Close()
			}
		}
		if refused < len(data)/4 {
			t.Errorf("%s: %d of %d changes were refused", name, refused, 3*len(data))
		}
	}
}
