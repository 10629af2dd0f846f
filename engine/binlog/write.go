package binlog

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
)

// WriteIndexPayload writes an index file whose payload is the given parquet file, for a blob of size bytes. Like
// WriteInsertPayload, it is for tests and benchmarks.
func WriteIndexPayload(w io.Writer, d Descriptor, buildID int64, size int, payload []byte) error {
	extras := map[string]string{"indexBuildID": strconv.FormatInt(buildID, 10)}
	maps.Copy(extras, d.Extras)
	d.Extras, d.Type = extras, Int8
	return writeEvents(w, d, indexEvent, size, payload)
}

// WriteInsertPayload writes an insert log whose payload is the given parquet file, for values of size bytes.
func WriteInsertPayload(w io.Writer, d Descriptor, size int, payload []byte) error {
	return writeEvents(w, d, insertEvent, size, payload)
}

// writeEvents writes a descriptor, and one event with the given body.
func writeEvents(w io.Writer, d Descriptor, kind byte, originalSize int, body []byte) error {
	extras := map[string]any{"original_size": strconv.Itoa(originalSize)}
	for key, value := range d.Extras {
		extras[key] = value
	}
	text, err := json.Marshal(extras)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	head := le.AppendUint32(nil, magic)
	head = appendEventHeader(head, descriptorEvent, fixedPartSize+postHeaderSize+4+len(text))
	for _, id := range []int64{d.Collection, d.Partition, d.Segment, d.Field} {
		head = le.AppendUint64(head, uint64(id))
	}
	head = le.AppendUint64(le.AppendUint64(head, d.Start), d.End)
	head = le.AppendUint32(head, uint32(d.Type))
	head = append(head, 34, 10, 10, 10, 10, 10, 10, 10) // the same in every version of Milvus
	head = append(le.AppendUint32(head, uint32(len(text))), text...)
	head = appendEventHeader(head, kind, dataPartSize+len(body))
	head = le.AppendUint64(le.AppendUint64(head, d.Start), d.End)
	if len(body) > 1<<31-1-eventHeaderSize-dataPartSize {
		return fmt.Errorf("a payload of %d bytes does not fit in an event", len(body))
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

func appendEventHeader(b []byte, kind byte, body int) []byte {
	le := binary.LittleEndian
	b = append(le.AppendUint64(b, 0), kind)
	b = le.AppendUint32(b, uint32(eventHeaderSize+body))
	return le.AppendUint32(b, uint32(len(b)+4+body)) // next_position
}
