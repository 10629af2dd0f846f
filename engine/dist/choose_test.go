package dist

import (
	"slices"
	"strings"
	"testing"
	"unsafe"
)

func TestNamesRoundTrip(t *testing.T) {
	for m := L2; m <= Jaccard; m++ {
		for _, name := range []string{m.String(), strings.ToLower(m.String())} {
			if got, err := ParseMetric(name); got != m || err != nil {
				t.Errorf("metric %s: %v, %v", name, got, err)
			}
		}
	}
	if m, err := ParseMetric("Inner_Product"); m != InnerProduct || err != nil {
		t.Errorf("inner_product: %v, %v", m, err)
	}
}

func TestUnknownMetric(t *testing.T) {
	if _, err := ParseMetric("manhattan"); err == nil || !strings.Contains(err.Error(), "expected one of") {
		t.Errorf("manhattan: %v", err)
	}
}

func TestUnsupportedKernels(t *testing.T) {
	var absent Backend
	for b := Generic; b <= NEON; b++ {
		if !slices.Contains(Backends(), b) {
			absent = b
		}
	}
	for name, err := range map[string]error{
		"no dimensions":       errOf(NewOn(Generic, L2, Float32, Faiss, 0)),
		"negative dimensions": errOf(New(L2, Float32, Faiss, -3)),
		"bits by L2":          errOf(New(L2, Bit, Faiss, 8)),
		"floats by Hamming":   errOf(New(Hamming, Float32, Faiss, 8)),
		"no such metric":      errOf(New(Metric(9), Float32, Faiss, 8)),
		"no such element":     errOf(New(L2, Element(9), Faiss, 8)),
		"no such profile":     errOf(New(L2, Float32, Profile(99), 8)),
		"another CPU":         errOf(NewOn(absent, L2, Float32, Faiss, 8)),
		"no such back end":    errOf(NewOn(Backend(9), L2, Float32, Faiss, 8)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func errOf(_ *Kernel, err error) error { return err }

func TestFormsOfAKernelAgree(t *testing.T) {
	const dim, rows = 37, 11
	var data []float32
	for i := range rows {
		data = append(data, peerVector(dim, i)...)
	}
	x, stride := unsafe.Pointer(&data[0]), uintptr(4*dim)
	for _, b := range Backends() {
		k, err := NewOn(b, Cosine, Float32, Knowhere, dim)
		if err != nil {
			t.Fatal(err)
		}
		scan, gather, block := make([]float32, rows), make([]float32, rows), make([]float32, 4*rows)
		ids := make([]uint32, rows)
		for i := range ids {
			ids[i] = uint32(i)
		}
		for j := range 4 {
			k.Block(x, stride, x, stride, block, rows)
			q := unsafe.Add(x, uintptr(j)*stride)
			k.Scan(q, x, stride, scan)
			k.Gather(q, x, stride, ids, gather)
			if !slices.Equal(scan, gather) || !slices.Equal(scan, block[j*rows:(j+1)*rows]) {
				t.Errorf("%s: scan %v, gather %v, block %v", b, scan, gather, block[j*rows:(j+1)*rows])
			}
			for i := range rows {
				if one := k.One(q, unsafe.Add(x, uintptr(i)*stride)); one != scan[i] {
					t.Errorf("%s: one %v, scan %v", b, one, scan[i])
				}
			}
		}
		if n := testing.AllocsPerRun(10, func() { k.One(x, x); k.Scan(x, x, stride, scan) }); n != 0 {
			t.Errorf("%s: %v allocations", b, n)
		}
		k.Scan(x, x, stride, nil)
		k.Gather(x, x, stride, nil, nil)
		k.Block(x, stride, x, stride, nil, 0)
	}
}

func TestAQueryIsCopiedAndAligned(t *testing.T) {
	k, err := New(L2, Float32, Faiss, 3)
	if err != nil {
		t.Fatal(err)
	}
	row := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	q, err := k.Query(row)
	if err != nil || !slices.Equal(q, row) || uintptr(unsafe.Pointer(&q[0]))%64 != 0 {
		t.Errorf("query %v at %p, %v", q, &q[0], err)
	}
	if _, err := k.Query(row[:8]); err == nil {
		t.Error("a query of 8 bytes: no error")
	}
}
