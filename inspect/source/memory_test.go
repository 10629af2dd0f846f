// Nothing runs side by side here, so that the race detector would find nothing, in up to ten times the time.

//go:build !race

package source

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// TestBlocks compares reads of blocks with those of one slice.
func TestBlocks(t *testing.T) {
	random := rand.NewChaCha8([32]byte{5, 6})
	r := rand.New(random)
	for _, size := range []int{0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 2*blockBytes + 77} {
		content := make([]byte, size)
		if _, err := random.Read(content); err != nil {
			t.Fatal(err)
		}
		b, n, err := readBlocks(bytes.NewReader(content), 1<<30)
		if err != nil || n != int64(size) {
			t.Fatalf("%d bytes: %d, %v", size, n, err)
		}
		for range 40 {
			at, want := r.Int64N(int64(size)+10), make([]byte, r.IntN(2*blockBytes))
			got := make([]byte, len(want))
			wantN, wantErr := bytes.NewReader(content).ReadAt(want, at)
			gotN, gotErr := b.ReadAt(got, at)
			if wantN != gotN || len(want) > 0 && (wantErr == nil) != (gotErr == nil) || !bytes.Equal(want, got) {
				t.Fatalf("%d bytes at %d of %d: %d, %v; want %d, %v", len(want), at, size, gotN, gotErr, wantN, wantErr)
			}
		}
	}
	if _, n, err := readBlocks(iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(make([]byte, 99)))), 1000); !errors.Is(err, iotest.ErrTimeout) || n != 1 {
		t.Errorf("a reader that breaks: %d bytes, %v", n, err)
	}
	if _, n, err := readBlocks(iotest.ErrReader(io.ErrUnexpectedEOF), 1000); !errors.Is(err, io.ErrUnexpectedEOF) || n != 0 {
		t.Errorf("a stream that is cut off: %d bytes, %v", n, err)
	}
	if _, n, err := readBlocks(bytes.NewReader(make([]byte, 5000)), 1000); err != nil || n != 1001 {
		t.Errorf("a limit of 1000: %d bytes, %v", n, err)
	}
}
