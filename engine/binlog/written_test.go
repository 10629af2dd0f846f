package binlog

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"kitescope/engine"
	"kitescope/engine/object"
	"kitescope/engine/object/objecttest"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// files is an in-memory store of files.
type files = objecttest.Files

func fileOf(b []byte) object.Reader { return objecttest.File(b) }

func encodeColumn(t testing.TB, c *Column) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteColumn(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// columnOf returns a column of random values. If nulls is set, a third of the rows are null.
func columnOf(t testing.TB, kind Type, rows int, nulls bool) *Column {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(kind), 7))
	c := &Column{
		Descriptor: Descriptor{Collection: 1, Partition: 2, Segment: 3, Field: 100, Start: 5, End: 9, Type: kind},
		Rows:       rows,
	}
	if nulls {
		c.Valid = engine.NewBitset(rows)
	}
	valid := func(i int) bool {
		if nulls && i%3 != 1 && i/50 != 2 {
			c.Valid.Set(i)
		}
		return !nulls || c.Valid.Has(i)
	}
	if element, ok := kind.Element(); ok {
		v, err := engine.NewVectors(element, 24, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if valid(i) {
				row := v.Row(i)
				for j := range row {
					row[j] = byte(r.Uint32())
				}
			}
		}
		c.Vectors = v
		return c
	}
	for i := range rows {
		ok := valid(i)
		switch kind {
		case Float, Double:
			c.Floats = append(c.Floats, 0)
			if ok {
				c.Floats[i] = float64(float32(r.NormFloat64()))
			}
		case String, VarChar, Text, Array, JSON, Geometry:
			c.Strings = append(c.Strings, "")
			if ok {
				c.Strings[i] = strings.Repeat("ä", r.IntN(9))
			}
		default:
			c.Int64s = append(c.Int64s, 0)
			if ok {
				bits := map[Type]int{Bool: 1, Int8: 8, Int16: 16, Int32: 32, Int64: 64, Timestamptz: 64}[kind]
				c.Int64s[i] = int64(r.Uint64()) >> (64 - bits)
				if kind == Bool {
					c.Int64s[i] &= 1
				}
			}
		}
	}
	return c
}

// equal compares columns, vectors row by row, because their strides may differ.
func equal(t *testing.T, want, got *Column) {
	t.Helper()
	a, b := *want, *got
	a.Vectors, b.Vectors = nil, nil
	a.Extras, b.Extras = nil, nil
	a.Valid, b.Valid = nil, nil
	if a.Rows == 0 {
		a.Int64s, a.Floats, a.Strings = b.Int64s, b.Floats, b.Strings
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("%v: (-want +got)\n%s", want.Type, d)
	}
	if want.Valid.Count() == want.Rows { // no row is null, so there is nothing to mark
		want.Valid = nil
	}
	if !slices.Equal(want.Valid.Words(), got.Valid.Words()) || want.Valid.Len() != got.Valid.Len() {
		t.Errorf("%v: %d valid rows of %d, expected %d of %d", want.Type, got.Valid.Count(), got.Valid.Len(),
			want.Valid.Count(), want.Valid.Len())
	}
	if want.Vectors != nil {
		if w, g := want.Vectors, got.Vectors; g.Dim != w.Dim || g.Element != w.Element || g.Rows != w.Rows ||
			digest(want) != digest(got) {
			t.Errorf("%v: %d vectors of %d dimensions differ from %d of %d", want.Type, g.Rows, g.Dim, w.Rows, w.Dim)
		}
	}
}

var allTypes = []Type{
	Bool, Int8, Int16, Int32, Int64, Float, Double, String, VarChar, Array, JSON, Geometry, Text, Timestamptz,
	BinaryVector, FloatVector, Float16Vector, BFloat16Vector, Int8Vector,
}

func TestColumnsOfEveryType(t *testing.T) {
	for _, kind := range allTypes {
		for _, rows := range []int{0, 1, 3000} {
			for _, nulls := range []bool{false, rows > 0} {
				want := columnOf(t, kind, rows, nulls)
				got, err := ReadColumn(t.Context(), fileOf(encodeColumn(t, want)), "log")
				if err != nil {
					t.Errorf("%v, %d rows: %v", kind, rows, err)
					continue
				}
				equal(t, want, got)
			}
		}
	}
}

// TestLargeColumn reads a column that is large enough for several goroutines, and whose writer abandons the
// dictionary.
func TestLargeColumn(t *testing.T) {
	for _, kind := range []Type{Int64, FloatVector, VarChar} {
		want := columnOf(t, kind, 60_000, kind == Int64)
		got, err := ReadColumn(t.Context(), fileOf(encodeColumn(t, want)), "log")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, want, got)
	}
}

