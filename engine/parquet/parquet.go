// Package parquet reads parquet files that may be damaged or hostile: metadata (ReadFooter), the pages of a column
// (PageReader), and the values of columns of numbers (File.Pages). It compares every count, length and offset with
// the bytes that are present, and allocates nothing because of a count alone.
//
// It does not use parquet-go. That library fills a page with previous content of its memory if it decodes to fewer
// values than the page declares. It loses pages of LZ4 (v0.32.0). It also takes 1.2 s instead of 0.13 s of one core
// for 25 MiB of an index file, which stores each byte as a value.
//
// Formats: parquet-format's parquet.thrift and Encodings.md; thrift-compact-protocol.md of Apache Thrift.
package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ReadAt fills b. If the file is too short, the error contains the offset and the number of bytes found.
func ReadAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("offset %d: expected %d bytes, found %d: %w", at, len(b), n, err)
}

// Quote returns text of a file for use in an error: short, and without control characters.
func Quote(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	if !utf8.ValidString(s) {
		return fmt.Sprintf("% x", s)
	}
	return strconv.Quote(s)
}

// maxShownName is the maximum length in bytes of a name of the file in an error.
const maxShownName = 60

// QuoteName returns a name of the file for use in an error: short, and quoted if it has non-printable characters.
func QuoteName(name string) string {
	short := cut(name, maxShownName)
	if !utf8.ValidString(short) || strings.ContainsFunc(short, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(short)
	}
	return short
}

// cut truncates s to no more than most bytes, at the start of a character, and marks the cut.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// Bytes is a file in memory.
type Bytes []byte

// ReadAt implements io.ReaderAt.
func (b Bytes) ReadAt(p []byte, at int64) (int, error) { return bytes.NewReader(b).ReadAt(p, at) }
