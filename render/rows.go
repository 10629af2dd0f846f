package render

import (
	"runtime"
	"sync"

	"kitescope/internal/encode"
)

// rowWriter appends one row to a buffer. It may keep scratch space: each goroutine has
// its own.
type rowWriter interface {
	appendRow(dst []byte, i int) []byte
}

// Rows are written in blocks: small enough that a few of them in flight cost little
// memory, large enough that handing them over costs nothing.
const (
	blockRows  = 512
	fewestRows = 16 * blockRows // below, one goroutine is faster
)

// writeRows writes n rows in order; many rows are formatted on all processors. It
// returns the writers that took part.
func writeRows[W rowWriter](out *encode.Output, n int, newWriter func() W) []W {
	if n < fewestRows {
		w := newWriter()
		for i := range n {
			out.Buf = w.appendRow(out.Buf, i)
			out.Drain()
		}
		return []W{w}
	}
	return writeBlocks(out, n, newWriter)
}

// block is a range of rows and where its text will come out.
type block struct {
	from, to int
	text     chan []byte
}

// writeBlocks hands blocks to the workers and, in the same order, to itself: it waits
// for the text of each in turn. The buffers go round.
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
			close(stop) // nobody reads on: format no more
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

// inParts splits n rows among the processors and returns what each found.
func inParts[T any](n int, look func(from, to int) T) []T {
	count := 1
	if n >= fewestRows {
		count = runtime.GOMAXPROCS(0)
	}
	found := make([]T, count)
	var group sync.WaitGroup
	for i := range found {
		group.Go(func() { found[i] = look(n*i/count, n*(i+1)/count) })
	}
	group.Wait()
	return found
}
