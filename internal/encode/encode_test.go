package encode_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"kitescope/internal/encode"
)

func asJSON(t testing.TB, v any, open int) string {
	t.Helper()
	var b bytes.Buffer
	e := encode.JSON(&b, open)
	e.Value(v)
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asYAML(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := encode.YAML(&b)
	e.Value(v)
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type inner struct {
	Node encode.ID
	Part float64
	P    encode.Exact
}

type marked string

func (m marked) MarshalText() ([]byte, error) { return []byte("<" + m + ">"), nil }

type shared struct{ Kind string }

type outer struct {
	shared
	APIName   string `doc:"apiName"`
	SegmentID int64
	Replica   int64 `doc:",id"`
	Rows      int64 `doc:",unknown=-1"`
	Took      time.Duration
	At, Never time.Time
	Seed      uint64
	Notes     []string
	None      []string `doc:",omitzero"`
	Inner     []inner
	Maybe     *inner
	Counts    map[string]int
	Word      marked
	Hidden    int `doc:"-"`
	NaN       float64
	More      any `doc:",inline"`
	small     int
}

func TestValue(t *testing.T) {
	v := &outer{
		shared: shared{"Outer"}, APIName: "a\u202e\x1b\"", SegmentID: 1 << 60, Replica: 7, Rows: -1,
		Took: 1500 * time.Millisecond, At: time.Unix(1_800_000_000, 120e6), Seed: math.MaxUint64,
		Notes: []string{"a", "b"}, Inner: []inner{{1, 12.34567, 1e-12}}, Counts: map[string]int{"b": 2, "a": 1},
		Word: "x", Hidden: 1, NaN: math.NaN(),
		More: encode.Object{{Key: "total", Value: 3}, {Key: "unknown", Value: (*inner)(nil)}}, small: 1,
	}
	want := `{
  "kind": "Outer",
  "apiName": "a\u202e\u001b\"",
  "segment_id": "1152921504606846976",
  "replica": "7",
  "took_seconds": 1.5,
  "at": "2027-01-15T08:00:00.120Z",
  "seed": "18446744073709551615",
  "notes": ["a","b"],
  "inner": [
    {"node":"1","part":12.3457,"p":1e-12}
  ],
  "counts": {"a":1,"b":2},
  "word": "<x>",
  "total": 3
}
`
	if diff := cmp.Diff(want, asJSON(t, v, 1)); diff != "" {
		t.Error(diff)
	}
	want = `kind: Outer
apiName: "a\u202e\u001b\""
segment_id: "1152921504606846976"
replica: "7"
took_seconds: 1.5
at: "2027-01-15T08:00:00.120Z"
seed: "18446744073709551615"
notes:
  - a
  - b
inner:
  - node: "1"
    part: 12.3457
    p: 1.0e-12
counts:
  a: 1
  b: 2
word: "<x>"
total: 3
`
	if diff := cmp.Diff(want, asYAML(t, v)); diff != "" {
		t.Error(diff)
	}
	e, value := encode.Values()
	e.Value(v)
	got, _ := value().(map[string]any)
	if got["took_seconds"] != 1.5 || got["total"] != int64(3) || got["segment_id"] != "1152921504606846976" ||
		got["apiName"] == v.APIName {
		t.Errorf("%v", got)
	}
}

func TestLines(t *testing.T) {
	var b bytes.Buffer
	e := encode.JSON(&b, 0)
	if err := e.Flush(); err != nil || b.Len() > 0 {
		t.Errorf("of nothing: %q, %v", b.String(), err)
	}
	for i := range 2 {
		e.Value(inner{Node: encode.ID(i)})
		e.Line()
	}
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "{\"node\":\"0\",\"part\":0,\"p\":0}\n{\"node\":\"1\",\"part\":0,\"p\":0}\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

func TestEntries(t *testing.T) {
	var b bytes.Buffer
	e := encode.JSON(&b, 0)
	e.BeginObject()
	e.Entry("empty", "")
	e.Entry("unknown", math.NaN())
	e.Entry("never", time.Time{})
	e.Entry("id", encode.ID(1<<60))
	e.Entry("took_seconds", 1500*time.Millisecond)
	e.NonZero("zero", 0)
	e.NonZero("none", []string{})
	e.NonZero("some", []string{"a"})
	e.EndObject()
	if err := e.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := `{"empty":"","id":"1152921504606846976","took_seconds":1.5,"some":["a"]}` + "\n"; b.String() != want {
		t.Errorf("%s, not %s", b.String(), want)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteError(t *testing.T) {
	for _, e := range []*encode.Encoder{encode.JSON(failing{}, 1), encode.YAML(failing{})} {
		e.Value(make([]outer, 1000))
		if err := e.Flush(); err == nil || err.Error() != "disk full" {
			t.Error(err)
		}
	}
}

// random returns a value of nested Objects, lists and scalars, and the expected value after decoding JSON.
func random(r *rand.Rand, depth int) (v, want any) {
	texts := []string{
		"", "yes", "a b", "-1", "1e3", "\u202e", "é", "x:\n- y", "null", "~", "a_b/c.d", "\U000e0001", "0x1f", "1:30",
		"<<", "=", "#", "2026-01-01",
	}
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		s := texts[r.IntN(len(texts))]
		return s, s
	case 1:
		n := int64(r.Uint64()) >> r.IntN(60)
		return n, json.Number(strconv.FormatInt(n, 10))
	case 2:
		n := int64(r.Uint64())
		return encode.ID(n), strconv.FormatInt(n, 10)
	case 3:
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = 0
		}
		return encode.Exact(f), f
	case 4:
		return true, true
	case 5:
		d := time.Duration(r.Int64N(1e12)).Round(time.Millisecond)
		return d, d.Seconds()
	case 6:
		all, wants := []any{}, []any{}
		for range r.IntN(4) {
			x, y := random(r, depth-1)
			all, wants = append(all, x), append(wants, y)
		}
		return all, wants
	default:
		o, wants := encode.Object{}, map[string]any{}
		for i := range r.IntN(4) {
			key := fmt.Sprint(texts[r.IntN(len(texts))], i)
			x, y := random(r, depth-1)
			o.Add(key, x)
			wants[key] = y
		}
		return o, wants
	}
}

// plain converts all numbers to float64.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case json.Number:
		f, _ := v.Float64()
		return f
	case int:
		return float64(v)
	case uint64:
		return float64(v)
	case int64:
		return float64(v)
	}
	return v
}

func TestRandomValuesReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		v, want := random(r, 4)
		want = plain(want)
		for _, open := range []int{0, 1, 2, 64} {
			var got any
			text := asJSON(t, v, open)
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("JSON: %s\n%s", diff, text)
			}
		}
		var got any
		text := asYAML(t, v)
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if diff := cmp.Diff(want, plain(got)); diff != "" {
			t.Fatalf("YAML: %s\n%s", diff, text)
		}
		e, value := encode.Values()
		e.Value(v)
		if _, isText := v.(string); !isText && depthOf(value()) != depthOf(want) {
			t.Fatalf("values: %v, not %v", value(), want)
		}
	}
}

