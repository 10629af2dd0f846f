package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/parquet"
	"kitescope/internal/hints"
)

// testdata returns the path of a test file. The files were written by NumPy, pyarrow and h5py; see
// testdata/make.py.
func testdata(name string) string { return filepath.Join("testdata", name) }

func load(t *testing.T, name string) *Set {
	t.Helper()
	s, err := Open(t.Context(), testdata(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// floats returns the values that make.py writes to all files of float32.
func floats() [][]float32 {
	rows := make([][]float32, 5)
	for i := range rows {
		for j := range 4 {
			rows[i] = append(rows[i], float32(i*4+j)/8)
		}
	}
	rows[4][3] = 3.1
	return rows
}

func float32Rows(v *engine.Vectors) [][]float32 {
	rows := make([][]float32, v.Rows)
	for i := range rows {
		for b := v.Row(i); len(b) > 0; b = b[4:] {
			rows[i] = append(rows[i], math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	}
	return rows
}

func TestFloat32Vectors(t *testing.T) {
	for _, test := range []struct {
		name    string
		format  Format
		column  string
		mapped  bool
		rounded int
	}{
		{name: "f4.npy", format: NPY, mapped: true},
		{name: "version2.npy", format: NPY, mapped: true},
		{name: "version3.npy", format: NPY, mapped: true},
		{name: "fortran.npy", format: NPY},
		{name: "f8.npy", format: NPY, rounded: 1},
		{name: "f4.fvecs", format: Fvecs, mapped: true},
		{name: "one.parquet", format: Parquet, column: "list"},
		{name: "plain.parquet", format: Parquet, column: "list"},
		{name: "gzip.parquet", format: Parquet, column: "list"},
		{name: "brotli.parquet", format: Parquet, column: "list"},
		{name: "table.parquet#list", format: Parquet, column: "list"},
		{name: "table.parquet#fixed", format: Parquet, column: "fixed"},
		{name: "table.parquet#bytes", format: Parquet, column: "bytes"},
		{name: "table.parquet#double", format: Parquet, column: "double", rounded: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := load(t, test.name)
			if s.Vectors.Element != dist.Float32 || s.Vectors.Dim != 4 || s.IDs != nil || s.NaNs != 0 {
				t.Errorf("element %v of %d dimensions, %d ids, %d NaNs", s.Vectors.Element, s.Vectors.Dim, len(s.IDs),
					s.NaNs)
			}
			if s.Format != test.format || s.Column != test.column || s.Mapped != test.mapped ||
				s.Rounded != test.rounded {
				t.Errorf("format %q, column %q, mapped %v, rounded %d", s.Format, s.Column, s.Mapped, s.Rounded)
			}
			if d := cmp.Diff(floats(), float32Rows(s.Vectors)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestOtherElements(t *testing.T) {
	// 0, 1/8, 1/4, 3/8 in half precision; 3.1 is the last value of the last row.
	half := func(v *engine.Vectors) bool {
		return bytes.Equal(v.Row(0), []byte{0, 0, 0, 0x30, 0, 0x34, 0, 0x36}) &&
			bytes.Equal(v.Row(4)[6:], []byte{0x33, 0x42})
	}
	signed := func(v *engine.Vectors) bool {
		return bytes.Equal(v.Row(0), []byte{0xeb, 0xf2, 0xf9, 0}) && bytes.Equal(v.Row(4), []byte{91, 98, 105, 112})
	}
	bits := func(v *engine.Vectors) bool {
		return bytes.Equal(v.Row(0), []byte{0, 23}) && bytes.Equal(v.Row(4), []byte{184, 207})
	}
	for _, test := range []struct {
		name    string
		element dist.Element
		dim     int
		holds   func(*engine.Vectors) bool
	}{
		{"f2.npy", dist.Float16, 4, half},
		{"table.parquet#half", dist.Float16, 4, half},
		{"v2.npy", dist.BFloat16, 4, func(v *engine.Vectors) bool {
			return bytes.Equal(v.Row(0), []byte{0, 0, 0, 0x3e, 0x80, 0x3e, 0xc0, 0x3e})
		}},
		{"i1.npy", dist.Int8, 4, signed},
		{"table.parquet#int8", dist.Int8, 4, signed},
		{"u1.npy", dist.Bit, 16, bits},
		{"table.parquet#bits", dist.Bit, 16, bits},
		{"u1.bvecs", dist.Float32, 2, func(v *engine.Vectors) bool {
			return cmp.Equal(float32Rows(v), [][]float32{{0, 23}, {46, 69}, {92, 115}, {138, 161}, {184, 207}})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := load(t, test.name).Vectors
			if v.Element != test.element || v.Dim != test.dim || v.Rows != 5 || !test.holds(v) {
				t.Errorf("element %v, %d x %d: %v ... %v", v.Element, v.Rows, v.Dim, v.Row(0), v.Row(v.Rows-1))
			}
		})
	}
}

func TestIDs(t *testing.T) {
	matrix := func(from int64) [][]int64 {
		rows := make([][]int64, 5)
		for i := range rows {
			for j := range 4 {
				rows[i] = append(rows[i], int64(i*4+j)+from)
			}
		}
		return rows
	}
	for name, want := range map[string][][]int64{
		"i4.npy":                  matrix(-3),
		"u4.npy":                  matrix(0),
		"i8.npy":                  matrix(-3),
		"i4.ivecs":                matrix(-3),
		"table.parquet#neighbors": matrix(-3),
		"table.parquet#int32":     matrix(-3),
		"list.npy":                {{-3}, {1}, {5}, {9}, {13}},
		"table.parquet#id":        {{0}, {1}, {2}, {3}, {4}},
	} {
		s := load(t, name)
		if d := cmp.Diff(want, s.IDs); d != "" || s.Vectors != nil {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestNoVectorsNamesTheColumn(t *testing.T) {
	for name, want := range map[string]string{
		"i8.npy": "it has ids", "table.parquet#neighbors": "column neighbors has ids",
	} {
		if err := load(t, name).NoVectors(); !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestNaNRowsAreCountedAndNamed(t *testing.T) {
	s := load(t, "nan.npy")
	if s.NaNs != 2 || !cmp.Equal(s.NaNRows, []int{1, 3}) {
		t.Errorf("%d rows with NaN, %v; infinity is a number", s.NaNs, s.NaNRows)
	}
	for name, row := range map[string][]byte{"float16": {1, 0x7c}, "negative": {0xff, 0xff}} {
		if !hasNaN16(row, 0x7c00) || hasNaN16([]byte{0, 0x7c}, 0x7c00) {
			t.Errorf("%s: NaN and infinity are not told apart", name)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, want := range map[string]string{
		"big.npy":              `big-endian values of type ">f4"`,
		"bool.npy":             `found "|b1"`,
		"cube.npy":             "expected the shape of a matrix, found (5, 2, 2)",
		"vector.npy":           "expected the shape of a matrix, found (4,)",
		"glove.hdf5":           "HDF5 is not supported; convert it to .npy files: python3 -c ",
		"table.parquet":        "several columns hold vectors; choose one with FILE#COLUMN: fixed, list, double,",
		"table.parquet#no":     `no column "no"; columns: id, title, fixed,`,
		"table.parquet#title":  "column title is",
		"table.parquet#ragged": "row 1: expected 1 values, as in row 0, found more",
		"table.parquet#hole":   "row 1: expected a value, found none",
		"table.parquet#null":   "row 1: expected a value, found none",
		"none.npy":             "read testdata/none.npy: no such file",
		"f4.txt":               "a name ending in .npy",
		"":                     "a name ending in .npy",
	} {
		_, err := Open(t.Context(), testdata(name))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}

func TestHostileFiles(t *testing.T) {
	npy := func(version byte, length int, text string, data int) []byte {
		return append([]byte("\x93NUMPY"+string([]byte{version, 0, byte(length), byte(length >> 8)})+text),
			make([]byte, data)...)
	}
	shape := func(shape string, data int) []byte {
		text := "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}"
		return npy(1, len(text), text, data)
	}
	vecs := func(values ...int32) []byte {
		var b []byte
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
		return b
	}
	for name, test := range map[string]struct {
		format Format
		data   []byte
		want   string
	}{
		"npy empty":         {NPY, nil, "offset 0: expected a .npy file"},
		"npy version":       {NPY, npy(4, 0, "", 0), "offset 6: expected version 1, 2 or 3"},
		"npy header length": {NPY, npy(1, 500, "{}", 0), "a header of 500 bytes declared, at most 2"},
		"npy no descr":      {NPY, npy(1, 2, "{}", 0), "no 'descr'"},
		"npy truncated":     {NPY, shape("(5, 4)", 79), "expected 5 rows of 4 values of 4 bytes, found 79 bytes"},
		"npy too long":      {NPY, shape("(5, 4)", 81), "expected the end of the file, 1 bytes follow"},
		"npy overflow":      {NPY, shape("(2305843009213693951, 2305843009213693951)", 16), "found 16 bytes"},
		"npy overflow to 0": {
			NPY, shape("(4611686018427387904, 4)", 16), "offset 10: expected a shape of whole numbers",
		},
		"npy negative":      {NPY, shape("(-1, 4)", 16), "expected a shape of whole numbers"},
		"npy no columns":    {NPY, shape("(99999999999, 0)", 0), "rows of no columns"},
		"fvecs empty":       {Fvecs, nil, "offset 0: expected the dimension"},
		"fvecs dimension 0": {Fvecs, vecs(0, 0), "a row of 0 values"},
		"fvecs negative":    {Fvecs, vecs(-1, 0), "a row of -1 values"},
		"fvecs huge":        {Fvecs, vecs(math.MaxInt32, 0), "4 bytes follow"},
		"fvecs truncated":   {Fvecs, vecs(2, 0, 0, 2, 0), "offset 12: expected a row of 12 bytes, found 8"},
		"fvecs other":       {Fvecs, vecs(1, 0, 2, 0), "offset 8: row 1: expected dimension 1, found 2"},
		"parquet empty":     {Parquet, nil, "a parquet file"},
		"parquet long footer": {
			Parquet, []byte("PAR1\x00\xff\x00\x00\x00PAR1"), "offset 5: parquet metadata of 255 bytes in a file of 13",
		},
		// A list of 2^28 structs in a footer of 8 bytes.
		"parquet long list": {
			Parquet, []byte("PAR1\x29\xfc\xff\xff\xff\x7f\x00\x00\x08\x00\x00\x00PAR1"), "parquet metadata at offset 4",
		},
		"parquet of no pages": {Parquet, []byte("PAR1\x00\x00\x00\x00PAR1"), "parquet metadata at offset 4"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(t.Context(), test.format, "", test.data); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestUnalignedValuesAreCopied(t *testing.T) {
	text := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}  "
	data := append([]byte("\x93NUMPY\x01\x00"+string([]byte{byte(len(text)), 0})+text), 0, 0, 0x80, 0x3f)
	for pad := range 4 {
		at := append(make([]byte, pad, pad+len(data)), data...)[pad:]
		s, err := parse(t.Context(), NPY, "", at)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Vectors.Float32(0)[0]; got != 1 {
			t.Errorf("%d bytes further: %v", pad, got)
		}
	}
}

// TestPagesThatGrowAreRefused checks that a file whose small pages decompress to much more data is read. A small
// page may declare, or decompress to, any size.
func TestPagesThatGrowAreRefused(t *testing.T) {
	if v := load(t, "zeros.parquet").Vectors; v.Rows != 20000 || v.Dim != 16 {
		t.Errorf("%d x %d zeros", v.Rows, v.Dim)
	}
}

func TestWriteMatchesNumPy(t *testing.T) {
	for _, name := range []string{"f4.npy", "f2.npy", "i1.npy", "u1.npy", "f4.fvecs", "i8.npy"} {
		want, err := os.ReadFile(testdata(name))
		if err != nil {
			t.Fatal(err)
		}
		s := load(t, name)
		var got bytes.Buffer
		switch {
		case s.IDs != nil:
			err = WriteIDs(&got, s.IDs)
		case s.Format == Fvecs:
			err = WriteFvecs(&got, s.Vectors)
		default:
			err = WriteNPY(&got, s.Vectors)
		}
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s: %v\n%q\n%q", name, err, got.Bytes(), want)
		}
	}
	padded, err := engine.FromFloat32s(17, make([]float32, 34))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteNPY(&out, padded); err != nil || out.Len() != 128+2*17*4 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	if err := WriteIDs(&out, [][]int64{{1}, {1, 2}}); err == nil {
		t.Error("no error for rows of different lengths")
	}
}

func TestOpenCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{
		"f4.npy", "fortran.npy", "f8.npy", "i8.npy", "f4.fvecs", "u1.bvecs", "i4.ivecs", "plain.parquet",
	} {
		if _, err := Open(ctx, testdata(name)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzParse parses arbitrary bytes with all readers. Go's fuzzing stops a run that takes too much memory. The
// memory that a set holds must be within a small multiple of the file size.
func FuzzParse(f *testing.F) {
	formats := []Format{NPY, Fvecs, Bvecs, Ivecs, Parquet, CSR}
	f.Add(byte(5), csr(3, 10, 3, []int64{0, 2, 2, 3}, []int32{1, 9, 4}, []float32{0.5, 2, -1}))
	for i, names := range [][]string{
		{"f4.npy", "f8.npy", "i4.npy", "fortran.npy"},
		{"f4.fvecs"},
		{"u1.bvecs"},
		{"i4.ivecs"},
		{"one.parquet", "plain.parquet", "gzip.parquet"},
	} {
		for _, name := range names {
			data, err := os.ReadFile(testdata(name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(byte(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, format byte, data []byte) {
		s, err := parse(t.Context(), formats[int(format)%len(formats)], "", data)
		if err != nil {
			return
		}
		defer s.Close()
		kept := 0
		if s.Vectors != nil {
			kept = s.Vectors.Rows * s.Vectors.Size()
			if s.Format == CSR {
				kept = s.Vectors.Bytes()
			}
		}
		for _, row := range s.IDs {
			kept += 8 * len(row)
		}
		if kept > parquet.MaxRatio*len(data)+parquet.MaxExtra {
			t.Errorf("%d bytes of a file of %d", kept, len(data))
		}
	})
}

// TestForeignFormatsAreNamed checks that the error names the format and a command that converts it.
func TestForeignFormatsAreNamed(t *testing.T) {
	folder := t.TempDir()
	for _, name := range chromaFiles {
		if err := Foreign(folder); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][2]string{
		"a b.npz": {"an archive of NumPy (.npz)", "f.files]' 'a b.npz'"},
		"a.u8bin": {"a file of big-ann-benchmarks (.u8bin, uint8", "astype('float32'))\" a.u8bin"},
		folder:    {"Chroma", folder + " 384"}, filepath.Join(folder, "header.bin"): {"Chroma", folder + " 384"},
	} {
		_, err := OpenAs(t.Context(), name, "", "")
		if err == nil || !strings.Contains(err.Error(), want[0]) || !strings.Contains(hints.Of(err), want[1]) {
			t.Errorf("%s: %v, %s", name, err, hints.Of(err))
		}
	}
	if err := Foreign("header.bin"); err != nil {
		t.Error(err)
	}
}
