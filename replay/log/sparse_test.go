package log

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// TestSparseVectors reads both notations of sparse vectors, writes them, and reads them again.
func TestSparseVectors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.jsonl")
	text := `{"vector":{"7":0.25,"3":0.5},"k":2,"params":{"drop_ratio_search":0.2,"refine_factor":3}}
{"vectors":[{"indices":[9,1],"values":[1,2]},{}],"k":1,"element":"sparse"}
{"vector":{"4294967294":1e-3},"params":{"ef":5,"dim_max_score_ratio":1.1,"bm25_avgdl":9.5}}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		l, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Vectors.Element != dist.Sparse || l.Vectors.Rows != 4 || l.Vectors.Dim != 0 || len(l.Vectors.Row(2)) != 0 {
			t.Fatalf("%d rows of %s, dim %d", l.Vectors.Rows, l.Vectors.Element, l.Vectors.Dim)
		}
		if got := string(appendSparse(appendSparse(nil, l.Vectors.Row(0)), l.Vectors.Row(1))); got !=
			`{"3":0.5,"7":0.25}{"1":2,"9":1}` {
			t.Error(got)
		}
		if l.Requests[0].SparseParams != (engine.SparseParams{DropRatio: 0.2, RefineFactor: 3}) ||
			l.Requests[2].SparseParams != (engine.SparseParams{MaxScoreRatio: 1.1, AvgDL: 9.5}) ||
			l.Requests[2].EF != 5 {
			t.Errorf("%+v", l.Requests)
		}
		var b bytes.Buffer
		if err := Write(&b, l); err != nil {
			t.Fatal(err)
		}
		if err := WriteNPY(&bytes.Buffer{}, l); err == nil {
			t.Error("a matrix of sparse vectors was written")
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil { // read it again as written
			t.Fatal(err)
		}
		l.Close()
	}
}

// TestSparseVectorsRefused checks the errors of invalid lines.
func TestSparseVectorsRefused(t *testing.T) {
	for line, want := range map[string]string{
		`{"vector":{"-1":0.5}}`:                                "expected a dimension from 0 to 4294967294, found -1",
		`{"vector":{"4294967295":0.5}}`:                        "expected a dimension",
		`{"vector":{"indices":[1],"values":[]}}`:               "empty list",
		`{"vector":{"indices":[1]}}`:                           "expected a list of numbers",
		`{"vector":{"indices":[2,2],"values":[1,1]}}`:          "dimension 2 is given twice",
		`{"vector":{"1":"a"}}`:                                 "expected a",
		`{"vector":[1,2],"element":"sparse"}`:                  "expected a sparse vector",
		`{"vector":{"1":1},"element":"float32"}`:               "expected a list of numbers",
		`{"vector":{"1":1},"params":{"drop_ratio_search":-1}}`: "expected a number of 0 or more",
	} {
		path := filepath.Join(t.TempDir(), "q.jsonl")
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(t.Context(), path, Options{Strict: true})
		if err == nil {
			l.Close()
		}
		if line == `{"vector":{"1":1},"element":"float32"}` && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", line, err, want)
		}
	}
	both := filepath.Join(t.TempDir(), "q.jsonl")
	if err := os.WriteFile(both, []byte(`{"vector":[1,2]}`+"\n"+`{"vector":{"1":1}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), both, Options{Strict: true}); err == nil ||
		!strings.Contains(err.Error(), "expected vectors of float32") {
		t.Error(err)
	}
}

// TestSampleSparse draws from sparse rows, with and without noise.
func TestSampleSparse(t *testing.T) {
	var rows [][]byte
	for _, text := range []string{`{"1":1,"5":2}`, `{"2":3}`, `{"9":1,"10":0.5}`} {
		row, err := sparseRow([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	v, err := engine.JoinSparse(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, noise := range []float64{0, 0.1} {
		l, err := Sample(t.Context(), []Source{{Vectors: v}}, SampleOptions{Count: 5, Seed: 1, Noise: noise, K: 2})
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for i := range l.Vectors.Rows {
			for j := range v.Rows {
				if bytes.Equal(l.Vectors.Row(i), v.Row(j)) {
					same++
				}
			}
		}
		if l.Vectors.Rows != 5 || noise == 0 && same != 5 || noise > 0 && same != 0 {
			t.Errorf("noise %g: %d of %d drawn rows are rows", noise, same, l.Vectors.Rows)
		}
		l.Close()
	}
}

// TestSparseNoiseSign checks that noise preserves signs, because Milvus rejects queries with negative
// values.
func TestSparseNoiseSign(t *testing.T) {
	var rows [][]byte
	for i := range 50 {
		row, err := sortedRow([]uint32{1, uint32(i + 2), 100}, []float32{0.01, 0.5 + float32(i), -0.02})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	v, err := engine.JoinSparse(rows)
	if err != nil {
		t.Fatal(err)
	}
	s := &sampler{o: SampleOptions{Noise: 1}}
	if err := s.addSparseNoise(rand.New(rand.NewPCG(1, 2)), v); err != nil {
		t.Fatal(err)
	}
	for i := range v.Rows {
		row := v.Row(i)
		for j, positive := range []bool{true, true, false} {
			if x := math.Float32frombits(binary.LittleEndian.Uint32(row[8*j+4:])); (x > 0) != positive {
				t.Errorf("value %d of row %d became %v", j, i, x)
			}
		}
	}
}
