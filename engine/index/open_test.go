package index

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/flat"
	"kitescope/engine/hnsw"
	"kitescope/engine/ivf"
)

// expected is the content of a file of testdata according to the library that wrote it (make.py).
type expected struct {
	Format, Kind, Metric string
	Known                bool
	Dim, Rows, M, M0     int
	EFConstruction       int `json:"ef_construction"`
	EFSearch             int `json:"ef_search"`
	MaxLevel             int `json:"max_level"`
	MaxElements          int `json:"max_elements"`
	NProbe               int
	Entry                uint32
	Levels               []uint8
	Base                 [][]uint32
	Upper                [][][]uint32
	Vectors, Norms       string
	Labels               []int64
	Deleted              []int
	IDs                  [][]int64
	Codes                []string
	ListNorms            []string `json:"list_norms"`
	Centroids            string
	Residual             bool
	Trained              string
	Refused              string
}

func expectations(t *testing.T) map[string]expected {
	t.Helper()
	data, err := os.ReadFile("testdata/expect.json")
	if err != nil {
		t.Fatal(err)
	}
	// encoding/json cannot decode []uint8 from a list of numbers, so levels are decoded separately.
	var raw map[string]struct {
		expected
		Levels []int
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]expected)
	for name, r := range raw {
		r.expected.Levels = make([]uint8, len(r.Levels))
		for i, l := range r.Levels {
			r.expected.Levels[i] = uint8(l)
		}
		all[name] = r.expected
	}
	return all
}

// metricName returns make.py's name of the metric.
func metricName(m engine.Metric) string {
	return map[engine.Metric]string{
		dist.L2: "L2", dist.InnerProduct: "IP", dist.Cosine: "COSINE", dist.Hamming: "HAMMING", dist.Jaccard: "JACCARD",
	}[m]
}

