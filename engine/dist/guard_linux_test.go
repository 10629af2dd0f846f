package dist

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"
)

// beforeGuard returns n bytes of memory that end right before a page that cannot be read.
func beforeGuard(t *testing.T, n int) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	size := (n + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(all); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mprotect(all[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return all[size-n : size]
}

func TestKernelsReadNoByteBeyondARow(t *testing.T) {
	cases := kernelCases()
	for _, m := range []Metric{L2, InnerProduct} {
		for _, p := range profiles() {
			cases = append(cases, kernelCase{m, Float32, p})
		}
	}
	data, queries := beforeGuard(t, 8*4*130), beforeGuard(t, 4*4*130)
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s/%s/%s", c.metric, c.element, c.profile), func(t *testing.T) {
			for _, b := range Backends() {
				for n := 1; n <= 130; n++ {
					guardedForms(newKernel(b, c.metric, c.element, c.profile, dimOf(c.element, n)), data, queries)
				}
			}
		})
	}
}

// dimOf returns the dimension of n elements, or of n bytes of bits.
func dimOf(e Element, n int) int {
	if e == Bit {
		return 8 * n
	}
	return n
}

// guardedForms runs the forms of a kernel over rows and queries at the end of their memory. Reading a byte past
// the end crashes the test binary.
func guardedForms(k *Kernel, data, queries []byte) {
	size := k.Element.Bytes(k.Dim)
	query := len(k.widen(make([]byte, size)))
	for _, rows := range []int{1, 2, 7} {
		x := unsafe.Pointer(&data[len(data)-rows*size])
		q := unsafe.Pointer(&queries[len(queries)-query])
		out := make([]float32, 4*rows)
		k.Scan(q, x, uintptr(size), out[:rows])
		ids := make([]uint32, rows)
		for i := range ids {
			ids[i] = uint32(i)
		}
		k.Gather(q, x, uintptr(size), ids, out)
		k.Block(unsafe.Pointer(&queries[len(queries)-4*query]), uintptr(query), x, uintptr(size), out, rows)
	}
}
