// Package parquettest finds the counts and lengths that a parquet file declares, for tests that change them.
package parquettest

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"kitescope/internal/damagetest"
)

// counts maps ids of fields in parquet.thrift to names, for fields that are counts, lengths or offsets. A key has
// the ids from the outermost struct to the field; * is an element of a list.
var counts = map[string]string{
	"footer 2":            "elements of the schema",
	"footer 2 * 2":        "type_length",
	"footer 2 * 5":        "num_children",
	"footer 3":            "num_rows",
	"footer 4":            "row groups",
	"footer 4 * 1":        "columns of a row group",
	"footer 4 * 1 * 2":    "file_offset",
	"footer 4 * 1 * 3 5":  "num_values of a column",
	"footer 4 * 1 * 3 6":  "total_uncompressed_size",
	"footer 4 * 1 * 3 7":  "total_compressed_size",
	"footer 4 * 1 * 3 9":  "data_page_offset",
	"footer 4 * 1 * 3 11": "dictionary_page_offset",
	"footer 4 * 2":        "total_byte_size",
	"footer 4 * 3":        "num_rows of a row group",
	"page 2":              "uncompressed_page_size",
	"page 3":              "compressed_page_size",
	"page 4":              "crc",
	"page 5 1":            "num_values of a page",
	"page 7 1":            "num_values of a dictionary",
	"page 8 1":            "num_values of a page of version 2",
	"page 8 2":            "num_nulls",
	"page 8 3":            "num_rows of a page",
	"page 8 5":            "definition_levels_byte_length",
	"page 8 6":            "repetition_levels_byte_length",
}

// walker walks over Thrift's compact protocol, and collects fields that are counts.
type walker struct {
	file   []byte
	at     int
	fields []damagetest.Field
	values map[string]int64 // of the last struct
}

func (w *walker) uvarint() uint64 {
	v, n := binary.Uvarint(w.file[w.at:])
	w.at += n
	return v
}

// number adds a field whose encoded size stays constant, so that nothing else in the file moves.
func (w *walker) number(path string) {
	at := w.at
	raw := w.uvarint()
	value, size := int64(raw>>1)^-int64(raw&1), w.at-at
	w.values[path] = value
	name, ok := counts[path]
	if !ok {
		return
	}
	w.fields = append(w.fields, damagetest.Field{
		Name: name, At: at, Len: size, Value: uint64(value),
		Put: func(v uint64) []byte {
			raw, b := uint64(int64(v)<<1)^uint64(int64(v)>>63), make([]byte, size)
			for i := range b {
				b[i] = byte(raw) | 0x80
				raw >>= 7
			}
			b[size-1] &= 0x7f
			return b
		},
	})
}

func (w *walker) value(typ byte, path string) {
	switch typ {
	case 1, 2:
	case 3:
		w.at++
	case 4, 5, 6:
		w.number(path)
	case 7:
		w.at += 8
	case 8:
		w.at += int(w.uvarint())
	case 9, 10:
		w.list(path)
	case 12:
		w.fieldsOf(path)
	default:
		panic(fmt.Sprintf("thrift type %d at %d", typ, w.at))
	}
}

func (w *walker) list(path string) {
	at, head := w.at, w.file[w.at]
	w.at++
	n := int(head >> 4)
	if n == 15 {
		n = int(w.uvarint())
	} else if name, ok := counts[path]; ok {
		w.fields = append(w.fields, damagetest.Field{
			Name: name, At: at, Len: 1, Value: uint64(n),
			Put: func(v uint64) []byte {
				return []byte{byte(min(v, 14))<<4 | head&15}
			},
		})
	}
	for range n {
		if typ := head & 15; typ == 1 || typ == 2 {
			w.at++
		} else {
			w.value(typ, path+" *")
		}
	}
}

func (w *walker) fieldsOf(path string) {
	id := 0
	for {
		head := w.file[w.at]
		w.at++
		if head == 0 {
			return
		}
		if delta := int(head >> 4); delta != 0 {
			id += delta
		} else {
			raw := w.uvarint()
			id = int(int64(raw>>1) ^ -int64(raw&1))
		}
		w.value(head&15, fmt.Sprintf("%s %d", path, id))
	}
}

// Fields returns the counts of the parquet file in file[base:base+size], including those of its pages.
func Fields(t *testing.T, file []byte, base, size int) []damagetest.Field {
	t.Helper()
	end := base + size - 8
	n := int(binary.LittleEndian.Uint32(file[end:]))
	w := &walker{file: file, at: end - n, values: map[string]int64{}}
	w.fieldsOf("footer")
	w.fields = append(w.fields, damagetest.Little(file, "length of the metadata", end, 4))
	for w.at = base + 4; w.at < end-n; {
		clear(w.values)
		from := w.at
		if w.file[from] != 0x15 { // not a page header: an index, or padding
			break
		}
		w.fieldsOf("page")
		compressed, ok := w.values["page 3"]
		if !ok || w.values["page 1"] < 0 || w.values["page 1"] > 3 || int(compressed) > end-n-w.at {
			break
		}
		w.at += int(compressed)
	}
	for _, f := range w.fields {
		if strings.HasPrefix(f.Name, "num_values of a page") {
			return w.fields
		}
	}
	t.Fatal("no pages")
	return nil
}
