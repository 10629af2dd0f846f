//go:build linux || darwin

package session

import (
	"os"
	"syscall"

	"kitescope/inspect/model"
)

// roomOf asks the file system of a folder whether it takes writes, and how many; nil if the place is no folder, or it does not say.
func roomOf(place string) *model.Room {
	const readOnly = 1 // ST_RDONLY of Linux, MNT_RDONLY of macOS
	if info, err := os.Stat(place); err != nil || !info.IsDir() {
		return nil
	}
	var s syscall.Statfs_t
	if err := syscall.Statfs(place, &s); err != nil || s.Blocks == 0 {
		return nil
	}
	block := int64(s.Bsize) //nolint:unconvert // it has 32 bits on macOS
	return &model.Room{ReadOnly: s.Flags&readOnly != 0, Free: int64(s.Bavail) * block, Size: int64(s.Blocks) * block}
}
