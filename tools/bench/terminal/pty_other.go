//go:build !linux

package terminal

import (
	"errors"
	"os"
	"os/exec"
)

func open(_, _ int) (master, slave *os.File, err error) {
	return nil, nil, errors.ErrUnsupported
}

func controlling(*exec.Cmd) {}

// Memory is supported on Linux only.
func Memory(int) (now, peak int64, err error) { return 0, 0, errors.ErrUnsupported }
