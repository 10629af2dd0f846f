//go:build unix

package index

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// mapFile maps a file. What cannot be mapped, such as a pipe, is read.
func mapFile(f *os.File) (mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return mapping{}, err
	}
	size := info.Size()
	if size == 0 || !info.Mode().IsRegular() {
		data, err := io.ReadAll(f)
		return mapping{data: data, unmap: func() {}}, err
	}
	if size != int64(int(size)) {
		return mapping{}, fmt.Errorf("%d bytes are too many for this machine", size)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return mapping{}, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return mapping{data: data, unmap: func() { _ = syscall.Munmap(data) }, discard: discard(data)}, nil
}
