// Package brotli stands for github.com/andybalholm/brotli where parquet-go needs it: it has those of its names, and neither reads nor writes
// (README.md).
package brotli

import (
	"errors"
	"io"
)

var errNone = errors.New("brotli: not in this program (third_party/brotli)")

// Reader reads nothing.
type Reader struct{}

// NewReader returns a Reader whose reads fail.
func NewReader(io.Reader) *Reader { return &Reader{} }

// Reset does nothing.
func (*Reader) Reset(io.Reader) error { return nil }

// Read fails.
func (*Reader) Read([]byte) (int, error) { return 0, errNone }

// WriterOptions configure nothing.
type WriterOptions struct{ Quality, LGWin int }

// Writer writes nothing.
type Writer struct{}

// NewWriterOptions returns a Writer whose writes fail.
func NewWriterOptions(io.Writer, WriterOptions) *Writer { return &Writer{} }

// Reset does nothing.
func (*Writer) Reset(io.Writer) {}

// Write fails.
func (*Writer) Write([]byte) (int, error) { return 0, errNone }

// Flush fails.
func (*Writer) Flush() error { return errNone }

// Close fails.
func (*Writer) Close() error { return errNone }
