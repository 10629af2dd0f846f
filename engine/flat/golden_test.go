package flat

import (
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/goldentest"
)

// golden is the result of a peer library; see testdata/goldens.py and testdata/knowhere.cc.
type golden struct {
	Policy, Metric, Kind string
	Rows, Dim, K, Filter int
	IDs                  [][]int64
	Bits                 [][]uint32
}

// sets holds the number of each set of vectors.
var sets = map[string]uint64{"ties": 1, "floats": 2, "ties-queries": 3, "floats-queries": 4, "huge": 5}

// values returns the vectors of a golden. Value i of a set is a hash of i and the set's number (splitmix64).
func values(kind string, rows, dim int) []float32 {
	set := sets[kind]
	v := make([]float32, rows*dim)
	for i := range v {
		x := uint64(i)*set + 0x9E3779B97F4A7C15*set
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		x ^= x >> 31
		switch {
		case kind == "huge-queries":
			v[i] = 1
		case kind == "huge" && x%4 > 0:
			v[i] = math.MaxFloat32
		case kind == "huge":
			v[i] = float32(x >> 2 % 5)
		case set&1 == 0:
			v[i] = float32(x>>40)/(1<<24) - 0.5
		case dim == 1:
			v[i] = float32(x % 20)
		default:
			v[i] = float32(x % 3)
		}
	}
	return v
}

// filterOf returns the filter of a golden. It marks every n-th row, or if n is negative, all but every n-th.
func filterOf(rows, n int) *engine.Bitset {
	if n == 0 {
		return nil
	}
	b := engine.NewBitset(rows)
	for i := range rows {
		if (n > 0 && i%n == 0) || (n < 0 && i%-n != 0) {
			b.Set(i)
		}
	}
	return b
}

func readGoldens(t *testing.T, name string) []golden {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	for d := json.NewDecoder(z); ; {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		var some []golden
		if raw[0] == '{' {
			raw = append(append(json.RawMessage("["), raw...), ']')
		}
		if err := json.Unmarshal(raw, &some); err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
}

// options returns the metric and the options of a golden's peer.
func (g *golden) options() (engine.Metric, Options) {
	metric := map[string]engine.Metric{"L2": dist.L2, "IP": dist.InnerProduct, "COSINE": dist.Cosine}[g.Metric]
	switch g.Policy {
	case "hnswlib":
		return metric, Options{Library: engine.HNSWLib}
	case "knowhere":
		return metric, Options{Library: engine.Knowhere22}
	default:
		return metric, Options{Library: engine.Faiss}
	}
}

func (g *golden) String() string {
	return fmt.Sprintf("%s %s %s %dx%d k=%d filter=%d", g.Policy, g.Metric, g.Kind, g.Rows, g.Dim, g.K, g.Filter)
}

// vectors returns the rows or the queries of a golden. Under hnswlib's cosine, rows are stored normalised.
func (g *golden) vectors(t *testing.T, kind string, rows int) *engine.Vectors {
	t.Helper()
	x := values(kind, rows, g.Dim)
	v, err := engine.FromFloat32s(g.Dim, x)
	if err != nil {
		t.Fatal(err)
	}
	if g.Metric == "COSINE" && kind == g.Kind {
		k, err := dist.New(dist.Cosine, dist.Float32, dist.HNSWLib, g.Dim)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			x := v.Float32(i)
			normaliseHNSWLib(x, k.SquaredNorm(unsafe.Pointer(&x[0])))
		}
	}
	return v
}

// checkAll checks goldens, to the bit if slack is 0. Goldens over the same rows must be adjacent.
func checkAll(t *testing.T, all []golden, slack float64) {
	t.Helper()
	var key string
	var rows *engine.Vectors
	for i := range all {
		g := &all[i]
		if k := fmt.Sprint(g.Kind, g.Rows, g.Dim, g.Metric == "COSINE"); k != key {
			if rows != nil {
				rows.Release()
			}
			key, rows = k, g.vectors(t, g.Kind, g.Rows)
		}
		g.check(t, rows, slack)
	}
}

// check compares single searches and a batch with the result of the peer.
func (g *golden) check(t *testing.T, rows *engine.Vectors, slack float64) {
	t.Helper()
	metric, options := g.options()
	queries := g.vectors(t, g.Kind+"-queries", len(g.IDs))
	s, err := New(&Index{Vectors: rows, Metric: metric}, options)
	if err != nil {
		t.Fatalf("%v: %v", g, err)
	}
	p := Params{K: g.K, Filter: filterOf(g.Rows, g.Filter)}
	batch, err := s.SearchBatch(queries, p, 2)
	if err != nil {
		t.Fatalf("%v: %v", g, err)
	}
	for q := range g.IDs {
		hits, err := s.Search(queries.Row(q), p, nil)
		if err != nil {
			t.Fatalf("%v: %v", g, err)
		}
		g.compare(t, q, hits, slack)
		g.compare(t, q, batch[q], slack)
	}
}

func (g *golden) compare(t *testing.T, q int, hits []engine.Hit, slack float64) {
	t.Helper()
	if slack == 0 && (g.K >= 100 || g.Policy == "hnswlib") { // ties with the last hit may differ
		slack = 1e-12
	}
	if slack > 0 {
		if want := goldentest.Hits(g.IDs[q], g.Bits[q]); !goldentest.AlmostEqual(hits, want, slack) {
			t.Errorf("%v: query %d has %v, want %v", g, q, hits, want)
		}
		return
	}
	if len(hits) != len(g.IDs[q]) {
		t.Errorf("%v: query %d has %d hits, want %d", g, q, len(hits), len(g.IDs[q]))
		return
	}
	for i, h := range hits {
		if h.ID != g.IDs[q][i] || math.Float32bits(h.Distance) != g.Bits[q][i] {
			t.Errorf("%v: query %d hit %d is %d at %v (%#x), want %d at %v (%#x)", g, q, i, h.ID, h.Distance,
				math.Float32bits(h.Distance), g.IDs[q][i], math.Float32frombits(g.Bits[q][i]), g.Bits[q][i])
			return
		}
	}
}

func TestMatchesFaissAndHNSWLib(t *testing.T) {
	checkAll(t, readGoldens(t, "testdata/faiss-hnswlib.json.gz"), 0)
}

func TestTiesMatchKnowhere(t *testing.T) {
	checkAll(t, readGoldens(t, "testdata/knowhere.json.gz"), 0)
}

// bitsOf returns hits as bytes, so that NaN can be compared.
func bitsOf(hits []engine.Hit) []byte {
	var b []byte
	for _, h := range hits {
		b = binary.LittleEndian.AppendUint64(b, uint64(h.ID))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(h.Distance))
	}
	return b
}
