package binlog

import (
	"encoding/binary"
	"io"

	"kitescope/engine/parquet"
)

// Bounds of a look at the lengths of events.
const (
	firstRead = 4 << 10 // has the descriptor and the header of the next event, of what Milvus writes
	mostLooks = 64
)

// Written is how many bytes a file of events has by its own headers: more than size if it was cut. 0: nothing tells, as it is no file
// of events, or its lengths make no sense. Little more is read than the headers; an error is of r.
func Written(r io.ReaderAt, size int64) (int64, error) {
	head := make([]byte, min(size, firstRead))
	if err := parquet.ReadAt(r, head, 0); err != nil {
		return 0, err
	}
	if len(head) < 4 || binary.LittleEndian.Uint32(head) != magic {
		return 0, nil
	}
	at := int64(4)
	for range mostLooks {
		if at >= size {
			return at, nil
		}
		if size-at < eventHeaderSize {
			return at + eventHeaderSize, nil
		}
		header := make([]byte, eventHeaderSize)
		if end := at + eventHeaderSize; end <= int64(len(head)) {
			copy(header, head[at:end])
		} else if err := parquet.ReadAt(r, header, at); err != nil {
			return 0, err
		}
		length := int64(int32(binary.LittleEndian.Uint32(header[9:])))
		if length < eventHeaderSize {
			return 0, nil
		}
		at += length
	}
	return 0, nil
}
