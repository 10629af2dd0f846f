package log

import (
	"cmp"
	"fmt"
	"unsafe"

	"kitescope/engine"
)

// What is made of a file may take so many times its own bytes in memory, and so much more: a plain line of few bytes
// becomes ten times as much, and compressed text of real vectors about as much as it takes on the disk.
const (
	maxHeldRatio = 32
	maxHeldExtra = 1 << 30
)

// held is what requests take in memory, against what was read of their file.
type held struct {
	bytes int64
	extra int64 // 0: maxHeldExtra
}

// add counts a request, with its vectors and keys.
func (h *held) add(r *Request, row int, truth [][]engine.Key) {
	h.bytes += int64(unsafe.Sizeof(*r)) + int64(unsafe.Sizeof(timeMark(0))) + int64(r.NQ)*int64(row)
	if r.Filter != nil {
		h.bytes += int64(unsafe.Sizeof(*r.Filter))
		h.bytes += int64(len(r.Filter.Expr))
		h.keys(r.Filter.Keys)
	}
	for _, list := range truth {
		h.bytes += int64(unsafe.Sizeof(list))
		h.keys(list)
	}
}

func (h *held) keys(list []engine.Key) {
	for i := range list {
		h.bytes += int64(unsafe.Sizeof(list[i])) + int64(len(list[i].Text))
	}
}

// over is the error of a file whose requests take far more than its bytes.
func (h *held) over(read int64, requests int) error {
	extra := h.extra
	extra = cmp.Or(extra, maxHeldExtra)
	if h.bytes <= maxHeldRatio*read+extra {
		return nil
	}
	return fmt.Errorf("%d compressed bytes became %d requests of %d MiB: not a real log", read, requests, h.bytes>>20)
}

const overHint = "unpack it first, or limit how many requests are read"
