package binlog

import (
	"bytes"
	"fmt"

	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// Kind is what a file of Milvus's storage is.
type Kind uint8

// The kinds.
const (
	Other     Kind = iota // an index file, or none of Milvus's logs
	InsertLog             // one column of events
	DeltaLog
	PackedLog // several columns as parquet (2.6)
)

func (k Kind) String() string {
	return [...]string{"other", "insert log", "delta log", "packed insert log"}[min(k, PackedLog)]
}

// KindOf tells by its contents which log a file is. What is damaged where its kind stands is Other.
func KindOf(r object.Reader) Kind {
	head := make([]byte, min(8, r.Size()))
	if err := parquet.ReadAt(r, head, 0); err != nil || len(head) < 4 {
		return Other
	}
	if bytes.HasPrefix(head, []byte("PAR1")) {
		file, err := parquet.ReadFooter(r, 0, r.Size())
		switch {
		case err != nil || len(file.Leaves) == 0:
			return Other
		case len(file.Leaves) == 2 && file.Leaves[0].Name == "pk" && file.Leaves[1].Name == "ts":
			return DeltaLog
		}
		return PackedLog
	}
	_, payloads, err := readEvents(r, r.Size())
	if err != nil || len(payloads) == 0 {
		return Other
	}
	for _, p := range payloads {
		if p.event != payloads[0].event {
			return Other
		}
	}
	switch payloads[0].event {
	case insertEvent:
		return InsertLog
	case deleteEvent:
		return DeltaLog
	}
	return Other
}

// PackedColumn is a column of a packed log.
type PackedColumn struct {
	Name  string
	Field int64 // its id, -1 without one
	// Bytes of its pages, compressed.
	Bytes int64
}

// PackedColumns lists what is in a packed log, and how many rows; name is what errors call it.
func PackedColumns(r object.Reader, name string) (list []PackedColumn, rows int64, err error) {
	file, err := parquet.ReadFooter(r, 0, r.Size())
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", name, err)
	}
	for i, l := range file.Leaves {
		c := PackedColumn{Name: l.Name, Field: l.ID}
		for _, g := range file.Groups {
			if i < len(g.Chunks) {
				c.Bytes += g.Chunks[i].Length
			}
		}
		list = append(list, c)
	}
	return list, file.Rows, nil
}
