package binlog

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine/object"
)

// storage contains files that real servers wrote. Its README describes them.
const storage = "../../testdata/storage"

func openStorage(t testing.TB, dir string) object.Store {
	t.Helper()
	s, err := object.OpenFolder(path.Join(storage, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func lines(t testing.TB, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile(path.Join(storage, name))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		all = append(all, strings.Split(s.Text(), "\t"))
	}
	return all
}

// digest returns the SHA-256 of a column's values in the format of values.py.
func digest(c *Column) string {
	h := sha256.New()
	number := func(v uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	for _, v := range c.Int64s {
		number(uint64(v))
	}
	for _, v := range c.Floats {
		number(math.Float64bits(v))
	}
	for _, v := range c.Strings {
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(v))))
		io.WriteString(h, v)
	}
	if c.Vectors != nil {
		for i := range c.Vectors.Rows {
			h.Write(c.Vectors.Row(i))
		}
	}
	return sum(h)
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// TestValuesEqualThoseOfPyarrow checks that every insert, delta and index file of four servers has the values that
// pyarrow reads.
func TestValuesEqualThoseOfPyarrow(t *testing.T) {
	s := openStorage(t, ".")
	kinds := map[string]int{}
	for _, line := range lines(t, "values.tsv") {
		name, kind, rows, want := line[0], line[1], line[2], line[3]
		var got string
		var n int
		if strings.Contains(name, "index_files/") {
			x, err := ReadIndex(t.Context(), s, path.Dir(name))
			if err != nil {
				t.Error(err)
				continue
			}
			if path.Base(name) == indexParams {
				continue // decoded: TestIndexes
			}
			blob := x.Blobs[path.Base(name)].Bytes()
			n, got = len(blob), fmt.Sprintf("%x", sha256.Sum256(blob))
			x.Release()
		} else {
			c, err := ReadColumns(t.Context(), s, []string{name})
			if err != nil {
				t.Error(err)
				continue
			}
			n, got = c.Rows, digest(c)
			if strconv.Itoa(int(c.Type)) != kind {
				t.Errorf("%s: type %v, expected %s", name, c.Type, kind)
			}
			c.Release()
		}
		kinds[kind]++
		if strconv.Itoa(n) != rows || got != want {
			t.Errorf("%s: %d rows with digest %s, pyarrow has %s with %s", name, n, got, rows, want)
		}
	}
	want := map[string]int{
		"1": 3, "2": 30, "3": 3, "4": 3, "5": 159, "10": 7, "11": 3, "20": 1, "21": 33, "22": 1, "23": 2, "100": 3,
		"101": 52,
	}
	if d := cmp.Diff(want, kinds); d != "" {
		t.Errorf("files by type (-want +got)\n%s", d)
	}
}

// segments returns the insert logs of a collection by segment and field.
func segments(t testing.TB, s object.Store, prefix string) map[string]map[int64][]string {
	t.Helper()
	files, err := s.List(context.Background(), prefix)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files below %s, %v", len(files), prefix, err)
	}
	all := map[string]map[int64][]string{}
	for _, f := range files {
		steps := strings.Split(f.Name, "/")
		segment, id := steps[len(steps)-3], steps[len(steps)-2]
		field, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if all[segment] == nil {
			all[segment] = map[int64][]string{}
		}
		all[segment][field] = append(all[segment][field], f.Name)
	}
	return all
}

// TestVectorsEqualTheInserted checks that the logs hold the inserted vectors, each at its primary key.
func TestVectorsEqualTheInserted(t *testing.T) {
	inserted := map[string]string{}
	for _, line := range lines(t, "vectors.tsv") {
		inserted[line[0]] = line[3]
	}
	for _, c := range []struct {
		dir, prefix, name string
		field             int64
	}{
		{"2.1.0", "files/insert_log/470590609802657793/", "truth_small", 103},
		{"2.1.0", "files/insert_log/470590610628411393/", "types_all", 108},
		{"2.1.0", "files/insert_log/470590611571605505/", "hnsw_l2_parts", 102},
		{"2.1.0", "files/insert_log/470590612869480449/", "hnsw_sim", 101},
		{"2.1.0", "files/insert_log/470590614756655105/", "binvec", 101},
		{"2.2.16", "insert_log/470590662752076021/", "truth_small", 103},
		{"2.2.16", "insert_log/470590662752276095/", "types_all", 109},
		{"2.2.16", "insert_log/470590662752276179/", "hnsw_l2_parts", 102},
		{"2.2.16", "insert_log/470590662752276357/", "hnsw_sim", 101},
		{"2.2.16", "insert_log/470590662752276471/", "binvec", 101},
		{"2.3.5", "insert_log/470590760625897534/", "truth_small", 103},
		{"2.3.5", "insert_log/470590760626297597/", "types_all", 110},
		{"2.3.5", "insert_log/470590760626297661/", "hnsw_l2_parts", 102},
		{"2.3.5", "insert_log/470590760626297790/", "hnsw_sim", 101},
		{"2.3.5", "insert_log/470590760626297908/", "binvec", 101},
		{
			"cluster-2.3.5", "files/insert_log/470590569933053232/470590569933053233/470590569932853030/",
			"small_truth", 102,
		},
	} {
		s := openStorage(t, c.dir)
		rows := map[int64][]byte{}
		for _, fields := range segments(t, s, c.prefix) {
			pk, err := ReadColumns(t.Context(), s, fields[100])
			if err != nil {
				t.Fatal(err)
			}
			v, err := ReadColumns(t.Context(), s, fields[c.field])
			if err != nil {
				t.Fatal(err)
			}
			if v.Rows != pk.Rows || v.Vectors.Rows != pk.Rows || v.Field != c.field || v.Segment != pk.Segment ||
				v.Valid != nil {
				t.Fatalf("%s %s: %d vectors of field %d, %d keys", c.dir, c.name, v.Rows, v.Field, pk.Rows)
			}
			for i, id := range pk.Int64s {
				rows[id] = bytes.Clone(v.Vectors.Row(i))
			}
			v.Release()
		}
		h := sha256.New()
		for i := range int64(len(rows)) {
			h.Write(rows[i])
		}
		if sum(h) != inserted[c.name] {
			t.Errorf("%s: the %d vectors of %s differ from those inserted", c.dir, len(rows), c.name)
		}
	}
}

