package binlog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"testing"

	"kitescope/engine/parquet/parquettest"
	"kitescope/internal/damagetest"
)

// countsOf returns the counts and lengths in a file of events or in a packed log.
func countsOf(t *testing.T, file []byte) (fields []damagetest.Field) {
	t.Helper()
	if bytes.HasPrefix(file, []byte("PAR1")) {
		return parquettest.Fields(t, file, 0, len(file))
	}
	_, payloads, err := readEvents(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	extras := 4 + eventHeaderSize + fixedPartSize + postHeaderSize
	fields = append(fields, damagetest.Little(file, "length of an event", 4+9, 4),
		damagetest.Little(file, "length of extras", extras, 4))
	if at := bytes.Index(file, []byte(`"original_size":"`)); at > 0 {
		fields = append(fields, damagetest.Text(file, "original_size", at+len(`"original_size":"`)))
	}
	for _, p := range payloads {
		fields = append(fields,
			damagetest.Little(file, "length of an event", int(p.at)-dataPartSize-eventHeaderSize+9, 4))
		if bytes.HasPrefix(file[p.at:], []byte("PAR1")) {
			fields = append(fields, parquettest.Fields(t, file, int(p.at), int(p.length))...)
		}
	}
	return fields
}

// TestDamagedCounts changes each count and length of logs and index files, for every reader that reads the
// undamaged file.
func TestDamagedCounts(t *testing.T) {
	column := func(c *Column, err error) (string, error) {
		if err != nil {
			return "", err
		}
		defer c.Release()
		return fmt.Sprint(c.Rows, c.Valid, digest(c)), nil
	}
	readers := map[string]func(b []byte) (string, error){
		"column": func(b []byte) (string, error) {
			c, err := ReadColumn(t.Context(), fileOf(b), "file")
			return column(c, err)
		},
		"delta": func(b []byte) (string, error) {
			d, err := ReadDelta(t.Context(), fileOf(b), "file")
			if err != nil {
				return "", err
			}
			return fmt.Sprint(d.Int64s, d.Strings, d.Timestamps), nil
		},
		"index": func(b []byte) (string, error) {
			x, err := ReadIndex(t.Context(), files{"file/1/2/3/HNSW": b}, "file")
			if err != nil {
				return "", err
			}
			defer x.Release()
			return hex.EncodeToString(x.Blobs["HNSW"].Bytes()), nil
		},
	}
	for field, kind := range map[int64]Type{
		100: Int64, 101: VarChar, 102: FloatVector, 103: Bool, 104: SparseFloatVector,
	} {
		readers[fmt.Sprint("packed ", kind)] = func(b []byte) (string, error) {
			columns, err := ReadPacked(t.Context(), files{"file": b}, []string{"file"}, map[int64]Type{field: kind})
			if err == nil && columns[field] == nil {
				err = errors.New("no such field")
			}
			return column(columns[field], err)
		}
	}
	all := seeds(t)
	for _, name := range []string{"packed-1", "packed-2"} {
		b, err := os.ReadFile(path.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = b
	}
	all["vectors"] = encodeColumn(t, columnOf(t, FloatVector, 60, false))
	all["booleans"] = encodeColumn(t, columnOf(t, Bool, 60, true))
	all["sparse"] = encodeColumn(t, columnOf(t, SparseFloatVector, 60, true))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, reader := range slices.Sorted(maps.Keys(readers)) {
			if _, err := readers[reader](all[name]); err != nil {
				continue
			}
			t.Run(path.Base(name)+" "+reader, func(t *testing.T) {
				damagetest.Run(t, all[name], countsOf(t, all[name]), damagetest.Count()/4, readers[reader])
			})
		}
	}
}
