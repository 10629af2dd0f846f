package binlog

import (
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// scratch is what reading one file after another takes again and again. It is for one column at a time.
type scratch struct{ workers []*worker }

// worker is what one goroutine needs to decode pages.
type worker struct {
	zstd    *zstd.Decoder
	window  []byte // that its pages lie in
	pages   []page
	content []byte // of one page, decompressed
}

func newScratch() (*scratch, error) {
	s := &scratch{}
	for range max(1, min(runtime.GOMAXPROCS(0), 4)) {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		s.workers = append(s.workers, &worker{zstd: z})
	}
	return s, nil
}

func (s *scratch) close() {
	for _, w := range s.workers {
		w.zstd.Close()
	}
}

// trim lets go of what a huge page has made.
func (w *worker) trim() {
	clear(w.pages[:cap(w.pages)])
	if cap(w.window) > pageFloor {
		w.window = nil
	}
	if cap(w.content) > pageFloor {
		w.content = nil
	}
}
