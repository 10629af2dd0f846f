//go:build !unix

package object

import (
	"io"
	"os"
)

// Map reads the file into memory, because the standard library has no mapping for this system.
func Map(f *os.File) (Mapping, error) {
	data, err := io.ReadAll(f)
	return Mapping{Data: data, Unmap: func() {}}, err
}
