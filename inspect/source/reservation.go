package source

import (
	"encoding/binary"
	"time"
)

// AllocatorKeys returns the keys of the timestamp allocator below a root. The second is the key of 2.2 and
// earlier.
func AllocatorKeys(root string) [2]string {
	return [...]string{root + "/kv/gid/timestamp", root + "/kv/tso/timestamp"}
}

// Reservation decodes the time in a value of the timestamp allocator: nanoseconds, 8 bytes, big-endian. It
// returns zero if the value has another length.
func Reservation(value []byte) time.Time {
	if len(value) != 8 {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(value)&(1<<63-1))).UTC()
}
