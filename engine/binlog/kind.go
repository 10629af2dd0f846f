package binlog

import (
	"bytes"
	"fmt"

	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// Kind is the kind of a file in Milvus's storage.
type Kind uint8

// The kinds.
const (
	Other     Kind = iota // an index file, or not a log of Milvus
	InsertLog             // one column in events
	DeltaLog
	PackedLog // several columns as parquet (2.6)
)

func (k Kind) String() string {
	return [...]string{"other", "insert log", "delta log", "packed insert log"}[min(k, PackedLog)]
}

// KindOf returns the kind of log, by the content of the file. It returns Other if the headers are damaged.
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
	Field int64 // field id, or -1 if there is none
	// Bytes is the compressed size of its pages.
	Bytes int64
}

// PackedColumns returns the columns and the number of rows of a packed log. Errors contain name.
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
