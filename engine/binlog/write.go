package binlog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// WriteIndexFile writes a blob as one index file in the form of Milvus 2.2 to 2.5: events, and
// each byte as an INT32 of a parquet column with a dictionary, ZSTD (IndexData.cpp). Of d the
// ids and extras are used. It is for benchmarks and tests, which have no node to build for them.
func WriteIndexFile(w io.Writer, d Descriptor, buildID int64, blob []byte) error {
	node := parquet.Optional(parquet.Encoded(parquet.Int(8), &parquet.RLEDictionary))
	body, err := writeParquet(node, len(blob), func(i int) parquet.Value {
		return parquet.Int32Value(int32(int8(blob[i]))).Level(0, 1, 0)
	})
	if err != nil {
		return err
	}
	return WriteIndexPayload(w, d, buildID, len(blob), body)
}

// WriteIndexPayload is WriteIndexFile with a parquet file that is there already, of a blob of size
// bytes.
func WriteIndexPayload(w io.Writer, d Descriptor, buildID int64, size int, payload []byte) error {
	extras := map[string]string{"indexBuildID": strconv.FormatInt(buildID, 10)}
	maps.Copy(extras, d.Extras)
	d.Extras, d.Type = extras, Int8
	return writeEvents(w, d, indexEvent, size, payload)
}

// WriteColumn writes an insert log of storage version 1 with the column's values. Start and End
// are its own timestamps. Like WriteIndexFile it is for benchmarks and tests.
func WriteColumn(w io.Writer, c *Column) error {
	node, value, err := c.node()
	if err != nil {
		return err
	}
	body, err := writeParquet(node, c.Rows, func(i int) parquet.Value {
		switch {
		case c.Valid == nil:
			return value(i)
		case c.Valid.Has(i):
			return value(i).Level(0, 1, 0)
		}
		return parquet.Value{}
	})
	if err != nil {
		return err
	}
	return writeEvents(w, c.Descriptor, insertEvent, 8*c.Rows, body)
}

// node is the parquet type of a column, and what makes its values.
func (c *Column) node() (parquet.Node, func(i int) parquet.Value, error) {
	var node parquet.Node
	var value func(i int) parquet.Value
	ints := func(i int) parquet.Value { return parquet.Int32Value(int32(c.Int64s[i])) }
	switch c.Type {
	case Bool:
		node = parquet.Leaf(parquet.BooleanType)
		value = func(i int) parquet.Value { return parquet.BooleanValue(c.Int64s[i] != 0) }
	case Int8:
		node, value = parquet.Int(8), ints
	case Int16:
		node, value = parquet.Int(16), ints
	case Int32:
		node, value = parquet.Int(32), ints
	case Int64, Timestamptz:
		node, value = parquet.Int(64), func(i int) parquet.Value { return parquet.Int64Value(c.Int64s[i]) }
	case Float:
		node = parquet.Leaf(parquet.FloatType)
		value = func(i int) parquet.Value { return parquet.FloatValue(float32(c.Floats[i])) }
	case Double:
		node = parquet.Leaf(parquet.DoubleType)
		value = func(i int) parquet.Value { return parquet.DoubleValue(c.Floats[i]) }
	case String, VarChar, Text, Array, JSON, Geometry:
		node = parquet.Leaf(parquet.ByteArrayType)
		value = func(i int) parquet.Value { return parquet.ByteArrayValue([]byte(c.Strings[i])) }
	case SparseFloatVector:
		node = parquet.Leaf(parquet.ByteArrayType)
		value = func(i int) parquet.Value { return parquet.ByteArrayValue(c.Vectors.Row(i)) }
	default:
		if c.Vectors == nil {
			return nil, nil, fmt.Errorf("a column of type %v is not written", c.Type)
		}
		node = parquet.Leaf(parquet.FixedLenByteArrayType(c.Vectors.Size()))
		value = func(i int) parquet.Value { return parquet.FixedLenByteArrayValue(c.Vectors.Row(i)) }
	}
	if c.Type != Bool { // of which there is no dictionary
		node = parquet.Encoded(node, &parquet.RLEDictionary)
	}
	if c.Valid != nil {
		node = parquet.Optional(node)
	}
	return node, value, nil
}

// dictionaryMost is the size from which Arrow's writers use a dictionary no longer.
const dictionaryMost = 1 << 20

// writeParquet writes a file with the column val. Dictionaries give way to plain values beyond
// a megabyte, and pages hold about one, as those of Arrow's writers.
func writeParquet(node parquet.Node, rows int, value func(i int) parquet.Value) ([]byte, error) {
	var b bytes.Buffer
	schema := parquet.NewSchema("schema", parquet.Group{"val": parquet.Compressed(node, &zstd.Codec{Level: zstd.SpeedDefault})})
	w := parquet.NewWriter(&b, schema, parquet.DataPageVersion(1), parquet.PageBufferSize(1<<20),
		parquet.DataPageStatistics(false), parquet.MaxRowsPerRowGroup(1<<40), parquet.DictionaryMaxBytes(dictionaryMost))
	size := int64(0) // of values so far
	column := w.ColumnWriters()[0]
	batch := make([]parquet.Value, 0, 1024) // as Arrow's: between batches it looks how large dictionary and page have become
	for i := 0; i < rows; i += len(batch) {
		batch = batch[:0]
		for j := i; j < min(rows, i+cap(batch)); j++ {
			batch = append(batch, value(j))
		}
		if _, err := column.WriteRowValues(batch); err != nil {
			return nil, err
		}
		if size <= dictionaryMost {
			for _, v := range batch {
				if kind := v.Kind(); kind == parquet.ByteArray || kind == parquet.FixedLenByteArray {
					size += int64(len(v.ByteArray()))
				}
			}
			if size > dictionaryMost { // it is looked at when a page ends, and one of indices would hold far more rows
				if err := column.Flush(); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeEvents writes a descriptor and one event around a payload.
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
	head = append(head, 34, 10, 10, 10, 10, 10, 10, 10) // what every Milvus writes
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
