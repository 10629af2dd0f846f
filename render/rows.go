package render

import (
	"runtime"
	"sync"

	"kitescope/internal/encode"
)

// rowWriter appends a row to a buffer. It can use scratch space, because each goroutine has its own rowWriter.
type rowWriter interface {
	appendRow(dst []byte, i int) []byte
}

// Rows are written in blocks. Blocks are small enough for a few in flight to need little memory, and large enough
// to make the cost of passing them negligible.
const (
	blockRows       = 512
	minParallelRows = 16 * blockRows // a single goroutine is faster for fewer rows
)

// writeRows writes n rows in order. It formats many rows on all processors. It returns the row writers that were
// used.
func writeRows[W rowWriter](out *encode.Output, n int, newWriter func() W) []W {
	if n < minParallelRows {
		w := newWriter()
		for i := range n {
			out.Buf = w.appendRow(out.Buf, i)
			out.Drain()
		}
		return []W{w}
	}
	return writeBlocks(out, n, newWriter)
}

// block is a range of rows, with a channel for their text.
type block struct {
	from, to int
	text     chan []byte
}

// writeBlocks passes blocks to workers and writes their texts in order. It reuses the buffers.
func writeBlocks[W rowWriter](out *encode.Output, n int, newWriter func() W) []W {
	if out.Flush() != nil {
		return nil
	}
	count := runtime.GOMAXPROCS(0)
	work, inOrder := make(chan block), make(chan block, 2*count)
	buffers := make(chan []byte, 4*count)
	stop := make(chan struct{})
	writers := make([]W, count)
	var group sync.WaitGroup
	for i := range writers {
		writers[i] = newWriter()
		group.Go(func() {
			for b := range work {
				b.text <- appendBlock(takeBuffer(buffers), writers[i], b)
			}
		})
	}
	go func() {
		defer close(inOrder)
		defer close(work)
		for from := 0; from < n; from += blockRows {
			b := block{from, min(n, from+blockRows), make(chan []byte, 1)}
			inOrder <- b
			select {
			case work <- b:
			case <-stop:
				b.text <- nil
				return
			}
		}
	}()
	failed := false
	for b := range inOrder {
		text := <-b.text
		if !failed && out.Pass(text) != nil {
			failed = true
			close(stop) // stop formatting, because the output is not read
		}
		select {
		case buffers <- text[:0]:
		default:
		}
	}
	group.Wait()
	return writers
}

func appendBlock[W rowWriter](dst []byte, w W, b block) []byte {
	for i := b.from; i < b.to; i++ {
		dst = w.appendRow(dst, i)
	}
	return dst
}

func takeBuffer(buffers chan []byte) []byte {
	select {
	case b := <-buffers:
		return b
	default:
		return nil
	}
}

// parallelRanges splits n rows among the processors and returns the result of each part.
func parallelRanges[T any](n int, do func(from, to int) T) []T {
	count := 1
	if n >= minParallelRows {
		count = runtime.GOMAXPROCS(0)
	}
	found := make([]T, count)
	var group sync.WaitGroup
	for i := range found {
		group.Go(func() { found[i] = do(n*i/count, n*(i+1)/count) })
	}
	group.Wait()
	return found
}
