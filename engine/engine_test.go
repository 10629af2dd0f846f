package engine

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"kitescope/engine/dist"
)

func TestVectorsAreAligned(t *testing.T) {
	for _, dim := range []int{1, 3, 16, 17, 100, 128, 768} {
		for _, rows := range []int{1, 5, 40_000} {
			v, err := NewVectors(dist.Float32, dim, rows)
			if err != nil {
				t.Fatal(err)
			}
			if at := uintptr(v.Base()); at%64 != 0 {
				t.Errorf("dim %d, %d rows: at %#x", dim, rows, at)
			}
			if v.Stride < 4*dim || v.Stride > 4*dim+dim/2+3 {
				t.Errorf("dim %d: %d bytes from row to row", dim, v.Stride)
			}
			for _, i := range slices.Compact([]int{0, rows - 1}) {
				for _, x := range v.Float32(i) {
					if x != 0 {
						t.Fatalf("dim %d: row %d is not zero", dim, i)
					}
				}
				v.Float32(i)[dim-1] = float32(i + 1)
			}
			if got := v.Float32(rows - 1)[dim-1]; got != float32(rows) {
				t.Errorf("dim %d: the last row has %g", dim, got)
			}
			v.Release()
			if v.Base() != nil || v.Rows != 0 {
				t.Errorf("released: %d rows", v.Rows)
			}
			v.Release()
		}
	}
}

// TestViewChecksCounts checks that row counts and strides of a hostile file never exceed its size.
func TestViewChecksCounts(t *testing.T) {
	data := make([]byte, 100)
	for _, c := range []struct {
		dim, rows, stride int
		ok                bool
	}{
		{5, 5, 20, true},
		{5, 4, 26, true},
		{5, 5, 21, false},
		{5, 6, 20, false},
		{5, 1, math.MaxInt, true},
		{5, 2, math.MaxInt, false},
		{25, 1, 100, true},
		{26, 1, 104, false},
		{0, 1, 4, false},
		{-1, 1, 4, false},
		{5, -1, 20, false},
		{5, 5, 19, false},
		{5, 0, 20, true},
		{5, math.MaxInt, 20, false},
		{1 << 62, 1, 4, false},
		{math.MaxInt/4 + 2, 1, 100, false},
		{5, math.MaxInt / 2, 40, false},
	} {
		v, err := View(dist.Float32, c.dim, c.rows, c.stride, data)
		if (err == nil) != c.ok {
			t.Errorf("%d rows of %d every %d in 100 bytes: %v", c.rows, c.dim, c.stride, err)
		}
		if err == nil && c.rows > 0 && unsafe.Pointer(&v.Row(c.rows - 1)[0]) == nil {
			t.Error("no last row")
		}
	}
}

func TestSlice(t *testing.T) {
	v, err := FromFloat32s(2, []float32{0, 1, 2, 3, 4, 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ first, end, rows int }{
		{0, 3, 3}, {1, 2, 1}, {2, 2, 0}, {3, 3, 0}, {-1, 2, -1}, {2, 1, -1}, {0, 4, -1},
	} {
		part, err := v.Slice(c.first, c.end)
		if (err == nil) != (c.rows >= 0) {
			t.Fatalf("%d to %d: %v", c.first, c.end, err)
		}
		if err != nil {
			continue
		}
		if part.Rows != c.rows || c.rows > 0 && part.Float32(c.rows - 1)[1] != float32(2*c.end-1) {
			t.Errorf("%d to %d: %d rows", c.first, c.end, part.Rows)
		}
	}
	if _, err := FromFloat32s(2, make([]float32, 3)); err == nil {
		t.Error("3 values are rows of 2")
	}
}

func TestTooManyRows(t *testing.T) {
	for _, c := range []struct{ dim, rows int }{
		{0, 1}, {-3, 1}, {1, -1}, {128, math.MaxInt / 4}, {math.MaxInt / 8, 2}, {1 << 62, 1}, {math.MaxInt/4 + 2, 1},
	} {
		if _, err := NewVectors(dist.Float32, c.dim, c.rows); err == nil {
			t.Errorf("%d rows of %d were made", c.rows, c.dim)
		}
	}
}

func TestBitset(t *testing.T) {
	var none *Bitset
	if none.Has(3) || none.Count() != 0 || none.Len() != 0 || none.Words() != nil {
		t.Error("a nil set marks something")
	}
	b := NewBitset(130)
	if b.Words() != nil {
		t.Error("an empty set has words")
	}
	for _, i := range []int{0, 63, 64, 129, 64} {
		b.Set(i)
	}
	if b.Count() != 4 || b.Len() != 130 || !b.Has(129) || b.Has(128) || b.Has(1000) || len(b.Words()) != 3 {
		t.Errorf("%d of %d marked", b.Count(), b.Len())
	}
	c := NewBitset(130)
	c.Set(1)
	c.Set(63)
	or := b.Or(c)
	if or.Count() != 5 || !or.Has(1) || !or.Has(129) || b.Has(1) || c.Has(0) {
		t.Errorf("the union has %d", or.Count())
	}
	if b.Or(nil) != b || none.Or(b) != b || none.Or(nil).Count() != 0 {
		t.Error("a union with nothing is something else")
	}
}

func TestBitsetInverts(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 130} {
		b := NewBitset(n)
		for i := 0; i < n; i += 3 {
			b.Set(i)
		}
		b.Invert()
		for i := range n + 70 {
			if b.Has(i) != (i < n && i%3 != 0) {
				t.Errorf("%d rows: row %d is marked: %v", n, i, b.Has(i))
			}
		}
		if want := n - (n+2)/3; b.Count() != want {
			t.Errorf("%d rows: %d are marked, want %d", n, b.Count(), want)
		}
		if b.Reset(); b.Count() != 0 || b.Has(1) || b.Len() != n {
			t.Errorf("%d rows: %d are marked after a reset", n, b.Count())
		}
	}
}

func TestUint32s(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 19, 1<<20 + 3} {
		s := Uint32s(n)
		if len(s) != n || cap(s) < n {
			t.Fatalf("%d of %d", len(s), n)
		}
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("number %d of %d is %d", i, n, s[i])
			}
			s[i] = uint32(i)
		}
	}
}
