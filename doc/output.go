package doc

import "io"

// output collects bytes and hands them on in large pieces.
type output struct {
	w   io.Writer
	buf []byte
	err error
}

const pieceSize = 64 << 10

func newOutput(w io.Writer) output { return output{w: w, buf: make([]byte, 0, 512)} }

// drain writes when enough has come together.
func (o *output) drain() {
	if len(o.buf) >= pieceSize {
		_ = o.write()
	}
}

func (o *output) write() error {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err
}