func depthOf(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			n = max(n, depthOf(x))
		}
		return n + 1
	case []any:
		for _, x := range v {
			n = max(n, depthOf(x))
		}
		return n + 1
	}
	return 0
}

type saved struct {
	Name   string
	Took   time.Duration
	Taken  time.Time
	Cores  int     `doc:",omitzero"`
	Recall float64 `doc:",unknown=-1"`
	Rows   int64   `doc:"rows_total,unknown=-1" other:"rows"`
	Seed   uint64
	Place  map[int64]int64 `doc:",id,omitzero"`
	Errors map[string]int64
	Nodes  []savedNode
	Notes  []string
	Maybe  *savedNode
}

type savedNode struct {
	ID   int64
	On   bool
	Part float64
	Dist float32
	Bits int8
}

func (n *savedNode) CheckDoc() error {
	if n.Part < 0 {
		return errors.New("expected a part of 0 or more")
	}
	return nil
}

var file = encode.File{What: "a test", APIVersion: "v1", Kind: "Test", Version: 2, Limit: 1 << 20, Open: 1}

func savedExample() *saved {
	return &saved{
		Name: "n\xff\u202e", Took: 1, Taken: time.Unix(1, 5).UTC(), Cores: 2, Recall: 0.1, Rows: 7,
		Seed: math.MaxUint64, Place: map[int64]int64{1 << 60: 3},
		Errors: map[string]int64{"\xff": 1, "\ufffd": 2}, Nodes: []savedNode{{1, true, 1e-9, 0.1, 127}},
		Notes: []string{"a"}, Maybe: &savedNode{Part: 1.0 / 3},
	}
}

