package binlog

import (
	"encoding/binary"
	"io"

	"kitescope/engine/parquet"
)

// Limits for reading the lengths of events.
const (
	firstRead = 4 << 10 // covers the descriptor and the header of the next event in files of Milvus
	maxReads  = 64
)

// DeclaredSize returns the length in bytes of a file of events according to its own headers. It is larger than size if
// the file was truncated. It returns 0 if the file is not a file of events or its lengths are invalid. It reads
// little more than the headers. Errors come from r.
func DeclaredSize(r io.ReaderAt, size int64) (int64, error) {
	head := make([]byte, min(size, firstRead))
	if err := parquet.ReadAt(r, head, 0); err != nil {
		return 0, err
	}
	if len(head) < 4 || binary.LittleEndian.Uint32(head) != magic {
		return 0, nil
	}
	at := int64(4)
	for range maxReads {
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