// TestScalarsEqualTheirFormulas checks the collection types_all, which has a formula for each column (see the
// fixture's README).
func TestScalarsEqualTheirFormulas(t *testing.T) {
	s := openStorage(t, "2.3.5")
	for _, fields := range segments(t, s, "insert_log/470590760626297597/") {
		column := func(field int64) *Column {
			c, err := ReadColumns(t.Context(), s, fields[field])
			if err != nil {
				t.Fatal(err)
			}
			if c.Rows != 300 {
				t.Fatalf("field %d: %d rows", field, c.Rows)
			}
			return c
		}
		for i, id := range column(100).Int64s {
			if id != int64(i) {
				t.Fatalf("row %d has the id %d", i, id)
			}
		}
		b, i8, i16, i32, f, d := column(101), column(102), column(103), column(104), column(105), column(106)
		text, j, array := column(107), column(108), column(109)
		for i := range int64(300) {
			is3 := int64(0)
			if i%3 == 0 {
				is3 = 1
			}
			got := []any{
				b.Int64s[i], i8.Int64s[i], i16.Int64s[i], i32.Int64s[i], f.Floats[i], d.Floats[i], text.Strings[i],
			}
			want := []any{
				is3, i%128 - 64, i*3 - 400, i*1000 - 7, float64(i) * .25, float64(i) * .125,
				strings.Repeat("s", int(i%50)) + strconv.FormatInt(i, 10),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("row %d (-want +got)\n%s", i, diff)
			}
			if !strings.Contains(j.Strings[i], fmt.Sprintf(`"k":"v%d"`, i)) &&
				!strings.Contains(j.Strings[i], fmt.Sprintf(`"k": "v%d"`, i)) {
				t.Fatalf("row %d: JSON %s", i, j.Strings[i])
			}
		}
		types := []Type{b.Type, i8.Type, i16.Type, i32.Type, f.Type, d.Type, text.Type, j.Type, array.Type}
		if d := cmp.Diff([]Type{Bool, Int8, Int16, Int32, Float, Double, VarChar, JSON, Array}, types); d != "" {
			t.Errorf("types (-want +got)\n%s", d)
		}
	}
}

func TestIndexes(t *testing.T) {
	type facts struct {
		BuildID, Segment, Field int64
		Type                    string
		Blobs                   string
		Params                  map[string]string
	}
	for dir, want := range map[string]facts{
		"2.1.0/files/index_files/470590612437729282": {
			470590612437729282, 470590611598082050, 102, "HNSW", "HNSW",
			map[string]string{"M": "8", "efConstruction": "100", "index_type": "HNSW", "metric_type": "L2"},
		},
		"2.1.0/files/index_files/470590614613524482": {
			470590614613524482, 470590613957378049, 101, "IVF_FLAT", "IVF RAW_DATA",
			map[string]string{"index_type": "IVF_FLAT", "metric_type": "L2", "nlist": "32"},
		},
		"2.1.0/files/index_files/470590615426170882": {
			470590615426170882, 470590614756655107, 101, "BIN_FLAT", "BinaryIVF",
			map[string]string{"index_type": "BIN_FLAT", "metric_type": "JACCARD"},
		},
		"2.3.5/index_files/470590760626297896": {
			470590760626297896, 470590760626297878, 101, "IVF_FLAT", "IVF_FLAT", nil,
		},
		"2.3.5/index_files/470590760626297819": {470590760626297819, 470590760626297798, 101, "HNSW", "HNSW", nil},
	} {
		x, err := ReadIndex(t.Context(), openStorage(t, "."), dir)
		if err != nil {
			t.Error(err)
			continue
		}
		got := facts{x.BuildID, x.Segment, x.Field, x.Type, strings.Join(sortedKeys(x.Blobs), " "), x.Params}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", dir, d)
		}
		x.Release()
	}
}

func TestDeltaLogOfAServer(t *testing.T) {
	s := openStorage(t, "2.3.5")
	d, err := ReadDeltas(t.Context(), s,
		[]string{"delta_log/470590760626297790/470590760626297791/470590760626297798/470590760626097609"})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Int64s) != 25 || len(d.Timestamps) != 25 || d.Strings != nil || d.Segment != 470590760626297798 {
		t.Fatalf("%d keys of segment %d", len(d.Int64s), d.Segment)
	}
	for i, id := range d.Int64s {
		if id != int64(i) || d.Timestamps[i] != 470590774170091522 {
			t.Errorf("row %d: key %d at %d", i, id, d.Timestamps[i])
		}
	}
}