func write(t testing.TB, x *encode.File, v *saved) string {
	t.Helper()
	var b bytes.Buffer
	if err := x.Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFile(t *testing.T) {
	want := `{
  "apiVersion": "v1",
  "kind": "Test",
  "version": 2,
  "name": "n` + "\ufffd" + `\u202e",
  "took_seconds": 0.000000001,
  "taken": "1970-01-01T00:00:01.000000005Z",
  "cores": 2,
  "recall": 0.1,
  "rows_total": 7,
  "seed": "18446744073709551615",
  "place": {"1152921504606846976":"3"},
  "errors": {"` + "\ufffd" + `":3},
  "nodes": [
    {"id":"1","on":true,"part":1e-09,"dist":0.1,"bits":127}
  ],
  "notes": [
    "a"
  ],
  "maybe": {"id":"0","on":false,"part":0.3333333333333333,"dist":0,"bits":0}
}
`
	text := write(t, &file, savedExample())
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
	var got saved
	if _, err := file.Read(strings.NewReader(text), &got); err != nil {
		t.Fatal(err)
	}
	expected := savedExample()
	expected.Name, expected.Errors = "n\ufffd\u202e", map[string]int64{"\ufffd": 3}
	if diff := cmp.Diff(expected, &got); diff != "" {
		t.Error(diff)
	}
	if again := write(t, &file, &got); again != text {
		t.Error(cmp.Diff(text, again))
	}
	other := file
	other.Tag = "other"
	if text := write(t, &other, savedExample()); !strings.Contains(text, `"rows": 7`) {
		t.Error(text)
	}
	var b bytes.Buffer
	e := encode.YAML(&b)
	file.Encode(e, savedExample())
	if err := e.Flush(); err != nil || !strings.Contains(b.String(), "took_seconds: 0.000000001\n") ||
		!strings.Contains(b.String(), "part: 1.0e-09\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestInvalidFiles(t *testing.T) {
	good := write(t, &file, savedExample())
	for name, c := range map[string][3]string{ // text to replace, its replacement, and the expected error
		"another": {
			`"Test"`, `"Tent"`, `read a test: expected apiVersion "v1" and kind "Test", found "v1" and "Tent"`,
		},
		"later":       {`"version": 2`, `"version": 3`, "version 3 is not supported, this kitescope reads up to 2"},
		"early":       {`"version": 2`, `"version": 0`, "version: expected 1, found 0"},
		"unversioned": {`"version": 2`, `"virgin": 2`, "version is missing"},
		"cut":         {`"maybe"`, `{`, "expected JSON: at byte "},
		"missing":     {`"seed"`, `"sead"`, "read a test: seed is missing"},
		"deep":        {`"id":"1"`, `"it":"1"`, "nodes[0].id is missing"},
		"null":        {`"name": "n`, `"name": null, "x": "n`, `name: expected a string, found "null"`},
		"fraction":    {`"cores": 2`, `"cores": 2.5`, `cores: expected a whole number, found "2.5"`},
		"bits":        {`"bits":127`, `"bits":128`, `nodes[0].bits: expected a number of 8 bits, found "128"`},
		"number":      {`"recall": 0.1`, `"recall": "0.1"`, "recall: expected a number"},
		"truth":       {`"on":true`, `"on":1`, "nodes[0].on: expected true or false"},
		"id":          {`"id":"1"`, `"id":"x"`, "nodes[0].id: expected an id"},
		"id number":   {`"id":"1"`, `"id":1`, "nodes[0].id: expected a string"},
		"seed":        {`"seed": "1`, `"seed": "-1`, "seed: expected an id"},
		"place":       {`:"3"}`, `:"x"}`, "place: expected an object of ids"},
		"errors":      {`":3}`, `":"x"}`, "errors: expected an object of whole numbers"},
		"list":        {`"nodes": [`, `"nodes": {}, "x": [`, "nodes: expected a list"},
		"object":      {`{"id":"1"`, `5,{"id":"1"`, "nodes[0]: expected an object"},
		"texts":       {`"notes": [`, `"notes": [1,`, "notes: expected a list of strings"},
		"time":        {`"taken": "1`, `"taken": "x`, "taken: expected a time as 2006-01-02T15:04:05Z"},
		"seconds": {
			`"took_seconds": 0`, `"took_seconds": 1e999999999, "x": 0`, "took_seconds: expected a number of seconds",
		},
		"quoted": {`"took_seconds": 0`, `"took_seconds": "5", "x": 0`, "took_seconds: expected a number of seconds"},
		"check":  {`"part":1e-09`, `"part":-1`, "nodes[0]: expected a part of 0 or more"},
	} {
		if !strings.Contains(good, c[0]) {
			t.Errorf("%s: %s is not in the file", name, c[0])
		}
		var v saved
		if _, err := file.Read(strings.NewReader(strings.Replace(good, c[0], c[1], 1)), &v); err == nil ||
			!strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v, want %q", name, err, c[2])
		}
	}
	lenient := file
	lenient.Lenient = true
	var v saved
	if _, err := lenient.Read(strings.NewReader(`{"apiVersion":"v1","kind":"Test","version":1,"later":[{}]}`),
		&v); err != nil || v.Rows != -1 {
		t.Errorf("%v %+v", err, v)
	}
	small := file
	small.Limit = 10
	if _, err := small.Read(strings.NewReader(good), &v); err == nil ||
		!strings.Contains(err.Error(), "it is larger than 0 MiB") {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(write(f, &file, savedExample())))
	f.Add([]byte(write(f, &file, &saved{})))
	f.Add([]byte(`{"apiVersion":"v1","kind":"Test","version":1,"nodes":[{},{}],"errors":null,"place":{"x":"1"}}`))
	lenient := file
	lenient.Lenient = true
	f.Fuzz(func(t *testing.T, data []byte) {
		var v saved
		if _, err := lenient.Read(bytes.NewReader(data), &v); err != nil {
			return
		}
		text := write(t, &file, &v)
		var again saved
		if _, err := file.Read(strings.NewReader(text), &again); err != nil {
			t.Fatalf("%v of %s", err, text)
		}
		if diff := cmp.Diff(text, write(t, &file, &again)); diff != "" {
			t.Error(diff)
		}
	})
}

// FuzzText checks that any string can be read back from JSON and YAML, and that the output has no effect on a
// terminal.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "yes", "a: b\n- c", "\u202e\x1b[31m", "\xff", "\U000e0001", "1_000", "0o7", "é\u0085",
		strings.Repeat("long ", 300),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		inside := encode.Object{{Key: s, Value: encode.Object{{Key: s, Value: s}}}, {Key: "b" + s, Value: s}}
		o := encode.Object{
			{Key: "key", Value: s}, {Key: "_" + s, Value: []string{s}}, {Key: "in", Value: []any{inside, inside}},
		}
		within := map[string]any{s: map[string]any{s: s}, "b" + s: s}
		want := map[string]any{"key": s, "_" + s: []any{s}, "in": []any{within, within}}
		if strings.ToValidUTF8(s, "") != s {
			want = nil // invalid UTF-8 cannot be read back
		}
		var fromJSON, fromYAML map[string]any
		if err := json.Unmarshal([]byte(asJSON(t, o, 1)), &fromJSON); err != nil {
			t.Fatal(err)
		}
		text := asYAML(t, o)
		if err := yaml.Unmarshal([]byte(text), &fromYAML); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if diff := cmp.Diff(fromJSON, fromYAML, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		if want != nil {
			if diff := cmp.Diff(want, fromJSON); diff != "" {
				t.Error(diff)
			}
		}
		if strings.ContainsAny(text, "\x1b\u202e\u2028\u009b") {
			t.Errorf("%q", text)
		}
	})
}
