package manifest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/internal/damagetest"
)

// number adds a field, and returns the offset of its end.
func number(file []byte, at int, name string, fields *[]damagetest.Field) int {
	v, n := binary.Varint(file[at:])
	*fields = append(*fields, damagetest.Field{
		Name: name, At: at, Len: n, Value: uint64(v),
		Put: func(v uint64) []byte {
			return binary.AppendVarint(nil, int64(v))
		},
	})
	return at + n
}

// counts walks over a value like cursor.value, adds its counts and lengths to fields, and returns the offset of its
// end.
func counts(file []byte, at int, s *schema, fields *[]damagetest.Field) int {
	count := func() (v int64) {
		v, _ = binary.Varint(file[at:])
		at = number(file, at, "count or length of a "+s.kind, fields)
		return v
	}
	switch s.kind {
	case "record":
		for _, f := range s.fields {
			at = counts(file, at, f.schema, fields)
		}
	case "array", "map":
		for n := count(); n != 0; n = count() {
			for range n {
				if s.kind == "map" {
					at = counts(file, at, &schema{kind: "string"}, fields)
				}
				at = counts(file, at, s.items, fields)
			}
		}
	case "string", "bytes":
		at += int(count())
	default:
		_, n := binary.Varint(file[at:])
		at += n
	}
	return at
}

// TestDamagedCounts changes each count and length of a manifest, in both forms.
func TestDamagedCounts(t *testing.T) {
	for _, name := range []string{
		"segment/files/insert_log/1/2/3/_metadata/manifest-3.avro", "container/_metadata/manifest-7.avro",
	} {
		t.Run(path.Base(name), func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			var fields []damagetest.Field
			var text string
			at := 0
			if strings.HasPrefix(string(file), container) {
				meta := &schema{kind: "map", items: &schema{kind: "string"}}
				r := &cursor{b: file[len(container):], left: maxValues}
				text, _ = r.value(meta, 0).(map[string]any)["avro.schema"].(string)
				at = counts(file, len(container), meta, &fields) + 16
				at = number(file, at, "count of records", &fields)
				at = number(file, at, "length of the block", &fields)
			} else {
				_, n := binary.Varint(file)
				version, m := binary.Varint(file[n:])
				at, text = n+m, rawSchema(version)
			}
			s, err := parseSchema(json.RawMessage(text), map[string]*schema{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			counts(file, at, s, &fields)
			damagetest.Run(t, file, fields, damagetest.Count(), func(b []byte) (string, error) {
				m, err := Read(b)
				return fmt.Sprintf("%+v", m), err
			})
		})
	}
}
