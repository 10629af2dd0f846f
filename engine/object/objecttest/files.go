// Package objecttest has a store of files that tests write. In: names and bytes. Out: an object.Store.
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

// Files is a store of files in memory, by their names.
type Files map[string][]byte

type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

// File returns a file of these bytes.
func File(b []byte) object.Reader { return file{bytes.NewReader(b)} }

// Close does nothing.
func (Files) Close() error { return nil }

// List returns the files with a prefix, by name.
func (f Files) List(_ context.Context, prefix string) ([]object.File, error) {
	var all []object.File
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if strings.HasPrefix(name, prefix) {
			all = append(all, object.File{Name: name, Size: int64(len(f[name]))})
		}
	}
	return all, nil
}

// Open opens a file, unless the context is over.
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
