package profile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"

	"kitescope/internal/hints"
)

// Decode reads a pprof file (profile.proto of google/pprof), with or without gzip compression, and checks it
// as google's profile.CheckValid does. It reads r to the end in pieces and keeps at most one piece of the raw
// bytes. For legacy text formats it returns an error with a hint. Errors do not name the file.
func Decode(ctx context.Context, r io.Reader, limits Limits) (*Profile, error) {
	in := &counter{r: r}
	limits = limits.orDefaults()
	if limits.Size == 0 {
		limits.Size = sizeOf(r)
	}
	buffered := bufio.NewReaderSize(in, 64<<10)
	d := &decoder{limits: limits, in: in}
	d.samples.init(limits)
	head, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) == 0 {
		return nil, hints.Errorf("pull it again: the response had no body, or the disk was full",
			"the profile is empty")
	}
	plain := io.Reader(buffered)
	if len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		d.isCompressed = true
		plain, err = gzip.NewReader(buffered)
		if err != nil {
			return nil, d.explain(err)
		}
	}
	d.window = newWindow(plain, limits)
	err = d.fields(ctx)
	if err == nil {
		p, finishErr := d.finish()
		if finishErr == nil {
			return p, nil
		}
		err = finishErr
	}
	return nil, d.explain(err)
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// sizeOf returns the number of bytes in a reader, 0 if unknown.
func sizeOf(r io.Reader) int64 {
	if sized, ok := r.(interface{ Len() int }); ok { // bytes.Reader, bytes.Buffer, strings.Reader
		return int64(sized.Len())
	}
	if file, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}

// Errors of the wire format. explain turns them into messages for users.
var (
	errTruncated = errors.New("cut")
	errMalformed = errors.New("malformed profile")
)

// malformed returns an errMalformed with a description of the invalid content.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errMalformed, fmt.Sprintf(format, args...))
}

// explain turns a decoding error into one line with a hint. If the first bytes show another file format, the
// error names that format.
func (d *decoder) explain(err error) error {
	if hints.HasHint(err) {
		return err
	}
	var corrupt flate.CorruptInputError
	isCut := errors.Is(err, errTruncated) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
	isDamaged := errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt)
	if !isCut && !isDamaged && !errors.Is(err, errMalformed) {
		return err
	}
	if !isDamaged {
		if other := recognize(d.window.head()); other != nil {
			return other
		}
	}
	switch {
	case isDamaged:
		return hints.Errorf("pull it again; if it was copied, copy it in binary mode",
			"the profile is damaged: its compressed data cannot be read (%w)", err)
	case isCut && d.decodedAny():
		return hints.Errorf("pull it again", "the profile is cut after %d bytes", d.in.n)
	case isCut:
		return hints.Errorf(formatHint, "unknown profile format: not pprof, plain or compressed")
	}
	return hints.Errorf(formatHint, "%w", err)
}

const formatHint = "check whether it is a pprof file: go tool pprof -raw FILE"

// decodedAny reports whether any part of a profile was decoded.
func (d *decoder) decodedAny() bool {
	return d.isCompressed || len(d.types) > 0 || len(d.starts) > 1 || len(d.texts.ends) > 0
}
