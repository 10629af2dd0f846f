//go:build !unix

package object

import (
	"io"
	"os"
)

// Map reads the file: this system has no mapping that the standard library offers.
func Map(f *os.File) (Mapping, error) {
	data, err := io.ReadAll(f)
	return Mapping{Data: data, Unmap: func() {}}, err
}
