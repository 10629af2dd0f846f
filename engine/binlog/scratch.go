package binlog

import (
	"runtime"

	"kitescope/engine/parquet"
)

// scratch is what reading one file after another takes again and again. It is for one column at a time.
type scratch struct{ workers []*worker }

// worker is what one goroutine needs to decode pages.
type worker struct {
	*parquet.Decompressor
	window []byte // that its pages lie in
	pages  []page
}

func newScratch() (*scratch, error) {
	s := &scratch{}
	for range max(1, min(runtime.GOMAXPROCS(0), 4)) {
		d, err := parquet.NewDecompressor()
		if err != nil {
			return nil, err
		}
		s.workers = append(s.workers, &worker{Decompressor: d})
	}
	return s, nil
}

func (s *scratch) close() {
	for _, w := range s.workers {
		w.Close()
	}
}

// trim lets go of what a huge page has made.
func (w *worker) trim() {
	clear(w.pages[:cap(w.pages)])
	if cap(w.window) > hugeWindow {
		w.window = nil
	}
	w.Trim()
}
