package binlog

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// TestTheFirstDamagedPageIsNamed: whichever goroutine comes upon which of two damaged pages first.
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
	for range 30 {
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
