//go:build unix

package dataset

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// mapFile returns the file's bytes, and what gives them back. What cannot be mapped, such as
// a pipe, is read.
func mapFile(f *os.File) ([]byte, func(), error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := info.Size()
	if !info.Mode().IsRegular() {
		data, err := io.ReadAll(f)
		return data, func() {}, err
	}
	if size == 0 {
		return nil, func() {}, nil // nothing can be mapped; the formats say what they miss
	}
	if size != int64(int(size)) {
		return nil, nil, fmt.Errorf("%d bytes are too many for this machine", size)
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return data, func() { _ = syscall.Munmap(data) }, nil
}
