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

// maxLine is the maximum length of a line in bytes. A folded stack of some hundred thousand frames fits.
const maxLine = 16 << 20

// lines reads text line by line and strips line ends of any kind.
type lines struct {
	stopped func() error // returns the error of the context
	r       *bufio.Reader
	long    []byte
	number  int
	errLine int // the line number for an error, if it is not that of the last line
	err     error
}

func newLines(ctx context.Context, r io.Reader) *lines {
	return &lines{stopped: ctx.Err, r: bufio.NewReaderSize(r, 256<<10)}
}

// next returns the next line, which is valid until the next call. ok is false at the end of the text and after
// an error, which is in l.err.
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

// each calls take with every line. Errors of take are wrapped with the line number.
func (l *lines) each(take func(line []byte) error) error {
	for line, ok := l.next(); ok; line, ok = l.next() {
		if err := take(line); err != nil {
			return fmt.Errorf("line %d: %w", cmp.Or(l.errLine, l.number), err)
		}
	}
	return l.err
}

// malformedLine returns the error for a line that does not belong to the format. Such lines are not skipped, because a
// file can begin like a format without being in it, and every figure would miss the skipped lines.
func malformedLine(format, hint string, line []byte) error {
	return hints.Errorf(hint, "unexpected line in %s: %.60q", format, line)
}

// rest reads the remainder of a line that is longer than the buffer.
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
