// Package object reads the files of Milvus's storage, and lists them, wherever they are: a
// folder, a tar archive, a bucket.
//
// In: a place (a path or an s3:// URL). Out: names below it, and files that can be read at any
// offset. Nothing here writes.
package object

import (
	"context"
	"io"
)

// Store is a place with files: a folder, an archive, a bucket.
type Store interface {
	// List returns the files whose name starts with prefix, in byte order.
	List(ctx context.Context, prefix string) ([]File, error)
	// Open returns the file; the caller closes it.
	Open(ctx context.Context, name string) (Reader, error)
	Close() error
}

// File is a name, with slashes, and a length in bytes.
type File struct {
	Name string
	Size int64
}

// Reader is an open file.
type Reader interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Mapping is a file in memory. One that shrinks meanwhile ends the process, as with every mapping.
type Mapping struct {
	Data    []byte
	Unmap   func()
	Discard func(from, to int) // takes pages out of memory until they are read again; nil where they cannot be given back one by one
}
