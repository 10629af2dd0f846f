// Package object lists and reads the files of Milvus's storage in a folder, a tar archive or a bucket.
//
// A place is a path or an s3:// URL. Files can be read at any offset. The package never writes to a store.
package object

import (
	"context"
	"io"
)

// Store is a folder, an archive or a bucket with files.
type Store interface {
	// List returns the files whose name starts with prefix, sorted by name in byte order.
	List(ctx context.Context, prefix string) ([]File, error)
	// Open opens a file. The caller must close it.
	Open(ctx context.Context, name string) (Reader, error)
	Close() error
}

// File is the name of a file, with slashes, and its length in bytes.
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

// Mapping is a file in memory. If the file shrinks while it is mapped, access to it ends the process, as with
// every mapping.
type Mapping struct {
	Data    []byte
	Unmap   func()
	Discard func(from, to int) // releases pages until they are read again; nil if single pages cannot be released
}