func TestLogsAreConcatenatedByNumber(t *testing.T) {
	store := files{}
	for _, id := range []int64{9, 10, 100, 11} {
		c := &Column{
			Descriptor: Descriptor{Segment: 3, Field: 100, Type: Int64, Start: uint64(id), End: uint64(2 * id)},
			Rows:       2, Int64s: []int64{id, -id},
		}
		store[fmt.Sprintf("insert_log/1/2/3/100/%d", id)] = encodeColumn(t, c)
	}
	c, err := ReadColumns(t.Context(), store, sortedKeys(store))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{9, -9, 10, -10, 11, -11, 100, -100}, c.Int64s); d != "" || c.Start != 9 || c.End != 200 {
		t.Errorf("%d to %d (-want +got)\n%s", c.Start, c.End, d)
	}
	other := &Column{Descriptor: Descriptor{Segment: 4, Field: 100, Type: Int64}, Rows: 1, Int64s: []int64{1}}
	store["insert_log/1/2/3/100/12"] = encodeColumn(t, other)
	if _, err := ReadColumns(t.Context(), store, sortedKeys(store)); err == nil ||
		!strings.Contains(err.Error(), "segment 4") {
		t.Errorf("logs of two segments: %v", err)
	}
	if _, err := ReadColumns(t.Context(), store, []string{"insert_log/1/2/3/100/13"}); err == nil {
		t.Error("a log that is not there was read")
	}
}

func TestRefusedColumns(t *testing.T) {
	vectors := columnOf(t, FloatVector, 3, false)
	for want, edit := range map[string]func(d *Descriptor){
		"SparseFloatVector: parquet type":   func(d *Descriptor) { d.Type = SparseFloatVector },
		"ArrayOfVector is not supported":    func(d *Descriptor) { d.Type = ArrayOfVector },
		"DataType(77) is not a column type": func(d *Descriptor) { d.Type = 77 },
		"None is not a column type":         func(d *Descriptor) { d.Type = None },
		"holds no integers":                 func(d *Descriptor) { d.Type = Int64 },
		"holds no floats":                   func(d *Descriptor) { d.Type = Double },
		"holds no strings":                  func(d *Descriptor) { d.Type = JSON },
		"encrypted at rest":                 func(d *Descriptor) { d.Extras = map[string]string{"edek": "key"} },
	} {
		c := *vectors
		b := encodeColumn(t, &c)
		d := c.Descriptor
		edit(&d)
		var again bytes.Buffer
		_, payloads, err := readEvents(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if err := writeEvents(&again, d, insertEvent, 0, b[payloads[0].at:]); err != nil {
			t.Fatal(err)
		}
		_, err = ReadColumn(t.Context(), fileOf(again.Bytes()), "insert_log/x")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "read insert_log/x") {
			t.Errorf("%v; expected %q", err, want)
		}
	}
}

// TestPackedLogs reads logs of storage version 2 and newer delta logs, written by pyarrow (testdata/packed.py).
func TestPackedLogs(t *testing.T) {
	store, err := object.OpenFolder("testdata")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	types := map[int64]Type{
		0: Int64, 1: Int64, 100: Int64, 101: VarChar, 102: FloatVector, 103: Bool, 104: Double, 105: Int8, 999: Int64,
	}
	for _, names := range [][]string{{"packed-1", "packed-2"}, {"packed-v2-snappy"}, {"packed-plain"}} {
		got, err := ReadPacked(t.Context(), store, names, types)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(got) != len(types)-1 {
			t.Errorf("%v: %d columns", names, len(got))
		}
		checkPacked(t, got)
	}
	if _, err := ReadPacked(t.Context(), store, []string{"packed-1"}, map[int64]Type{106: Array}); err == nil ||
		!strings.Contains(err.Error(), "repeated or in a group") {
		t.Errorf("a list: %v", err)
	}
	if _, err := ReadPacked(t.Context(), store, []string{"packed-1"}, map[int64]Type{100: FloatVector}); err == nil ||
		!strings.Contains(err.Error(), "holds no FloatVector") {
		t.Errorf("keys as vectors: %v", err)
	}
	if _, err := ReadPacked(t.Context(), store, []string{"unsupported"}, map[int64]Type{100: Int64}); err == nil ||
		!strings.Contains(err.Error(), "DELTA_BINARY_PACKED") {
		t.Errorf("an encoding that is not read: %v", err)
	}
	for _, name := range []string{"delta", "delta-text"} {
		d, err := ReadDeltas(t.Context(), store, []string{name})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(d.Int64s)+len(d.Strings) != 50 || d.Timestamps[49] != 470590000000000049 {
			t.Errorf("%s: %d and %d keys", name, len(d.Int64s), len(d.Strings))
		}
		if name == "delta" && d.Int64s[49] != 49 || name == "delta-text" && d.Strings[49] != "k49" {
			t.Errorf("%s: the last key is wrong", name)
		}
	}
}

