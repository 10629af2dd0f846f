package binlog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"kitescope/engine/parquet"
)

// magic starts every file of events (internal/storage/binlog_writer.go).
const magic = 0x00FFFABC

// Event types (internal/storage/event_header.go).
const (
	descriptorEvent = 0
	insertEvent     = 1
	deleteEvent     = 2
	indexEvent      = 7
)

const (
	eventHeaderSize = 17 // u64 timestamp, i8 type, i32 length including the header, i32 next position
	fixedPartSize   = 52 // of a descriptor: four ids, two timestamps, the type
	postHeaderSize  = 8  // lengths of the fixed parts of the other events
	dataPartSize    = 16 // of the other events: two timestamps
	maxDescriptor   = 1 << 20
)

// Descriptor is the metadata of a file of events. Missing ids are -1.
type Descriptor struct {
	Collection, Partition, Segment, Field int64
	// Start and End are Milvus hybrid timestamps: milliseconds shifted left by 18 bits.
	Start, End uint64
	Type       Type
	// Extras holds the file's own keys: original_size, indexBuildID, nullable and others. Strings are unquoted,
	// other values are JSON.
	Extras map[string]string
}

// payload is the content of an event after its fixed part.
type payload struct {
	event      byte
	at, length int64
}

// readEvents reads the descriptor and locates the payloads. It finds the end of an event by its length, because C++
// writers leave next_position uninitialized.
func readEvents(r io.ReaderAt, size int64) (*Descriptor, []payload, error) {
	head := make([]byte, min(size, 4+eventHeaderSize+fixedPartSize+postHeaderSize+4))
	if err := parquet.ReadAt(r, head, 0); err != nil {
		return nil, nil, err
	}
	if len(head) < 4 || binary.LittleEndian.Uint32(head) != magic {
		return nil, nil,
			fmt.Errorf("offset 0: expected the magic number bc fa ff 00, found % x", head[:min(4, len(head))])
	}
	kind, length, err := eventHeader(head[4:], 4, size)
	if err != nil {
		return nil, nil, err
	}
	if kind != descriptorEvent || length > maxDescriptor || length < int64(len(head))-4 {
		return nil, nil,
			fmt.Errorf("offset 4: expected a descriptor event of 81 bytes to 1 MiB, found one of type %d with %d", kind,
				length)
	}
	body := make([]byte, length)
	if err := parquet.ReadAt(r, body, 4); err != nil {
		return nil, nil, err
	}
	d, err := parseDescriptor(body[eventHeaderSize:])
	if err != nil {
		return nil, nil, fmt.Errorf("descriptor at offset 4: %w", err)
	}
	var payloads []payload
	var header [eventHeaderSize]byte
	for at := 4 + length; at < size; {
		b := header[:min(eventHeaderSize, size-at)]
		if err := parquet.ReadAt(r, b, at); err != nil {
			return nil, nil, err
		}
		kind, length, err := eventHeader(b, at, size)
		if err != nil {
			return nil, nil, err
		}
		if length < eventHeaderSize+dataPartSize {
			return nil, nil, fmt.Errorf("offset %d: an event of %d bytes is shorter than its fixed part", at, length)
		}
		skip := int64(eventHeaderSize + dataPartSize)
		payloads = append(payloads, payload{event: kind, at: at + skip, length: length - skip})
		at += length
	}
	return d, payloads, nil
}

func eventHeader(b []byte, at, size int64) (kind byte, length int64, err error) {
	if len(b) < eventHeaderSize {
		return 0, 0, fmt.Errorf("offset %d: expected an event header of 17 bytes, found %d", at, len(b))
	}
	kind, length = b[8], int64(int32(binary.LittleEndian.Uint32(b[9:])))
	if length < eventHeaderSize || length > size-at {
		return 0, 0, fmt.Errorf("offset %d: an event of %d bytes where %d are left", at, length, size-at)
	}
	return kind, length, nil
}

func parseDescriptor(b []byte) (*Descriptor, error) {
	le := binary.LittleEndian
	d := &Descriptor{
		Collection: int64(le.Uint64(b)), Partition: int64(le.Uint64(b[8:])),
		Segment: int64(le.Uint64(b[16:])), Field: int64(le.Uint64(b[24:])),
		Start: le.Uint64(b[32:]), End: le.Uint64(b[40:]), Type: Type(int32(le.Uint32(b[48:]))),
		Extras: map[string]string{},
	}
	b = b[fixedPartSize+postHeaderSize:]
	n := int64(int32(le.Uint32(b)))
	if b = b[4:]; n < 0 || n > int64(len(b)) {
		return nil, fmt.Errorf("%d bytes of extras where %d are left", n, len(b))
	}
	if n == 0 {
		return d, nil
	}
	var extras map[string]json.RawMessage
	if err := json.Unmarshal(b[:n], &extras); err != nil {
		return nil, fmt.Errorf("extras are not a JSON object: %w", err)
	}
	for key, raw := range extras {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(bytes.TrimSpace(raw))
		}
		d.Extras[key] = s
	}
	return d, d.refuseEncrypted()
}

func (d *Descriptor) refuseEncrypted() error {
	if _, encrypted := d.Extras["edek"]; encrypted {
		return errEncrypted
	}
	return nil
}

// errEncrypted is the error for files under Milvus's encryption at rest (extras edek, encryption_zone).
var errEncrypted = errors.New("the file is encrypted at rest (edek): not supported")

// originalSize returns the size of the decoded content in bytes, if the writer recorded it.
func (d *Descriptor) originalSize() (int64, bool) {
	n, err := strconv.ParseInt(d.Extras["original_size"], 10, 64)
	return n, err == nil && n >= 0
}
