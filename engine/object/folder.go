package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// OpenFolder opens a folder, e.g. that of a Milvus with local storage or a copy of a bucket. Names are relative to
// the folder. Links to places outside the folder are not followed.
func OpenFolder(dir string) (Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{root: root, dir: dir}, nil
}

type folder struct {
	root *os.Root
	dir  string
}

func (f *folder) String() string { return f.dir }
func (f *folder) Close() error   { return f.root.Close() }

func (f *folder) List(ctx context.Context, prefix string) ([]File, error) {
	var files []File
	// Every match is below the last slash of the prefix, so walk only that directory.
	start := "."
	if i := strings.LastIndexByte(prefix, '/'); i > 0 {
		start = prefix[:i]
	}
	if !fs.ValidPath(start) {
		return nil, nil // no file has such a name
	}
	err := fs.WalkDir(f.root.FS(), start, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return err
		case d.IsDir() && name != "." && !strings.HasPrefix(name+"/", prefix) && !strings.HasPrefix(prefix, name+"/"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasPrefix(name, prefix):
			return nil
		}
		info, err := f.root.Stat(name)
		if err != nil {
			return nil //nolint:nilerr // a link that leads nowhere or out of the folder is no file of the store
		}
		if info.Mode().IsRegular() {
			files = append(files, File{Name: name, Size: info.Size()})
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list %s: %w", path.Join(f.dir, prefix), err)
	}
	sortFiles(files)
	return files, nil
}

func (f *folder) Open(ctx context.Context, name string) (Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !fs.ValidPath(name) {
		return nil, notExist(name)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notExist(name)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &openFile{File: file, size: info.Size()}, nil
}

// openFile is a file with the size that it had when it was opened.
type openFile struct {
	*os.File
	size int64
}

func (f *openFile) Size() int64 { return f.size }

// Local reports that small reads are cheap (see parquet.Local).
func (f *openFile) Local() bool { return true }

// part is a section of an archive. Closing it leaves the archive open.
type part struct{ *io.SectionReader }

func (part) Close() error { return nil }
func (part) Local() bool  { return true }

func notExist(name string) error {
	return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func sortFiles(files []File) {
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}
