package binlog

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/parquet"
)

// splitSink returns a sink for a blob of n bytes with split records, whose parts have the given sizes, and a function
// that returns its bytes in order.
func splitSink(t *testing.T, r *rand.Rand, n int, sizes ...int) (*octets, func() []byte) {
	t.Helper()
	records := &Records{At: r.IntN(n / 2)}
	for _, size := range sizes {
		records.Size += size
	}
	records.Count = r.IntN((n-records.At)/records.Size + 1)
	for _, size := range sizes {
		stride := size + r.IntN(5)
		v, err := engine.NewVectors(dist.Int8, max(1, stride*records.Count), 1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Release)
		records.Parts = append(records.Parts, Field{Bytes: size, To: v.Row(0), Stride: stride})
	}
	s := &octets{rows: make([]byte, n), records: records}
	return s, func() []byte {
		b := make([]byte, 0, n)
		for len(b) < n {
			b = append(b, s.span(len(b), n-len(b))...)
		}
		return b
	}
}

// TestOctetsMatchAnyWidth decodes random runs of 8-bit indices, some truncated, and compares the result with
// the decoder for any width.
func TestOctetsMatchAnyWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	wrong := 0
	for range 3000 {
		const size = 4000
		entries := make([]byte, 4*[]int{1, 7, 256, 256, 256}[r.IntN(5)])
		for i := 0; i < len(entries); i += 4 {
			entries[i] = byte(r.Uint32())
		}
		var b []byte
		count := 0
		for n := 1 + r.IntN(12); n > 0; n-- {
			if r.IntN(3) == 0 {
				k := 1 + r.IntN(1<<r.IntN(10))
				b = append(binary.AppendUvarint(b, uint64(k)<<1), byte(r.IntN(len(entries)/4+r.IntN(2)*r.IntN(2))))
				count += k
				continue
			}
			groups := 1 + r.IntN(1<<r.IntN(7))
			b = binary.AppendUvarint(b, uint64(groups)<<1|1)
			for range 8 * groups {
				b = append(b, byte(r.IntN(len(entries)/4)))
			}
			count += 8 * groups
		}
		if r.IntN(4) == 0 {
			b = b[:r.IntN(len(b)+1)]
		}
		at := r.IntN(size / 2)
		count = min(count, size-at) - r.IntN(2)
		seed := r.Uint64()
		var contents [2][]byte
		var errs [2]error
		for way := range 2 {
			s, content := splitSink(t, rand.New(rand.NewPCG(seed, 0)), size, 4, 36, 140)
			d, err := s.dictionary(entries, len(entries)/4)
			if err != nil {
				t.Fatal(err)
			}
			if way == 0 {
				errs[way] = d.(*octetEntries).octets(b, at, count)
			} else {
				errs[way] = parquet.EachRun(b, 8, at, count, d.repeated, d.packed)
			}
			contents[way] = content()
		}
		if (errs[0] == nil) != (errs[1] == nil) || errs[0] != nil && errs[0].Error() != errs[1].Error() {
			t.Fatalf("%v, and by the way for any number of bits: %v", errs[0], errs[1])
		}
		if errs[0] != nil {
			wrong++
		} else if !bytes.Equal(contents[0], contents[1]) {
			t.Fatalf("%d values from %d on differ: %s", count, at, cmp.Diff(contents[1], contents[0]))
		}
	}
	if wrong == 0 || wrong > 1500 {
		t.Errorf("%d of 3000 are wrong", wrong)
	}
}

// TestTouchKeepsData checks that only memory of rows that will be written is touched.
func TestTouchKeepsData(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	touched := 0
	for i := range 4 {
		const n = 24 << 20
		// For long records, a part is usually already written, and a huge page begins in it.
		s, content := splitSink(t, r, n, 4, 132, []int{3000 + r.IntN(100), 3 << 20}[i%2])
		for _, p := range append(s.records.Parts, Field{To: s.rows}) {
			for i := range p.To {
				p.To[i] = 1
			}
		}
		from := r.IntN(n)
		to := from + r.IntN(n-from)
		s.touch(from, to)
		after := content()
		touched += bytes.Count(after[from:to], []byte{0})
		if bytes.Count(after[:from], []byte{0})+bytes.Count(after[to:], []byte{0}) != 0 {
			t.Fatalf("bytes outside of %d to %d were written", from, to)
		}
		if total := bytes.Count(after, []byte{1}) + bytes.Count(after, []byte{0}); total != n {
			t.Fatalf("%d bytes of %d", total, n)
		}
	}
	if touched == 0 && runtime.GOOS == "linux" {
		t.Error("nothing was touched")
	}
	v, err := engine.NewVectors(dist.Float32, 100, 50_000)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	for i := range v.Span(0, v.Rows) {
		v.Span(0, v.Rows)[i] = 1
	}
	(&vectors{rows: v}).touch(100, 49_000)
	for i, b := range v.Span(0, v.Rows) {
		at := unsafe.Pointer(&v.Span(0, v.Rows)[i])
		if b == 0 && (i < 100*v.Stride || i >= 49_000*v.Stride || uintptr(at)%(2<<20) != 0) {
			t.Fatalf("byte %d was written", i)
		}
	}
}

// TestTheFirstDamagedPageIsNamed checks that the error names the first of two damaged pages, whichever goroutine
// decodes them first.
func TestTheFirstDamagedPageIsNamed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var b bytes.Buffer
	if err := WriteIndexFile(&b, Descriptor{}, 1, noise(16<<20)); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	magic := []byte{0x28, 0xb5, 0x2f, 0xfd}
	pages := bytes.Count(file, magic)
	if pages < 8 {
		t.Fatalf("%d pages", pages)
	}
	at := 0
	for i := range pages {
		at += bytes.Index(file[at:], magic)
		if i == pages/3 || i == pages/3+1 || i == pages/2 {
			file[at] ^= 0xff
		}
		at++
	}
	want := ""
	for range 6 {
		x, err := ReadIndex(t.Context(), files{"file/1/2/3/HNSW": file}, "file")
		if err == nil {
			x.Release()
			t.Fatal("damaged pages are no error")
		}
		if want == "" {
			want = err.Error()
		}
		if err.Error() != want || !strings.Contains(want, "page at offset") {
			t.Errorf("%v, before: %s", err, want)
		}
	}
}

// TestTinyPagesAreHandedOutInBatches checks that pages are handed out in batches, because the metadata of a page
// takes more memory than a one-byte page.
func TestTinyPagesAreHandedOutInBatches(t *testing.T) {
	tiny := []byte{0x15, 0, 0x15, 2, 0x15, 2, 0x2c, 0x15, 0, 0x15, 0, 0, 0, 7} // a data page: one byte, no values
	const n = 3*batch + 100
	c := &column{file: &parquet.File{R: bytes.NewReader(bytes.Repeat(tiny, n))}, sink: &octets{}}
	w := &worker{}
	s, pages := c.scan(t.Context(), parquet.Chunk{Length: int64(n * len(tiny))}, 0, 1), 0
	for s.next(w) {
		if len(w.pages) > batch {
			t.Fatalf("%d pages at once", len(w.pages))
		}
		for _, p := range w.pages {
			if !bytes.Equal(p.body, []byte{7}) {
				t.Fatalf("page at offset %d: % x", p.at, p.body)
			}
		}
		pages += len(w.pages)
	}
	if pages != n || s.err == nil {
		t.Errorf("%d pages of %d, and behind them: %v", pages, n, s.err)
	}
}
