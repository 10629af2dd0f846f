package source

import (
	"encoding/binary"
	"time"
)

// AllocatorKeys are below a root the keys of the allocator of timestamps: the later one was written by 2.2 and before.
func AllocatorKeys(root string) [2]string {
	return [...]string{root + "/kv/gid/timestamp", root + "/kv/tso/timestamp"}
}

// Reservation is the time that a value of the allocator holds: nanoseconds, big-endian. Zero if it holds none.
func Reservation(value []byte) time.Time {
	if len(value) != 8 {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(value)&(1<<63-1))).UTC()
}
