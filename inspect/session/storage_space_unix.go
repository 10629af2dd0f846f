//go:build linux || darwin

package session

import (
	"os"
	"syscall"

	"kitescope/inspect/model"
)

// diskSpace returns the free and total bytes of the file system of a folder, and whether it is read-only. It
// returns nil if place is not a folder or the file system does not report its size.
func diskSpace(place string) *model.DiskSpace {
	const readOnly = 1 // ST_RDONLY of Linux, MNT_RDONLY of macOS
	if info, err := os.Stat(place); err != nil || !info.IsDir() {
		return nil
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(place, &s); err != nil || s.Blocks == 0 {
		return nil
	}
	block := int64(s.Bsize) //nolint:unconvert // it has 32 bits on macOS
	return &model.DiskSpace{
		ReadOnly: s.Flags&readOnly != 0, Free: int64(s.Bavail) * block, Size: int64(s.Blocks) * block,
	}
}
