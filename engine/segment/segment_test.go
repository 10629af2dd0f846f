package segment_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
	"kitescope/engine/dist"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/manifest"
	"kitescope/engine/object"
	"kitescope/engine/object/objecttest"
	"kitescope/engine/segment"
	"kitescope/engine/segment/segmenttest"
)

// memory is an in-memory store of files.
type memory map[string][]byte

func (memory) Close() error { return nil }

func (m memory) List(ctx context.Context, prefix string) ([]object.File, error) {
	return objecttest.Files(m).List(ctx, prefix)
}

func (m memory) Open(ctx context.Context, name string) (object.Reader, error) {
	return objecttest.Files(m).Open(ctx, name)
}

const (
	keyField, vectorField = 100, 101
	epoch                 = 470590000000000000 // key i of engine/binlog's test delta logs is deleted at epoch+i
)

var schema = segment.Schema{PrimaryKey: keyField, Vector: vectorField, Metric: dist.L2}

// rows holds the rows of a segment.
type rows struct {
	keys    []int64
	strings []string
	values  [][]float32
	at      []int64 // timestamps; nil means epoch
	commit  uint64  // CommitAt of the segment; 0 for none
}

// insert writes the insert logs of segment id, one for each field.
func (m memory) insert(t *testing.T, id int64, r *rows) {
	t.Helper()
	n := len(r.values)
	v, err := engine.FromFloat32s(len(r.values[0]), slices.Concat(r.values...))
	if err != nil {
		t.Fatal(err)
	}
	at := r.at
	if at == nil {
		at = slices.Repeat([]int64{epoch}, n)
	}
	key := &binlog.Column{Descriptor: binlog.Descriptor{Field: keyField, Type: binlog.Int64}, Int64s: r.keys}
	if r.strings != nil {
		key = &binlog.Column{Descriptor: binlog.Descriptor{Field: keyField, Type: binlog.VarChar}, Strings: r.strings}
	}
	for _, c := range []*binlog.Column{
		key,
		{Descriptor: binlog.Descriptor{Field: segment.TimestampField, Type: binlog.Int64}, Int64s: at},
		{Descriptor: binlog.Descriptor{Field: vectorField, Type: binlog.FloatVector}, Vectors: v},
	} {
		c.Rows = n
		if c.Field == keyField {
			c.Rows = max(len(r.keys), len(r.strings))
		}
		var b bytes.Buffer
		if err := binlogtest.WriteColumn(&b, c); err != nil {
			t.Fatal(err)
		}
		m[fmt.Sprintf("insert_log/1/2/%d/%d/7", id, c.Field)] = b.Bytes()
	}
}

// index writes the blob of an index of a field.
func (m memory) index(t *testing.T, id, build, field int64, name string, blob []byte) {
	t.Helper()
	var b bytes.Buffer
	d := binlog.Descriptor{Collection: 1, Partition: 2, Segment: id, Field: field}
	if err := binlogtest.WriteIndexFile(&b, d, build, blob); err != nil {
		t.Fatal(err)
	}
	m[fmt.Sprintf("index_files/%d/1/2/%d/%s", build, id, name)] = b.Bytes()
}

// line returns rows at 0, 1, 2, ... with keys from first on.
func line(n int, first int64) *rows {
	r := &rows{}
	for i := range n {
		r.keys = append(r.keys, first+int64(i))
		r.values = append(r.values, []float32{float32(i), 0})
	}
	return r
}

