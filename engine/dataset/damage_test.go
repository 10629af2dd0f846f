package dataset

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"kitescope/engine/parquet/parquettest"
	"kitescope/internal/damagetest"
)

// contents returns the complete contents of a set as text.
func contents(s *Set) string {
	var b strings.Builder
	fmt.Fprintln(&b, s.IDs)
	if s.Vectors != nil {
		fmt.Fprintln(&b, s.Vectors.Element, s.Vectors.Dim)
		for i := range s.Vectors.Rows {
			fmt.Fprintf(&b, "%x\n", s.Vectors.Row(i))
		}
	}
	return b.String()
}

func damaged(t *testing.T, format Format, column string, file []byte, n int, fields ...damagetest.Field) {
	t.Helper()
	damagetest.Run(t, file, fields, n, func(b []byte) (string, error) {
		s, err := parse(t.Context(), format, column, b)
		if err != nil {
			return "", err
		}
		defer s.Close()
		return contents(s), nil
	})
}

// TestDamagedParquetCounts checks that files of pyarrow with a changed count are rejected or read the same.
func TestDamagedParquetCounts(t *testing.T) {
	b, err := os.ReadFile(testdata("pyarrow/truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var files []struct{ File, Hex string }
	if err := json.Unmarshal(b, &files); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		file, err := os.ReadFile(testdata("pyarrow/" + f.File))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(t.Context(), Parquet, "emb", file); err != nil {
			continue // an unsupported shape
		}
		t.Run(f.File, func(t *testing.T) {
			damaged(t, Parquet, "emb", file, damagetest.Count()/10, parquettest.Fields(t, file, 0, len(file))...)
		})
	}
}

// TestDamagedCounts is TestDamagedParquetCounts for the other formats.
func TestDamagedCounts(t *testing.T) {
	for _, name := range []string{
		"f4.npy", "f2.npy", "i1.npy", "u1.npy", "f8.npy", "fortran.npy", "i8.npy", "list.npy", "version2.npy",
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.ReadFile(testdata(name))
			if err != nil {
				t.Fatal(err)
			}
			size := 2
			if file[6] > 1 {
				size = 4
			}
			fields := []damagetest.Field{damagetest.Little(file, "length of the header", 8, size)}
			for at := bytes.Index(file, []byte("'shape': (")) + 10; file[at] >= '0' && file[at] <= '9'; {
				f := damagetest.Text(file, "shape", at)
				fields = append(fields, f)
				at += f.Len + len(", ")
			}
			damaged(t, NPY, "", file, damagetest.Count(), fields...)
		})
	}
	for _, name := range []string{"f4.fvecs", "u1.bvecs", "i4.ivecs"} {
		t.Run(name, func(t *testing.T) {
			file, err := os.ReadFile(testdata(name))
			if err != nil {
				t.Fatal(err)
			}
			format, size := FormatOf(name), 4
			if format == Bvecs {
				size = 1
			}
			var fields []damagetest.Field
			for at := 0; at < len(file); at += 4 + size*int(binary.LittleEndian.Uint32(file)) {
				fields = append(fields, damagetest.Little(file, "dimension of a row", at, 4))
			}
			damaged(t, format, "", file, damagetest.Count(), fields...)
		})
	}
	t.Run("csr", func(t *testing.T) {
		var file []byte
		for _, n := range []uint64{3, 20, 6, 0, 2, 3, 6} { // rows, dimensions, values; where rows start and end
			file = binary.LittleEndian.AppendUint64(file, n)
		}
		for _, n := range []uint32{1, 9, 4, 0, 7, 19} {
			file = binary.LittleEndian.AppendUint32(file, n)
		}
		for i := range uint32(6) {
			file = binary.LittleEndian.AppendUint32(file, 0x3f800000+i)
		}
		var fields []damagetest.Field
		for i := range 7 {
			if i != 1 && i != 4 && i != 5 { // unused dimensions, or a value moved to the adjacent row: no contradiction
				fields = append(fields, damagetest.Little(file, "header", 8*i, 8))
			}
		}
		damaged(t, CSR, "", file, damagetest.Count(), fields...)
	})
}
