// Package objecttest provides an object.Store in memory for tests.
package objecttest

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"kitescope/engine/object"
)

// Files is a store in memory. It maps names to the contents of files.
type Files map[string][]byte

type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

// File returns a reader of b.
func File(b []byte) object.Reader { return file{bytes.NewReader(b)} }

// Close does nothing.
func (Files) Close() error { return nil }

// List returns the files with a prefix, sorted by name.
func (f Files) List(_ context.Context, prefix string) ([]object.File, error) {
	var all []object.File
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if strings.HasPrefix(name, prefix) {
			all = append(all, object.File{Name: name, Size: int64(len(f[name]))})
		}
	}
	return all, nil
}

// Open opens a file. It returns an error if the context is done or the file does not exist.
func (f Files) Open(ctx context.Context, name string) (object.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, ok := f[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return File(b), nil
}
