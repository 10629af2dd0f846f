package dist

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// BenchmarkFloat32 reports the CPU time per distance of the forms of the best back end, over
// rows that stay in the second level cache, and over many more, in huge pages. Take the
// smallest of several runs (-count): everything else is somebody else's doing.
func BenchmarkFloat32(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"L2", 256 << 10}, {"DRAM", 256 << 20}} {
		data := mapped(b, size.bytes)
		for _, p := range []Profile{HNSWLib, Faiss, Knowhere} {
			for _, m := range []Metric{L2, InnerProduct} {
				for _, dim := range []int{16, 100, 128, 300, 768} {
					b.Run(fmt.Sprintf("%s/%s/%s/%d", size.name, p, m, dim), func(b *testing.B) { benchForms(b, data, m, p, dim) })
				}
			}
		}
	}
}

// mapped is memory in huge pages where the system gives them, filled with numbers.
func mapped(b *testing.B, bytes int) []byte {
	b.Helper()
	data, err := syscall.Mmap(-1, 0, bytes+2<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = syscall.Munmap(data) })
	const hugePages = 14 // MADV_HUGEPAGE
	_ = syscall.Madvise(data, hugePages)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < 1<<16; i += 4 {
		binary.LittleEndian.PutUint32(data[i:], math.Float32bits(float32(r.NormFloat64())))
	}
	for at := 1 << 16; at < len(data); at += 1 << 16 {
		copy(data[at:], data[:1<<16])
	}
	return data
}

// benchForms measures the forms of one kernel.
func benchForms(b *testing.B, data []byte, m Metric, p Profile, dim int) {
	b.Helper()
	stride := (4*dim + 63) &^ 63
	rows := (len(data) - 2<<20) / stride &^ 63
	k, err := New(m, Float32, p, dim)
	if err != nil {
		b.Fatal(err)
	}
	x, queries := unsafe.Pointer(&data[0]), Aligned(4*stride)
	copy(queries, data[1<<10:])
	q := unsafe.Pointer(&queries[0])
	ids := make([]uint32, rows)
	for i := range ids {
		ids[i] = uint32(uint64(i) * 2654435761 % uint64(rows))
	}
	out := make([]float32, 4*rows)
	per := func(form string, distances int, f func()) {
		b.Run(form, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			begin := threadTime()
			for range b.N {
				f()
			}
			b.ReportMetric(float64(threadTime()-begin)/float64(b.N)/float64(distances), "ns/distance")
		})
	}
	per("scan", rows, func() { k.Scan(q, x, uintptr(stride), out[:rows]) })
	per("gather", rows, func() {
		for at := 0; at < rows; at += 16 {
			k.Gather(q, x, uintptr(stride), ids[at:at+16], out[at:at+16])
		}
	})
	per("block", 4*rows, func() {
		for at := 0; at < rows; at += 64 {
			k.Block(q, uintptr(stride), unsafe.Add(x, at*stride), uintptr(stride), out, 64)
		}
	})
	per("one", rows, func() {
		for i := range rows {
			out[i] = k.One(q, unsafe.Add(x, i*stride))
		}
	})
}

// threadTime is the CPU time of this thread in ns.
func threadTime() int64 {
	const threadCPUTime = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno)
	}
	return t.Nano()
}
