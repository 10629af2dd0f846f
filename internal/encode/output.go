package encode

import "io"

// Output collects bytes in Buf and hands them on in large pieces.
type Output struct {
	Buf []byte
	w   io.Writer
	err error
}

const pieceSize = 64 << 10

// Pieces is the room that an Output of many pieces begins with.
const Pieces = pieceSize + 4<<10

// NewOutput is an Output with room for so many bytes at first.
func NewOutput(w io.Writer, room int) Output { return Output{w: w, Buf: make([]byte, 0, room)} }

// Drain writes when enough has come together.
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

// Flush writes what has come together. It returns the first error of any write.
func (o *Output) Flush() error {
	if o.err == nil && len(o.Buf) > 0 {
		_, o.err = o.w.Write(o.Buf)
	}
	o.Buf = o.Buf[:0]
	return o.err
}

// Pass writes text behind what has come together, without a copy.
func (o *Output) Pass(text []byte) error {
	if o.Flush() == nil {
		_, o.err = o.w.Write(text)
	}
	return o.err
}
