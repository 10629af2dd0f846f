package index

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/scann"
)

// scannParams say which SCANN is written.
type scannParams struct {
	rows, dim, lists int
	metric           engine.Metric
	raw              bool
}

// scannFile is a SCANN of random rows as knowhere writes one: row i is in list i modulo their number, and the code of a part is that of the nearest
// of 16 random centroids. It returns the rows.
func scannFile(r *rand.Rand, p scannParams) (file []byte, rows []float32) {
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if s, ok := v.(string); ok {
				b.WriteString(s)
			} else {
				_ = binary.Write(&b, binary.LittleEndian, v)
			}
		}
	}
	normal := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	inner, flat := int32(1), "IxF2"
	if p.metric != dist.L2 {
		inner, flat = 0, "IxFI"
	}
	header := func(code string, rows int, unset byte) {
		put(code, int32(p.dim), int64(rows), uint64(unset), uint64(0), byte(1), inner)
	}
	parts := (p.dim + 1) / 2
	rows, centroids := normal(p.rows*p.dim), normal(16*p.dim)
	header("IxSC", p.rows, 77)
	header("IwPf", p.rows, 200)
	put(int64(p.lists), int64(4))
	header(flat, p.lists, 0)
	put(int64(p.lists*p.dim), normal(p.lists*p.dim), byte(0), int64(0)) // and no direct map
	put(byte(0), int64((parts+1)/2), int32(32), int64((parts+1)/2*2), int32(0), int64(0), p.metric == dist.Cosine)
	coded := slices.Clone(rows)
	if p.metric == dist.Cosine {
		put(int64(p.rows))
		for i := range p.rows {
			sum := 0.0
			for _, v := range rows[i*p.dim:][:p.dim] {
				sum += float64(v) * float64(v)
			}
			put(float32(math.Sqrt(sum)))
			for j := range p.dim {
				coded[i*p.dim+j] /= float32(math.Sqrt(sum))
			}
		}
	}
	put(int64(p.dim), int64(parts), int64(4), int64(len(centroids)), centroids)
	put("ilbl", int64(p.lists), int64((parts+1)/2), int64(32), int64((parts+1)/2*32))
	width := p.dim / parts
	for l := range p.lists {
		var ids []int64
		for i := l; i < p.rows; i += p.lists {
			ids = append(ids, int64(i))
		}
		blocks := make([]byte, (len(ids)+31)/32*((parts+1)/2*32))
		for n, id := range ids {
			for part := range parts {
				x := coded[int(id)*p.dim+part*width:][:width]
				best, least := 0, math.Inf(1)
				for c := range 16 {
					d := 0.0
					for j, v := range centroids[(part*16+c)*width:][:width] {
						d += float64(x[j]-v) * float64(x[j]-v)
					}
					if d < least {
						best, least = c, d
					}
				}
				// The byte 2*(row%8)+(row%16)/8 of a part has rows 0 to 15 of the block in its lower half.
				in := n % 32
				at := n/32*((parts+1)/2*32) + part/2*32 + part%2*16 + 2*(in%8) + in%16/8
				blocks[at] |= byte(best) << (in / 16 * 4)
			}
		}
		put(int64(len(ids)), ids, int64(len(blocks)), blocks)
	}
	put(p.raw)
	if p.raw {
		header(flat, p.rows, 0)
		put(int64(len(rows)), rows)
	}
	put(float32(1))
	return b.Bytes(), rows
}

func scanns() []scannParams {
	return []scannParams{
		{70, 6, 2, dist.L2, true},
		{70, 6, 2, dist.L2, false},
		{300, 8, 5, dist.InnerProduct, true},
		{33, 10, 1, dist.Cosine, true},
		{100, 4, 7, dist.Cosine, false},
		{40, 1, 3, dist.L2, true},
		{0, 4, 2, dist.L2, true},
	}
}