// packed returns the contiguous rows in base64.
func packed(v *engine.Vectors) string {
	var b []byte
	for i := range v.Rows {
		b = append(b, v.Row(i)...)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// packedNorms returns norms in base64.
func packedNorms(norms []float32) string {
	var b []byte
	for _, v := range norms {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// rawOf returns the blob RAW_DATA of a file, or nil if it has none.
func rawOf(name string) []byte {
	data, _ := os.ReadFile(filepath.Join("testdata", name+".raw")) // most have none
	return data
}

// lists returns the links of every node on level 0 and above.
func lists(g *hnsw.Graph) (base [][]uint32, upper [][][]uint32) {
	used := func(slots []uint32) []uint32 {
		n := slices.IndexFunc(slots, func(v uint32) bool { return v&hnsw.End != 0 })
		if n < 0 {
			n = len(slots)
		}
		return append([]uint32{}, slots[:n]...)
	}
	for i := range g.Levels {
		base = append(base, used(g.Base[i*g.M0:(i+1)*g.M0]))
		up := [][]uint32{}
		for l := range int(g.Levels[i]) {
			at := (int(g.UpperAt[i]) + l) * g.M
			up = append(up, used(g.Upper[at:at+g.M]))
		}
		upper = append(upper, up)
	}
	return base, upper
}

// got returns the content of a file in the form of the expectations.
func got(f *File) expected {
	e := expected{
		Format: f.Format.String(), Kind: f.Kind(), Metric: metricName(f.Metric), Known: f.MetricKnown,
		Dim: f.Dim, Rows: f.Rows,
	}
	switch {
	case As[hnsw.Index](f) != nil:
		g := As[hnsw.Index](f)
		e.MaxElements, e.EFSearch = g.MaxElements, g.EFSearch
		e.M, e.M0, e.EFConstruction, e.MaxLevel, e.Entry, e.Levels = g.M, g.M0, g.EFConstruction, g.MaxLevel, g.Entry,
			g.Levels
		e.Base, e.Upper = lists(&g.Graph)
		e.Vectors, e.Labels = packed(g.Vectors), g.Labels
		for i := range f.Rows {
			if g.Deleted.Has(i) {
				e.Deleted = append(e.Deleted, i)
			}
		}
		e.Norms = packedNorms(g.Norms)
	case As[flat.Index](f) != nil:
		e.Vectors, e.Labels, e.Norms = packed(As[flat.Index](f).Vectors), As[flat.Index](f).Labels,
			packedNorms(As[flat.Index](f).Norms)
	case As[ivf.Index](f) != nil:
		e.NProbe = As[ivf.Index](f).NProbe
		e.Centroids = packed(As[ivf.Index](f).Centroids)
		if c := As[ivf.Index](f).Codec; c != nil {
			e.Residual, e.Trained = c.Residual, packedNorms(slices.Concat(c.Low, c.Span))
		}
		for _, l := range As[ivf.Index](f).Lists {
			e.IDs, e.Codes = append(e.IDs, append([]int64{}, l.IDs...)), append(e.Codes, packed(l.Vectors))
			if f.Metric == dist.Cosine {
				e.ListNorms = append(e.ListNorms, packedNorms(l.Norms))
			}
		}
	}
	return e
}

// sameNil replaces empty by nil, and drops the upper links if the library's interface does not return them.
func sameNil(want *expected, have *expected) {
	if want.Upper == nil {
		have.Upper = nil
	}
	for _, e := range []*expected{want, have} {
		e.Labels, e.Deleted = slices.Clip(append([]int64{}, e.Labels...)), append([]int{}, e.Deleted...)
		e.Base = append([][]uint32{}, e.Base...)
		e.Levels = append([]uint8{}, e.Levels...)
		e.Upper = append([][][]uint32{}, e.Upper...)
	}
}

func TestFilesMatchWriters(t *testing.T) {
	for name, want := range expectations(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name)
			f, err := OpenFile(t.Context(), path, Hint{RawData: rawOf(name)})
			if want.Refused != "" {
				var unsupported *UnsupportedError
				if !errors.As(err, &unsupported) || unsupported.Type != want.Refused {
					t.Fatalf("error %v, want one that refuses %s", err, want.Refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			have := got(f)
			sameNil(&want, &have)
			if d := cmp.Diff(want, have); d != "" {
				t.Error(d)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, p := range f.Parts {
				sum += p.Bytes
			}
			if sum != f.Bytes || int64(sum) != info.Size() {
				t.Errorf("the parts have %d bytes, the file %d, on disk %d: %v", sum, f.Bytes, info.Size(), f.Parts)
			}
		})
	}
}

// TestTruncatedFilesAreRefused cuts each file at every length and checks that it is refused, unless the rest is
// another index or the missing part is not needed.
func TestTruncatedFilesAreRefused(t *testing.T) {
	for name, want := range expectations(t) {
		if want.Refused != "" {
			continue
		}
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(data); n += 1 + n/64 {
			if _, err := Parse(name, data[:n], Hint{RawData: rawOf(name)}); err == nil {
				t.Errorf("%s: the first %d of %d bytes are taken for an index", name, n, len(data))
			}
		}
		if _, err := Parse(name, append(slices.Clone(data), 0), Hint{RawData: rawOf(name)}); err == nil ||
			!strings.Contains(err.Error(), "the end of the file") {
			t.Errorf("%s: a byte more: %v", name, err)
		}
	}
}

func TestErrorsNameFileOffsetAndExpectation(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	put32 := func(at int, v uint32) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[at:], v) }
	}
	put64 := func(at int, v uint64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[at:], v) }
	}
	for _, c := range []struct {
		file   string
		change func([]byte)
		want   string
	}{
		{"hnswlib_d128.bin", put64(16, 41), "offset 16: expected at most"},
		{"hnswlib_l2.bin", put64(16, 121), "offset 8056: expected 4 bytes"},
		{"hnswlib_l2.bin", put64(16, 1<<40), "offset 16: expected at most 142 nodes"},
		{"hnswlib_l2.bin", put32(52, 120), "offset 52: expected an entry point among 120 nodes, found 120"},
		{"hnswlib_l2.bin", put32(48, 7), "offset 48: expected the highest level of the nodes"},
		{"hnswlib_l2.bin", put32(96, 9), "offset 96: expected at most 8 links of node 0, found 9"},
		{"hnswlib_l2.bin", put32(100, 120), "offset 100: expected a link of node 0 to one of 120 nodes, found 120"},
		{"hnswlib_empty.bin", put32(48, 3), "offset 48: expected the highest level -1 of no nodes, found 3"},
		{"faiss_flat_l2.bin", put64(8, math.MaxUint64), "offset 8: expected a count of rows"},
		{"faiss_flat_l2.bin", put64(37, 1<<61), "units"},
		{"faiss_flat_l2.bin", put32(4, 0), "offset 4: expected a dimension, found 0"},
		{"faiss_hnsw_l2.bin", put32(33, 3), "faiss IHNf of metric 3 is not supported"},
		{"faiss_idmap_flat.bin", put32(37, 0x66665848), "offset 37"},
		{"faiss_ivf_full.bin", put64(37, 9), "offset"},
		{"faiss_sq8_l2.bin", put32(299, 1), "faiss IwSq with a scalar quantiser of type 4bit is not supported"},
		{"faiss_sq8_l2.bin", put64(311, 7), "offset 311: expected 6 dimensions of a byte each, found 7 in 6 bytes"},
		{
			"faiss_sq8_l2.bin", put64(327, 11),
			"offset 327: expected the ranges of 6 dimensions, two numbers each, found 11 numbers",
		},
	} {
		data := read(c.file)
		c.change(data)
		_, err := Parse("some.index", data, Hint{})
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "read some.index: ") {
			t.Errorf("%s: error %v, want %q", c.file, err, c.want)
		}
	}
	if _, err := Parse("x", read("hnswlib_l2.bin"), Hint{Dim: 4}); err == nil ||
		!strings.Contains(err.Error(), "vectors of 4 dimensions") {
		t.Errorf("another dimension than expected: %v", err)
	}
}
