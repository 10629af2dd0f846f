package binlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"kitescope/engine/parquet"
)

// seeds returns small real files and a few generated ones.
func seeds(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{
		"2.3.5/insert_log/470590760626297597/470590760626297598/470590760626297605/101/470590760626097555",
		"2.3.5/insert_log/470590760626297597/470590760626297598/470590760626297605/109/470590760626097563",
		"2.3.5/insert_log/470590760626298088/470590760626298089/470590760626298096/101/470590760626097641",
		"2.3.5/insert_log/470590760626298088/470590760626298089/470590760626298096/1/470590760626097643",
		"2.3.5/delta_log/470590760626297790/470590760626297791/470590760626297798/470590760626097609",
		"2.1.0/files/index_files/470590614613524482/1/470590613944270850/470590613957378049/indexParams",
	} {
		b, err := os.ReadFile(path.Join(storage, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = b
	}
	for _, name := range []string{"delta", "delta-text", "unsupported"} {
		b, err := os.ReadFile(path.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = b
	}
	all["nulls"] = encodeColumn(t, columnOf(t, VarChar, 60, true))
	return all
}

// decodeAll passes bytes to every reader, and checks the results in full.
func decodeAll(t testing.TB, b []byte) (errs []error) {
	t.Helper()
	ctx := context.Background()
	c, err := ReadColumn(ctx, fileOf(b), "file")
	if err == nil {
		digest(c)
		c.Release()
	}
	errs = append(errs, err)
	_, err = ReadDelta(ctx, fileOf(b), "file")
	errs = append(errs, err)
	x, err := ReadIndex(ctx, files{"file/1/2/3/HNSW": b}, "file")
	if err == nil {
		x.Release()
	}
	errs = append(errs, err)
	for field, kind := range map[int64]Type{100: Int64, 101: VarChar, 102: FloatVector, 103: Bool} {
		columns, err := ReadPacked(ctx, files{"file": b}, []string{"file"}, map[int64]Type{field: kind})
		if err == nil && columns[field] != nil {
			digest(columns[field])
			columns[field].Release()
		}
		errs = append(errs, err)
	}
	for _, err := range errs {
		if err != nil && !strings.Contains(err.Error(), "file") {
			t.Errorf("an error that does not name the file: %v", err)
		}
	}
	return errs
}

func TestTruncatedFiles(t *testing.T) {
	for name, b := range seeds(t) {
		for n := 0; n < len(b); n += 1 + len(b)/1000 {
			for i, err := range decodeAll(t, b[:n]) {
				if err == nil {
					t.Errorf("%s: %d of %d bytes were read by reader %d", name, n, len(b), i)
				}
			}
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	for _, b := range seeds(t) {
		for at := 0; at < len(b); at += 3 {
			damaged := bytes.Clone(b)
			damaged[at] ^= []byte{0x01, 0x80, 0xff, 0x10}[at%4]
			decodeAll(t, damaged)
		}
	}
}

// Types of Thrift's compact protocol.
const (
	thriftI32, thriftI64, thriftBinary, thriftList, thriftStruct = 5, 6, 8, 9, 12
)

// pageOf returns a parquet file with an optional INT32 column that has a single page of version 1.
func pageOf(rows, values, uncompressed int, encoding byte, content []byte) []byte {
	z, _ := zstd.NewWriter(nil)
	body := z.EncodeAll(content, nil)
	number := func(id byte, v int) []byte { return binary.AppendVarint([]byte{id<<4 | thriftI32}, int64(v)) }
	long := func(id byte, v int) []byte { return binary.AppendVarint([]byte{id<<4 | thriftI64}, int64(v)) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	page := join(number(1, 0), number(1, uncompressed), number(1, len(body)), []byte{2<<4 | thriftStruct},
		number(1, values), number(1, int(encoding)), number(1, 3), number(1, 3), []byte{0, 0}, body)
	column := join([]byte{3<<4 | thriftStruct}, number(1, 1), []byte{1<<4 | thriftList, thriftI32},
		[]byte{1<<4 | thriftList, thriftBinary},
		number(1, parquet.CodecZstd), long(1, rows), long(1, uncompressed), long(1, len(page)), long(2, 4),
		[]byte{0, 0})
	footer := join(number(1, 1), []byte{1<<4 | thriftList, 2<<4 | thriftStruct},
		[]byte{4<<4 | thriftBinary, 6}, []byte("schema"), number(1, 1), []byte{0},
		number(1, 1), number(2, 1), []byte{1<<4 | thriftBinary, 3}, []byte("val"), []byte{0},
		long(1, rows), []byte{1<<4 | thriftList, 1<<4 | thriftStruct},
		[]byte{1<<4 | thriftList, 1<<4 | thriftStruct}, column, long(2, rows), []byte{0}, []byte{0})
	file := join([]byte("PAR1"), page, footer)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(footer)))
	var b bytes.Buffer
	writeEvents(&b, Descriptor{Type: Int8}, indexEvent, rows, append(file, "PAR1"...))
	return b.Bytes()
}

// level returns definition levels that mark n values as present. Indices or values follow it.
func level(n int) []byte {
	run := append(binary.AppendUvarint(nil, uint64(n)<<1), 1)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
}

func TestHostilePages(t *testing.T) {
	four := append(level(4), 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x80, 0xff, 0xff, 0xff, 200, 0, 0, 0)
	good := pageOf(4, 4, len(four), parquet.PlainEncoding, four)
	x, err := ReadIndex(t.Context(), files{"file/1/2/3/HNSW": good}, "file")
	if err != nil || !bytes.Equal(x.Blobs["HNSW"].Bytes(), []byte{1, 0xff, 0x80, 200}) {
		t.Fatalf("a plain page: %v", err)
	}
	wide := bytes.Clone(four)
	wide[len(wide)-3] = 1 // 456
	for want, b := range map[string][]byte{
		"does not fit in a byte":    pageOf(4, 4, len(wide), parquet.PlainEncoding, wide),
		"has 5 values where 4 rows": pageOf(4, 5, len(four), parquet.PlainEncoding, four),
		"page header": pageOf(5, 4, len(four), parquet.PlainEncoding,
			append(level(4), four[6:]...)),
		"ZSTD":                               pageOf(4, 4, len(four)+1, parquet.PlainEncoding, four),
		"claim to decompress to":             pageOf(4, 4, 1<<30, parquet.PlainEncoding, four),
		"a missing dictionary":               pageOf(4, 4, len(four), parquet.RLEDictionary, four),
		"DELTA_BINARY_PACKED":                pageOf(4, 4, len(four), 5, four),
		"do not match 12 bytes":              pageOf(4, 4, len(four)-4, parquet.PlainEncoding, four[:len(four)-4]),
		"a length or count of":               pageOf(4, -4, len(four), parquet.PlainEncoding, four),
		"1000000000000 rows of 1 bytes":      pageOf(1_000_000_000_000, 4, len(four), parquet.PlainEncoding, four),
		"definition levels: they are longer": pageOf(4, 4, 4, parquet.PlainEncoding, []byte{9, 0, 0, 0}),
		"end with 4 missing":                 pageOf(4, 4, 4, parquet.PlainEncoding, make([]byte, 4)),
		"an empty run":                       pageOf(4, 4, 8, parquet.PlainEncoding, []byte{4, 0, 0, 0, 0, 0, 0, 0}),
		"byte 0 of the index is null":        pageOf(4, 4, 6, parquet.PlainEncoding, []byte{2, 0, 0, 0, 8, 0}),
		"groups of eight packed values in": pageOf(4, 4, 8, parquet.PlainEncoding, []byte{
			4, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f,
		}),
	} {
		x, err := ReadIndex(t.Context(), files{"file/1/2/3/HNSW": b}, "file")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; expected %q", x, err, want)
		}
	}
}

// TestMemoryIsBounded checks that allocations are bounded by the budget of a column, for any claim of a file.
func TestMemoryIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, n := range []int{1 << 26, 1 << 31, 1 << 40, 1 << 62} {
		b := pageOf(n, min(n, 1<<31-1), 6, parquet.PlainEncoding, []byte{2, 0, 0, 0, 8, 1})
		if _, err := ReadIndex(t.Context(), files{"file/1/2/3/HNSW": b}, "file"); err == nil {
			t.Errorf("%d rows were read", n)
		}
		binary.LittleEndian.PutUint32(b[4+eventHeaderSize+48:], uint32(Int64))
		if _, err := ReadColumn(t.Context(), fileOf(b), "file"); err == nil {
			t.Errorf("%d rows were read", n)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes were allocated for files of some hundred", used)
	}
}

func fuzz(f *testing.F, read func(t *testing.T, b []byte)) {
	f.Helper()
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(read)
}

func FuzzEvents(f *testing.F) {
	fuzz(f, func(t *testing.T, b []byte) {
		t.Helper()
		d, payloads, err := readEvents(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		for _, p := range payloads {
			if p.at < 0 || p.length < 0 || p.at+p.length > int64(len(b)) {
				t.Fatalf("descriptor %v, payload %v of %d bytes", d, p, len(b))
			}
		}
	})
}

func FuzzColumn(f *testing.F) {
	fuzz(f, func(t *testing.T, b []byte) {
		t.Helper()
		c, err := ReadColumn(t.Context(), fileOf(b), "file")
		if err != nil {
			return
		}
		defer c.Release()
		if n := len(c.Int64s) + len(c.Floats) + len(c.Strings); c.Vectors == nil && n != c.Rows ||
			c.Vectors != nil && c.Vectors.Rows != c.Rows {
			t.Fatalf("%d values in %d rows", n, c.Rows)
		}
	})
}

func FuzzPacked(f *testing.F) {
	fuzz(f, func(t *testing.T, b []byte) {
		t.Helper()
		for field, kind := range map[int64]Type{0: Int64, 100: VarChar, -1: Int64} {
			columns, err := ReadPacked(t.Context(), files{"file": b}, []string{"file"}, map[int64]Type{field: kind})
			if err == nil && columns[field] != nil {
				columns[field].Release()
			}
		}
	})
}

func FuzzIndexPage(f *testing.F) {
	four := append(level(4), 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x80, 0xff, 0xff, 0xff, 200, 0, 0, 0)
	f.Add(pageOf(4, 4, len(four), parquet.PlainEncoding, four))
	f.Add(singleFile(map[string]string{"index": "links", metaEntry: "{}"}, nil))
	fuzz(f, func(t *testing.T, b []byte) {
		t.Helper()
		x, err := ReadIndex(t.Context(), files{"file/1/2/3/HNSW": b}, "file")
		if err == nil {
			x.Release()
		}
	})
}

func FuzzDelta(f *testing.F) {
	fuzz(f, func(t *testing.T, b []byte) {
		t.Helper()
		d, err := ReadDelta(t.Context(), fileOf(b), "file")
		if err == nil && len(d.Int64s)+len(d.Strings) != len(d.Timestamps) {
			t.Fatalf("%d and %d keys, %d timestamps", len(d.Int64s), len(d.Strings), len(d.Timestamps))
		}
	})
}