// TestScannComparesAll: with all lists and all rows compared again the answer is that of a comparison row by row, ids and bits.
func TestScannComparesAll(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, p := range scanns() {
		file, rows := scannFile(r, p)
		f, err := Parse("SCANN", file, Hint{})
		if err != nil {
			t.Errorf("%+v: %v", p, err)
			continue
		}
		if f.Kind() != SCANN || f.Rows != p.rows || f.Dim != p.dim || f.Metric != p.metric || f.Format != KnowhereFaiss {
			t.Errorf("%+v: %s %s %d x %d, %s", p, f.Kind(), f.Metric, f.Rows, f.Dim, f.Format)
		}
		wrong := 0
		f.Searchable.(Coded).EachCode(func(id int64, gives func([]float32) bool) {
			row := slices.Clone(rows[int(id)*p.dim:][:p.dim])
			if p.metric == dist.Cosine {
				for i := range row {
					row[i] /= As[scann.Index](f).Norms[id]
				}
			}
			if !gives(row) {
				wrong++
			}
		})
		if wrong > 0 {
			t.Errorf("%+v: %d rows have codes of others", p, wrong)
		}
		if !p.raw || p.rows == 0 {
			continue
		}
		s, err := f.NewSearcher(Options{Library: engine.Knowhere22})
		if err != nil {
			t.Fatal(err)
		}
		exact, params := f.Exact(Params{K: 9})
		e, err := exact.NewSearcher(Options{Library: engine.Knowhere22})
		if err != nil {
			t.Fatal(err)
		}
		filter := engine.NewBitset(p.rows)
		for i := 0; i < p.rows; i += 3 {
			filter.Set(i)
		}
		for i := range 20 {
			q := rows[i%p.rows*p.dim:][:p.dim]
			query := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(q))), 4*p.dim)
			if i%2 == 1 {
				params.Filter = filter
			}
			want, _, err := e.Search(query, params, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := s.Search(query, Params{K: 9, SearchParams: engine.SearchParams{NProbe: 100, ReorderK: p.rows}, Filter: params.Filter}, nil)
			if err != nil {
				t.Fatal(err)
			}
			params.Filter = nil
			if !slices.Equal(got, want) {
				t.Errorf("%+v, query %d: %v, row by row %v", p, i, got, want)
			}
		}
		if _, _, err := s.Search(make([]byte, 4*p.dim), Params{K: 9, SearchParams: engine.SearchParams{ReorderK: 8}}, nil); err == nil || !strings.Contains(err.Error(), "reorder_k is 8") {
			t.Errorf("fewer than k: %v", err)
		}
	}
}

// TestScannIsHeldAgainstItsBytes: a file that is cut, goes on, or claims more than it has is refused, in memory that its bytes pay for.
func TestScannIsHeldAgainstItsBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var before, after runtime.MemStats
	for _, p := range scanns() {
		file, _ := scannFile(r, p)
		for n := range file {
			if _, err := Parse("SCANN", file[:n], Hint{}); err == nil {
				t.Fatalf("%+v: the first %d of %d bytes are taken for an index", p, n, len(file))
			}
		}
		if _, err := Parse("SCANN", append(slices.Clone(file), 0), Hint{}); err == nil || !strings.Contains(err.Error(), "the end of the file") {
			t.Errorf("%+v: a byte more: %v", p, err)
		}
		for at := 0; at+8 <= len(file); at++ {
			for _, claim := range []uint64{1 << 20, 1<<31 - 1, 1 << 33, 1<<64 - 1} {
				data := bytes.Clone(file)
				binary.LittleEndian.PutUint64(data[at:], claim)
				runtime.ReadMemStats(&before)
				f, err := Parse("SCANN", data, Hint{})
				runtime.ReadMemStats(&after)
				if got := after.TotalAlloc - before.TotalAlloc; got > uint64(24*len(data)+1<<18) {
					t.Errorf("%d at offset %d: %d bytes were allocated for a file of %d (%v)", claim, at, got, len(data), err)
				}
				if err == nil {
					walk(t, f)
				}
			}
			if at > 700 {
				at += 40
			}
		}
	}
}
