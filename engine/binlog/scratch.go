package binlog

import (
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// scratch is memory that reading one file after another takes again and again. It is for one column at a time.
type scratch struct {
	workers int // goroutines that decode pages
	zstd    *zstd.Decoder
	window  []byte // of the one goroutine that finds pages
	spare   chan []byte
}

func newScratch() (*scratch, error) {
	workers := max(1, min(runtime.GOMAXPROCS(0), 4))
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers), zstd.WithDecodeAllCapLimit(true),
		zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &scratch{workers: workers, zstd: z, spare: make(chan []byte, 3*workers+1)}, nil
}

func (s *scratch) close() { s.zstd.Close() }

// buffer is one that was given back, or nil.
func (s *scratch) buffer() []byte {
	select {
	case b := <-s.spare:
		return b
	default:
		return nil
	}
}

// giveBack keeps a buffer for the next who needs one. One that a huge page has made is not kept.
func (s *scratch) giveBack(b []byte) {
	if cap(b) == 0 || cap(b) > pageFloor {
		return
	}
	select {
	case s.spare <- b:
	default:
	}
}
