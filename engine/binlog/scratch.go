package binlog

import (
	"runtime"

	"kitescope/engine/parquet"
)

// scratch holds memory that is reused between files. Only one column may use it at a time.
type scratch struct{ workers []*worker }

// worker holds the memory that one goroutine needs to decode pages.
type worker struct {
	*parquet.Decompressor
	window []byte // buffer of its pages
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

// trim releases memory that was allocated for a huge page.
func (w *worker) trim() {
	clear(w.pages[:cap(w.pages)])
	if cap(w.window) > hugeWindow {
		w.window = nil
	}
	w.Trim()
}
