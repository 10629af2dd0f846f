package dist

import (
	"fmt"
	"testing"
	"unsafe"
)

// BenchmarkElements reports ns per distance and GB/s of every element on the best back end,
// over rows that stay in the second level cache and over many more; gather takes 16 ids.
func BenchmarkElements(b *testing.B) {
	for _, size := range []int{256 << 10, 256 << 20} {
		for _, e := range []Element{Float32, Float16, BFloat16, Int8, Bit} {
			for _, dim := range []int{128, 768} {
				m := L2
				if e == Bit {
					m = Jaccard
				}
				benchElement(b, size, m, e, dim)
			}
		}
	}
}

func benchElement(b *testing.B, size int, m Metric, e Element, dim int) {
	b.Helper()
	k, err := New(m, e, Knowhere, dim)
	if err != nil {
		b.Fatal(err)
	}
	stride := (e.Bytes(dim) + 63) &^ 63
	rows := size / stride &^ 63
	data := Aligned(rows * stride)
	g := lcg(5)
	g.fill(data[:min(len(data), 1<<18)], e, false)
	if e == Float32 {
		clear(data)
	}
	copy(data[len(data)/2:], data[:len(data)/4])
	query := k.widen(data[:e.Bytes(dim)])
	qStride := len(query)
	queries := Aligned(4 * qStride)
	for j := range 4 {
		copy(queries[j*qStride:], query)
	}
	ids := make([]uint32, rows)
	for i := range ids {
		ids[i] = uint32(uint64(i) * 2654435761 % uint64(rows))
	}
	out := make([]float32, 4*rows)
	x, q := unsafe.Pointer(&data[0]), unsafe.Pointer(&queries[0])
	run := func(form string, distances int, f func()) {
		b.Run(fmt.Sprintf("%dKiB/%s/%s/%d/%s", size>>10, k.Backend, e, dim, form), func(b *testing.B) {
			for b.Loop() {
				f()
			}
			ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(distances)
			b.ReportMetric(ns, "ns/distance")
			b.ReportMetric(float64(stride)/ns, "GB/s")
		})
	}
	run("scan", rows, func() { k.Scan(q, x, uintptr(stride), out[:rows]) })
	run("gather", rows, func() {
		for at := 0; at < rows; at += 16 {
			k.Gather(q, x, uintptr(stride), ids[at:at+16], out[at:])
		}
	})
	run("block", 4*rows, func() {
		for at := 0; at < rows; at += 64 {
			k.Block(q, uintptr(qStride), unsafe.Add(x, at*stride), uintptr(stride), out, 64)
		}
	})
}
