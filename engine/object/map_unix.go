//go:build unix

package object

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// Map maps a file into memory. It reads files that cannot be mapped, such as a pipe.
func Map(f *os.File) (Mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return Mapping{}, err
	}
	size := info.Size()
	if size == 0 || !info.Mode().IsRegular() {
		data, err := io.ReadAll(f)
		return Mapping{Data: data, Unmap: func() {}}, err
	}
	if size != int64(int(size)) {
		return Mapping{}, fmt.Errorf("%d bytes are too many for this machine", size)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return Mapping{}, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return Mapping{Data: data, Unmap: func() { _ = syscall.Munmap(data) }, Discard: discard(data)}, nil
}
