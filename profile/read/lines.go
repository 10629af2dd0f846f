package read

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"kitescope/internal/hints"
)

// maxLine bounds one line of text: a folded stack of some hundred thousand frames.
const maxLine = 16 << 20

// lines reads text line by line, without line ends, whichever they are.
type lines struct {
	stopped func() error // the context's
	r       *bufio.Reader
	long    []byte
	number  int
	blamed  int // the line of an error, if it is not the last one
	err     error
}

func newLines(ctx context.Context, r io.Reader) *lines {
	return &lines{stopped: ctx.Err, r: bufio.NewReaderSize(r, 256<<10)}
}

// next is the next line, valid until the next call; ok is false at the end and after errors, which err tells apart.
func (l *lines) next() (line []byte, ok bool) {
	if l.err != nil {
		return nil, false
	}
	if l.number&1023 == 0 {
		if l.err = l.stopped(); l.err != nil {
			return nil, false
		}
	}
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.rest(line)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
		return nil, false
	}
	if len(line) == 0 && err != nil {
		return nil, false
	}
	l.number++
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return bytes.TrimRight(line, "\r\n"), true
}

// each calls take with every line. Errors of take get the number of the line.
func (l *lines) each(take func(line []byte) error) error {
	for line, ok := l.next(); ok; line, ok = l.next() {
		if err := take(line); err != nil {
			return fmt.Errorf("line %d: %w", cmp.Or(l.blamed, l.number), err)
		}
	}
	return l.err
}

// misfit is the error of a line that does not belong to a format. That the beginning of a file looks like a format does
// not make all of it one, and what was left out would be missing in every figure.
func misfit(format, hint string, line []byte) error {
	return hints.Errorf(hint, "unexpected line in %s: %.60q", format, line)
}

// rest puts a line together that is longer than the buffer.
func (l *lines) rest(first []byte) ([]byte, error) {
	l.long = append(l.long[:0], first...)
	for {
		more, err := l.r.ReadSlice('\n')
		l.long = append(l.long, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
		if len(l.long) > maxLine {
			return nil, fmt.Errorf("line %d is longer than %d bytes", l.number+1, maxLine)
		}
	}
}