func checkPacked(t *testing.T, got map[int64]*Column) {
	t.Helper()
	for i := range 1000 {
		f := float32(i)
		if got[0].Int64s[i] != int64(i) || got[1].Int64s[i] != 470590000000000000 ||
			got[100].Int64s[i] != int64(3*i-5) || got[105].Int64s[i] != int64(i%256-128) {
			t.Fatalf("row %d: a wrong integer", i)
		}
		if d := cmp.Diff([]float32{f, f + .125, f + .25, -f}, got[102].Vectors.Float32(i)); d != "" {
			t.Fatalf("row %d: (-want +got)\n%s", i, d)
		}
		name, flag, score := strings.Repeat(fmt.Sprintf("v%d", i), i%5), int64((i+1)%2), float64(i)/8
		if i%7 == 3 {
			name = ""
		}
		if i%11 == 0 {
			flag = 0
		}
		if i/100 == 2 {
			score = 0
		}
		if got[101].Strings[i] != name || got[101].Valid.Has(i) != (i%7 != 3) || got[103].Int64s[i] != flag ||
			got[103].Valid.Has(i) != (i%11 != 0) || got[104].Floats[i] != score ||
			got[104].Valid.Has(i) != (i/100 != 2) {
			t.Fatalf("row %d: %q, %d, %v", i, got[101].Strings[i], got[103].Int64s[i], got[104].Floats[i])
		}
	}
}

func TestDeltaForms(t *testing.T) {
	log := func(kind byte, extras map[string]string, texts ...string) []byte {
		body, err := WriteParquet(parquet.Encoded(parquet.String(), &parquet.Plain), len(texts),
			func(i int) parquet.Value { return parquet.ByteArrayValue([]byte(texts[i])) })
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := writeEvents(&b, Descriptor{Segment: 3, Field: -1, Type: String, Extras: extras}, kind, 0,
			body); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	multi, err := object.OpenFolder("testdata")
	if err != nil {
		t.Fatal(err)
	}
	defer multi.Close()
	r, _ := multi.Open(t.Context(), "delta-text")
	plain := make([]byte, r.Size())
	r.ReadAt(plain, 0)
	var event bytes.Buffer
	writeEvents(&event, Descriptor{Segment: 3, Type: Int64, Extras: map[string]string{"version": "MULTI_FIELD"}},
		deleteEvent, 0, plain)
	store := files{
		"int/1":    log(deleteEvent, nil, "7,100", "-8,18446744073709551615"),
		"int/2":    log(deleteEvent, nil, `{"pk":9223372036854775807,"ts":200,"pkType":5}`, `{"ts":1,"pk":-1}`),
		"text/1":   log(deleteEvent, nil, `{"pk":"a,\"b","ts":200,"pkType":21}`),
		"text/2":   event.Bytes(),
		"bad/1":    log(deleteEvent, nil, `{"pk":"a"}`),
		"bad/2":    log(deleteEvent, nil, `7`),
		"bad/3":    log(deleteEvent, nil, `{"pk":1.5,"ts":1}`),
		"bad/4":    log(deleteEvent, nil, `{"pk":"a","ts":1}`, `{"pk":1,"ts":1}`),
		"bad/5":    log(deleteEvent, map[string]string{"version": "MULTI_FIELD"}, "7,100"),
		"empty/1":  log(deleteEvent, nil),
		"short/10": []byte("PAR"),
	}
	d, err := ReadDeltas(t.Context(), store, []string{"int/2", "int/1"})
	if err != nil {
		t.Fatal(err)
	}
	want := &Deltas{Int64s: []int64{7, -8, math.MaxInt64, -1}, Timestamps: []uint64{100, math.MaxUint64, 200, 1}}
	d.Descriptor = Descriptor{}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	d, err = ReadDeltas(t.Context(), store, []string{"text/1", "text/2"})
	if err != nil || len(d.Strings) != 51 || d.Strings[0] != `a,"b` || d.Strings[50] != "k49" || d.Segment != 3 {
		t.Errorf("text keys: %v", err)
	}
	if d, err := ReadDeltas(t.Context(), store, []string{"empty/1"}); err != nil || len(d.Timestamps) != 0 {
		t.Errorf("an empty log: %v", err)
	}
	for _, names := range [][]string{
		{"bad/1"}, {"bad/2"}, {"bad/3"}, {"bad/4"}, {"bad/5"}, {"short/10"}, {"int/1", "text/1"}, {"none"},
	} {
		if d, err := ReadDeltas(t.Context(), store, names); err == nil {
			t.Errorf("%v was read: %v", names, d)
		}
	}
}