// graph returns an HNSW blob of the values for a metric.
func graph(t *testing.T, values [][]float32, metric engine.Metric) []byte {
	t.Helper()
	v, err := engine.FromFloat32s(len(values[0]), slices.Concat(values...))
	if err != nil {
		t.Fatal(err)
	}
	x, err := hnsw.Build(t.Context(), v, hnsw.BuildOptions{
		M: 4, EFConstruction: 20, Seed: 1, Threads: 1, Metric: metric, Library: engine.HNSWLib,
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := index.WriteKnowhere(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// openOne opens segment id of a store.
func openOne(
	t *testing.T, m memory, id int64, schema segment.Schema, deletes *binlog.Deltas,
) (*segment.Segment, error) {
	t.Helper()
	files, err := segmenttest.Find(t.Context(), m, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Segment == id {
			s, err := segment.Open(t.Context(), m, f, schema, segment.NewDeletes(deletes))
			if err == nil {
				t.Cleanup(s.Release)
			}
			return s, err
		}
	}
	t.Fatalf("segment %d is not found", id)
	return nil, nil
}

func TestFind(t *testing.T) {
	m := memory{}
	for _, name := range []string{
		"files/insert_log/1/2/3/100/8", "files/insert_log/1/2/3/100/9", "files/insert_log/1/2/3/101/8",
		"files/delta_log/1/2/3/10", "files/stats_log/1/2/3/100/1",
		"files/index_files/50/1/2/3/HNSW", "files/index_files/50/2/2/3/HNSW_0", "files/index_files/50/2/2/3/HNSW_1",
		// Segment 4 has no insert logs.
		"files/index_files/9/7/2/3/HNSW", "files/index_v1/1/2/3/55/1/HNSW", "files/index_files/60/1/2/4/HNSW",
		"files/insert_log/1/2/x/100/8", "files/insert_log/1/2", "files/insert_log", "files/delta_log/1/2/5/11",
		"files/insert_log/1/2/6/0/12", "other/insert_log/1/2/77/100/1",
	} {
		m[name] = nil
	}
	got, err := segmenttest.Find(t.Context(), m, "files")
	if err != nil {
		t.Fatal(err)
	}
	want := []*segment.Files{
		{
			Collection: 1, Partition: 2, Segment: 3, Delta: []string{"files/delta_log/1/2/3/10"},
			Insert: map[int64][]string{
				100: {"files/insert_log/1/2/3/100/8", "files/insert_log/1/2/3/100/9"},
				101: {"files/insert_log/1/2/3/101/8"},
			},
			Indexes: []string{
				"files/index_v1/1/2/3/55/1", "files/index_files/50/2/2/3", "files/index_files/50/1/2/3",
				"files/index_files/9/7/2/3",
			},
		},
		{Collection: 1, Partition: 2, Segment: 6, Insert: map[int64][]string{0: {"files/insert_log/1/2/6/0/12"}}},
	}
	slices.SortFunc(got, func(a, b *segment.Files) int { return int(a.Segment - b.Segment) })
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func deleted(s *segment.Segment) (list []int) {
	for i := range s.Rows {
		if s.Deleted.Has(i) {
			list = append(list, i)
		}
	}
	return list
}

func TestDeletes(t *testing.T) {
	log := func(name string) []byte {
		b, err := os.ReadFile("../binlog/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	values := [][]float32{{0, 0}, {1, 0}, {2, 0}, {3, 0}}
	for name, c := range map[string]struct {
		rows  rows
		delta string
		more  *binlog.Deltas
		want  []int
		err   string
	}{
		"no deletes":      {rows: rows{keys: []int64{1, 2, 3, 4}}},
		"keys of the log": {rows: rows{keys: []int64{48, 49, 50, -1}}, delta: "delta", want: []int{0, 1}},
		"inserted again": {
			rows:  rows{keys: []int64{20, 20, 20, 99}, at: []int64{epoch, epoch + 20, epoch + 21, epoch}},
			delta: "delta", want: []int{0, 1},
		},
		"committed after it": {rows: rows{keys: []int64{48, 49, 50, -1}, commit: epoch + 1000}, delta: "delta"},
		"committed before it": {
			rows: rows{
				keys: []int64{20, 20, 20, 99}, at: []int64{epoch, epoch + 20, epoch + 21, epoch}, commit: epoch,
			},
			delta: "delta", want: []int{0, 1, 2},
		},
		"texts": {
			rows:  rows{strings: []string{"k49", "k50", "k0", ""}, at: []int64{epoch, epoch, epoch + 1, epoch}},
			delta: "delta-text", want: []int{0},
		},
		"from elsewhere": {
			rows: rows{keys: []int64{7, 8, 7, 9}},
			more: &binlog.Deltas{Int64s: []int64{7, 9}, Timestamps: []uint64{epoch, epoch - 1}}, want: []int{0, 2},
		},
		"both": {
			rows: rows{keys: []int64{7, 99, 98, 9}}, delta: "delta",
			more: &binlog.Deltas{Int64s: []int64{98}, Timestamps: []uint64{epoch}}, want: []int{0, 2, 3},
		},
		"the last one counts": {
			rows: rows{keys: []int64{7, 8, 9, 10}},
			more: &binlog.Deltas{Int64s: []int64{8, 8, 8}, Timestamps: []uint64{1, epoch + 1, 2}}, want: []int{1},
		},
		"keys of a type": {
			rows: rows{keys: []int64{1, 2, 3, 4}}, delta: "delta-text", err: "deleted keys are of another type",
		},
		"texts, but numbers": {
			rows: rows{strings: []string{"1", "2", "3", "4"}}, delta: "delta", err: "deleted keys are of another type",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory{}
			c.rows.values = values
			m.insert(t, 3, &c.rows)
			if c.delta != "" {
				m["delta_log/1/2/3/9"] = log(c.delta)
			}
			files, err := segmenttest.Find(t.Context(), m, "")
			if err != nil {
				t.Fatal(err)
			}
			files[0].CommitAt = c.rows.commit
			s, err := segment.Open(t.Context(), m, files[0], schema, segment.NewDeletes(c.more))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) ||
					!strings.Contains(err.Error(), "read segment 3") {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Release()
			if got := deleted(s); !slices.Equal(got, c.want) {
				t.Errorf("%v are deleted, want %v", got, c.want)
			}
		})
	}
}

func TestOpenTakesTheIndexOfTheVectors(t *testing.T) {
	r := line(60, 0)
	blob := graph(t, r.values, dist.L2)
	quantised, err := os.ReadFile("../index/testdata/refused_nsg.bin")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		put     func(m memory)
		build   bool // an index is expected
		refused string
		err     string
	}{
		"none":           {put: func(memory) {}},
		"one":            {put: func(m memory) { m.index(t, 3, 50, vectorField, "HNSW", blob) }, build: true},
		"of another one": {put: func(m memory) { m.index(t, 3, 50, keyField, "STL_SORT", []byte("numbers")) }},
		"newer one of another field": {put: func(m memory) {
			m.index(t, 3, 51, keyField, "STL_SORT", []byte("numbers"))
			m.index(t, 3, 50, vectorField, "HNSW", blob)
		}, build: true},
		"the newer": {put: func(m memory) {
			m.index(t, 3, 9, vectorField, "HNSW", graph(t, r.values[:10], dist.L2))
			m.index(t, 3, 50, vectorField, "HNSW", blob)
		}, build: true},
		"not supported": {
			put: func(m memory) { m.index(t, 3, 50, vectorField, "HNSW_SQ", quantised) },
			refused: "index type faiss INSf is not supported; kitescope replay compares the vectors of its insert " +
				"logs row by row",
		},
		"DISKANN": {
			put:     func(m memory) { m.index(t, 3, 50, vectorField, "_disk.index_meta", []byte("meta")) },
			refused: "is not supported",
		},
		"rows": {
			put: func(m memory) { m.index(t, 3, 50, vectorField, "HNSW", graph(t, r.values[:59], dist.L2)) },
			err: "an index of 59 rows, the insert logs have 60",
		},
		"dimension": {put: func(m memory) {
			m.index(t, 3, 50, vectorField, "HNSW", graph(t, slices.Repeat([][]float32{{1, 2, 3}}, 60), dist.L2))
		}, err: "vectors of 2 dimensions"},
		"metric": {
			put: func(m memory) { m.index(t, 3, 50, vectorField, "HNSW", graph(t, r.values, dist.InnerProduct)) },
			err: "its metric is IP, that of the collection L2",
		},
		"cut short": {
			put: func(m memory) { m.index(t, 3, 50, vectorField, "HNSW", blob[:len(blob)-9]) },
			err: "index_files/50/1/2/3",
		},
		"of bytes": {put: func(m memory) {
			b := bytes.Clone(blob)
			binary.LittleEndian.PutUint64(b[8:], 2) // size of a vector in bytes: int8
			m.index(t, 3, 50, vectorField, "HNSW", b)
		}, err: "index_files/50/1/2/3"},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory{}
			m.insert(t, 3, r)
			c.put(m)
			s, err := openOne(t, m, 3, schema, nil)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) ||
					!strings.Contains(err.Error(), "read segment 3") {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (s.Index != nil) != c.build || (s.IndexErr != nil) != (c.refused != "") {
				t.Fatalf("index %v, refused: %v", s.Index, s.IndexErr)
			}
			if c.refused != "" && !strings.Contains(s.IndexErr.Error(), c.refused) {
				t.Errorf("refused: %v, want %q", s.IndexErr, c.refused)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := memory{}
	whole.insert(t, 3, line(5, 0))
	for name, c := range map[string]struct {
		edit   func(m memory)
		schema segment.Schema
		want   string
	}{
		"no vectors": {
			func(m memory) { delete(m, "insert_log/1/2/3/101/7") }, schema, "no insert logs of field 101",
		},
		"no keys": {
			func(m memory) { delete(m, "insert_log/1/2/3/100/7") }, schema, "no insert logs of field 100",
		},
		"no timestamps": {func(m memory) { delete(m, "insert_log/1/2/3/1/7") }, schema, "no insert logs of field 1"},
		"vectors as keys": {
			func(memory) {}, segment.Schema{PrimaryKey: vectorField, Vector: vectorField}, "not a primary key type",
		},
		"keys as vectors": {
			func(memory) {}, segment.Schema{PrimaryKey: keyField, Vector: keyField}, "expected vectors",
		},
		"fewer keys": {func(m memory) {
			other := memory{}
			r := line(5, 0)
			r.keys = r.keys[:4]
			other.insert(t, 3, r)
			m["insert_log/1/2/3/100/7"] = other["insert_log/1/2/3/100/7"]
		}, schema, "5 vectors, 4 primary keys and 5 timestamps"},
		"damaged": {
			func(m memory) { m["insert_log/1/2/3/101/7"] = m["insert_log/1/2/3/101/7"][:100] }, schema,
			"read insert_log/1/2/3/101/7",
		},
		"damaged head": {func(m memory) { m["insert_log/1/2/3/1/7"] = []byte("x") }, schema, "insert_log/1/2/3/1/7"},
		"delta":        {func(m memory) { m["delta_log/1/2/3/9"] = []byte("nothing") }, schema, "delta_log/1/2/3/9"},
	} {
		m := maps.Clone(whole)
		c.edit(m)
		if _, err := openOne(t, m, 3, c.schema, nil); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "read segment 3: ") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	gone := &segment.Files{Segment: 4, Insert: map[int64][]string{100: {"a"}, 101: {"b"}, 1: {"c"}}}
	if _, err := segment.Open(t.Context(), memory{}, gone, schema); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "open c") {
		t.Errorf("logs that are not there: %v", err)
	}
}

// TestPackedLogs checks that packed logs are detected by their content. Keys are 3i-5 (testdata/packed.py of
// engine/binlog).
func TestPackedLogs(t *testing.T) {
	m := memory{}
	for i, name := range []string{"packed-1", "packed-2"} {
		b, err := os.ReadFile("../binlog/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		m[fmt.Sprintf("insert_log/1/2/3/0/%d", i+1)] = b
	}
	packed := segment.Schema{
		PrimaryKey: 100, Vector: 102, Types: map[int64]binlog.Type{100: binlog.Int64, 102: binlog.FloatVector},
	}
	s, err := openOne(t, m, 3, packed, &binlog.Deltas{Int64s: []int64{-5}, Timestamps: []uint64{epoch}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Rows != 1000 || s.Key(999) != engine.NumberKey(2992) || s.Vectors.Dim != 4 || s.Timestamps[7] != epoch ||
		!slices.Equal(deleted(s), []int{0}) {
		t.Errorf("%d rows of %d, the last key is %s, deleted are %v", s.Rows, s.Vectors.Dim, s.Key(999), deleted(s))
	}
	packed.Vector = 777
	if _, err := openOne(t, m, 3, packed, nil); err == nil ||
		!strings.Contains(err.Error(), "no column of field 777 in any of 1 column groups") {
		t.Errorf("a field that is not there: %v", err)
	}
}

// TestManifest reads a segment of storage version 3 that the C++ library wrote in three transactions
// (engine/manifest/testdata).
func TestManifest(t *testing.T) {
	const folder = "../manifest/testdata/segment"
	store, err := object.OpenFolder(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	schema := segment.Schema{
		PrimaryKey: 100, Vector: 101, Metric: dist.L2,
		Types: map[int64]binlog.Type{100: binlog.Int64, 101: binlog.FloatVector},
	}
	files := func(version int64) *segment.Files {
		place := manifest.Place{Base: "insert_log/1/2/3", Version: version}
		return &segment.Files{Collection: 1, Partition: 2, Segment: 3, Manifest: place.Name("files")}
	}
	want, err := os.ReadFile(folder + "/vectors.npy")
	if err != nil {
		t.Fatal(err)
	}
	want = want[128:] // after numpy's header
	for version, rows := range map[int64]int{1: 120, 2: 200} {
		s, err := segment.Open(t.Context(), store, files(version), schema)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Release()
		if s.Rows != rows || s.Int64s[rows-1] != int64(rows-1)*3 || s.Timestamps[7] != 455000000000000007 {
			t.Errorf("version %d: %d rows, keys %v", version, s.Rows, s.Int64s[:min(5, len(s.Int64s))])
		}
		for row := range s.Rows {
			if size := s.Vectors.Size(); !bytes.Equal(s.Vectors.Row(row), want[row*size:(row+1)*size]) {
				t.Fatalf("version %d: row %d differs", version, row)
			}
		}
	}
	s, err := segment.Open(t.Context(), store, files(3), schema)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	if s.Rows != 200 || s.Deleted.Count() != 25 || !s.Deleted.Has(0) || !s.Deleted.Has(24) || s.Deleted.Has(25) {
		t.Errorf("the delta log of keys 0 to 72: %d rows, %d deleted", s.Rows, s.Deleted.Count())
	}
	if _, err := segment.Open(t.Context(), store, files(4), schema); err == nil ||
		!strings.Contains(err.Error(), "manifest-4.avro") {
		t.Errorf("a manifest that nothing wrote: %v", err)
	}
	container, err := object.OpenFolder("../manifest/testdata/container")
	if err != nil {
		t.Fatal(err)
	}
	defer container.Close()
	if _, err := segment.Open(t.Context(), container, &segment.Files{Segment: 3, Manifest: "_metadata/manifest-7.avro"},
		schema); err == nil ||
		!strings.Contains(err.Error(), `column group 1 (101): file format "vortex" is not supported`) {
		t.Errorf("vortex: %v", err)
	}
}
