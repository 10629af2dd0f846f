package manifest

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine/object"
)

func open(t *testing.T, folder, name string) (*Manifest, error) {
	t.Helper()
	store, err := object.OpenFolder(filepath.Join("testdata", folder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return Open(t.Context(), store, name)
}

// TestRaw reads manifests that the C++ library wrote: after a transaction with files, with more files, and with a
// delta log and statistics.
func TestRaw(t *testing.T) {
	place, err := ParsePlace(`{"ver":3,"base_path":"files/insert_log/1/2/3"}`)
	if err != nil {
		t.Fatal(err)
	}
	m, err := open(t, "segment", place.Name("files"))
	if err != nil {
		t.Fatal(err)
	}
	const at = "files/insert_log/1/2/3/"
	want := &Manifest{
		Groups: []Group{
			{Columns: []string{"0", "1", "100"}, Format: "parquet", Files: []File{
				{at + "_data/0_d8a0483d-0cc7-4082-8374-7e3a297e1196.parquet", 0, 120},
				{at + "_data/0_8c4db6f8-881f-4566-bb88-2da1a2036ee4.parquet", 0, 80},
			}},
			{Columns: []string{"101"}, Format: "parquet", Files: []File{
				{at + "_data/1_239c2948-8716-4a83-9b93-bcb74e317dc9.parquet", 0, 120},
				{at + "_data/1_1e3bc728-a6b6-4f8c-b9e9-6816c3891f26.parquet", 0, 80},
			}},
		},
		Deltas: []Delta{{at + "_delta/455000000000009001", ByKey, 25}},
		Stats: map[string]Statistics{
			"bloom_filter.100": {Paths: []string{at + "_stats/bloom_filter.100/1", at + "_stats/bloom_filter.100/2"}},
		},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	place.Version = 1
	if m, err = open(t, "segment", place.Name("files")); err != nil || len(m.Groups) != 2 ||
		len(m.Groups[1].Files) != 1 || len(m.Deltas) != 0 {
		t.Errorf("version 1: %+v, %v", m, err)
	}
	place.Version = 4
	if _, err = open(t, "segment", place.Name("files")); err == nil ||
		!strings.Contains(err.Error(), "manifest-4.avro") {
		t.Errorf("version 4, which was never written: %v", err)
	}
}

// TestContainer reads Avro's container, with the current schema of milvus-storage.
func TestContainer(t *testing.T) {
	m, err := open(t, "container", "_metadata/manifest-7.avro")
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		Groups: []Group{
			{
				Columns: []string{"0", "1", "100"}, Format: "parquet",
				Files: []File{{"_data/0_a.parquet", 0, 120}, {"_data/0_b.parquet", 0, 80}},
			},
			{Columns: []string{"101"}, Format: "vortex", Files: []File{{"_data/1_a.vortex", 0, 200}}},
		},
		Deltas: []Delta{{"_delta/455000000000009001", ByKey, 25}, {"s3://elsewhere/x", ByPosition, 3}},
		Stats: map[string]Statistics{
			"bloom_filter.100": {Paths: []string{"_stats/bloom_filter.100/1"}}, "bm25.102": {Paths: []string{}},
		},
		Indexes: []Index{
			{
				Column: "101", Name: "vec", Type: "hnsw", Path: "_index/hnsw/9", FieldID: 101, Build: 9, Rows: 200,
				Files: []string{"HNSW_0"},
			},
		},
		Objects: []Object{{"../lobs/103/_data/x.vortex", 103, 200, 190, 12345}},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := open(t, "container", "_metadata/manifest-8.avro"); err == nil ||
		!strings.Contains(err.Error(), "compressed (deflate)") {
		t.Errorf("a compressed one: %v", err)
	}
}

func TestBroken(t *testing.T) {
	for _, text := range []string{
		"", "{}", `{"ver":1}`, `{"ver":-1,"base_path":"a"}`, "insert_log/manifest-1", `{"ver":"x","base_path":"a"}`,
		`{"ver":1,"base_path":"insert_log"}`, `{"ver":1,"base_path":"insert_log/.."}`,
		`{"ver":1,"base_path":"files/insert_log/1/2/3/../../.."}`, `{"ver":1,"base_path":"insert_log/1/2"}`,
	} {
		if p, err := ParsePlace(text); err == nil {
			t.Errorf("%q is the place %+v", text, p)
		}
	}
	whole := [][]byte{}
	for _, name := range []string{
		"segment/files/insert_log/1/2/3/_metadata/manifest-3.avro", "container/_metadata/manifest-7.avro",
	} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, b)
	}
	for _, b := range whole {
		for n := range b {
			if m, err := Read(b[:n]); err == nil {
				t.Errorf("%d of %d bytes are read: %+v", n, len(b), m)
			}
		}
	}
	for text, want := range map[string]string{
		"PAR1 is parquet":          "not a manifest",
		"Obj\x01":                  "cut off",
		"\xac\xb1\xca\xd4\x09\x12": "version 9 of the raw form",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestEmptyItems checks that items without bytes cost no time, for any count in a file.
func TestEmptyItems(t *testing.T) {
	text := func(s string) []byte { return append(binary.AppendVarint(nil, int64(len(s))), s...) }
	hostile := func(schema string, block []byte) []byte {
		b := append([]byte(container), binary.AppendVarint(nil, 1)...)
		b = append(append(b, text("avro.schema")...), text(schema)...)
		b = append(append(b, 0), make([]byte, 16)...)
		b = append(binary.AppendVarint(b, 1), binary.AppendVarint(nil, int64(len(block)))...)
		return append(append(b, block...), make([]byte, 16)...)
	}
	many := binary.AppendVarint(nil, 1<<60)
	for name, schema := range map[string]string{
		"nulls":          `{"type":"record","name":"M","fields":[{"name":"x","type":{"type":"array","items":"null"}}]}`,
		"empty records":  `{"type":"record","name":"M","fields":[{"name":"delta_logs","type":{"type":"array","items":{"type":"record","name":"D","fields":[]}}}]}`,
		"itself":         `{"type":"record","name":"M","fields":[{"name":"x","type":"M"}]}`,
		"many schemas":   strings.Repeat(`{"type":"array","items":`, 100) + `"null"` + strings.Repeat("}", 100),
		"another record": `"string"`,
		"an enum":        `{"type":"enum","name":"E","symbols":["A"]}`,
		"no schema":      ``,
	} {
		if m, err := Read(hostile(schema, many)); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, err := Read(hostile(
		`{"type":"record","name":"M","fields":[{"name":"files","type":{"type":"array","items":"string"}}]}`, []byte{0},
	)); !errors.Is(err, ErrNotManifest) {
		t.Errorf("another record of Avro's: %v", err)
	}
	none := `{"type":"record","name":"M","fields":[{"name":"column_groups","type":{"type":"array","items":{"type":"record","name":"G","fields":[
		{"name":"files","type":{"type":"array","items":"null"}}]}}}]}`
	if m, err := Read(hostile(none, []byte{0})); err != nil || len(m.Groups) != 0 {
		t.Errorf("an empty manifest: %+v, %v", m, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{
		"segment/files/insert_log/1/2/3/_metadata/manifest-3.avro", "container/_metadata/manifest-7.avro",
		"container/_metadata/manifest-8.avro",
	} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(b)
		if (m == nil) == (err == nil) {
			t.Errorf("%v, %v", m, err)
		}
		if m != nil {
			m.place("base")
		}
	})
}

// TestRoots checks that files are found below a root other than the writer's, including files whose names contain
// the writer's folder.
func TestRoots(t *testing.T) {
	b, err := os.ReadFile("testdata/segment/files/insert_log/1/2/3/_metadata/manifest-3.avro")
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"insert_log/1/2/3", "files/insert_log/1/2/3", "tenant/files/insert_log/1/2/3"} {
		m, err := Read(b)
		if err != nil {
			t.Fatal(err)
		}
		m.place(base)
		for _, name := range []string{
			m.Groups[1].Files[1].Path, m.Deltas[0].Path, m.Stats["bloom_filter.100"].Paths[0],
		} {
			if rest, ok := strings.CutPrefix(name, base+"/_"); !ok || strings.Contains(rest, "insert_log") {
				t.Errorf("%s: %s", base, name)
			}
		}
	}
	m := &Manifest{Deltas: []Delta{{Path: "/var/lib/milvus/insert_log/1/2/3/_delta/7"}, {Path: "/elsewhere/7"}}}
	m.place("insert_log/1/2/3")
	if m.Deltas[0].Path != "insert_log/1/2/3/_delta/7" || m.Deltas[1].Path != "/elsewhere/7" {
		t.Errorf("absolute: %+v", m.Deltas)
	}
}
