package source

import (
	"errors"
	"fmt"
	"io"
)

// blockBytes is how much of a stream one block of memory holds.
const blockBytes = 4 << 20

// blocks is a stream held in memory. It is not one slice: to grow that, by
// doubling, takes three times the memory that the stream needs in the end.
type blocks [][]byte

// readBlocks takes up to limit+1 bytes of r into memory.
func readBlocks(r io.Reader, limit int64) (b blocks, size int64, err error) {
	r = io.LimitReader(r, limit+1)
	for {
		first := blockBytes
		if len(b) == 0 { // most of what comes through a pipe is small
			first = 64 << 10
		}
		block := make([]byte, first)
		n, err := fillBlock(r, block)
		for err == nil && len(block) < blockBytes {
			block = append(block, make([]byte, len(block))...)
			var more int
			more, err = fillBlock(r, block[n:])
			n += more
		}
		if n > 0 {
			b = append(b, block[:n:n])
			size += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return b, size, nil
		}
		if err != nil {
			return b, size, err
		}
	}
}

// fillBlock is io.ReadFull, but an end of r is io.EOF wherever it comes: of a gzip
// stream, io.ErrUnexpectedEOF means that it was cut off.
func fillBlock(r io.Reader, block []byte) (n int, err error) {
	for n < len(block) && err == nil {
		var more int
		more, err = r.Read(block[n:])
		n += more
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (b blocks) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, fmt.Errorf("read at %d: no such place", at)
	}
	for i := at / blockBytes; i < int64(len(b)) && n < len(p); i++ {
		from := (at + int64(n)) % blockBytes
		if from >= int64(len(b[i])) {
			break
		}
		n += copy(p[n:], b[i][from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
