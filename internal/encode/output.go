package encode

import "io"

// Output collects bytes in Buf and hands them on in large pieces.
type Output struct {
	Buf []byte
	w   io.Writer
	err error
}

const pieceSize = 64 << 10

// Pieces is the initial capacity for an Output of more than one piece.
const Pieces = pieceSize + 4<<10

// NewOutput returns an Output with the given initial capacity in bytes.
func NewOutput(w io.Writer, capacity int) Output { return Output{w: w, Buf: make([]byte, 0, capacity)} }

// Drain flushes the buffer if it holds at least 64 KiB.
func (o *Output) Drain() {
	if len(o.Buf) >= pieceSize {
		_ = o.Flush()
	}
}

// Write implements io.Writer, for templates.
func (o *Output) Write(b []byte) (int, error) {
	o.Buf = append(o.Buf, b...)
	o.Drain()
	return len(b), o.err
}

// Flush writes the buffered bytes. It returns the first error of any write.
func (o *Output) Flush() error {
	if o.err == nil && len(o.Buf) > 0 {
		_, o.err = o.w.Write(o.Buf)
	}
	o.Buf = o.Buf[:0]
	return o.err
}

// Pass flushes the buffer and writes text without copying it.
func (o *Output) Pass(text []byte) error {
	if o.Flush() == nil {
		_, o.err = o.w.Write(text)
	}
	return o.err
}
