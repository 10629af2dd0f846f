// Package binlogtest writes logs and index files in the format of Milvus's storage, for tests and benchmarks that
// run without a server.
package binlogtest

import (
	"bytes"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"kitescope/engine/binlog"
)

// WriteIndexFile writes a blob as one index file in the format of Milvus 2.2 to 2.5: events, with each byte as an
// INT32 of a parquet column with a dictionary, compressed with ZSTD (IndexData.cpp). It uses the ids and extras of
// d.
func WriteIndexFile(w io.Writer, d binlog.Descriptor, buildID int64, blob []byte) error {
	node := parquet.Optional(parquet.Encoded(parquet.Int(8), &parquet.RLEDictionary))
	body, err := WriteParquet(node, len(blob), func(i int) parquet.Value {
		return parquet.Int32Value(int32(int8(blob[i]))).Level(0, 1, 0)
	})
	if err != nil {
		return err
	}
	return binlog.WriteIndexPayload(w, d, buildID, len(blob), body)
}

// WriteColumn writes an insert log of storage version 1 with the column's values. It copies the timestamps Start
// and End.
func WriteColumn(w io.Writer, c *binlog.Column) error {
	node, value, err := nodeOf(c)
	if err != nil {
		return err
	}
	body, err := WriteParquet(node, c.Rows, func(i int) parquet.Value {
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
	return binlog.WriteInsertPayload(w, c.Descriptor, 8*c.Rows, body)
}

// nodeOf returns the parquet type of a column, and a function that returns its values.
func nodeOf(c *binlog.Column) (parquet.Node, func(i int) parquet.Value, error) {
	var node parquet.Node
	var value func(i int) parquet.Value
	ints := func(i int) parquet.Value { return parquet.Int32Value(int32(c.Int64s[i])) }
	switch c.Type {
	case binlog.Bool:
		node = parquet.Leaf(parquet.BooleanType)
		value = func(i int) parquet.Value { return parquet.BooleanValue(c.Int64s[i] != 0) }
	case binlog.Int8:
		node, value = parquet.Int(8), ints
	case binlog.Int16:
		node, value = parquet.Int(16), ints
	case binlog.Int32:
		node, value = parquet.Int(32), ints
	case binlog.Int64, binlog.Timestamptz:
		node, value = parquet.Int(64), func(i int) parquet.Value { return parquet.Int64Value(c.Int64s[i]) }
	case binlog.Float:
		node = parquet.Leaf(parquet.FloatType)
		value = func(i int) parquet.Value { return parquet.FloatValue(float32(c.Floats[i])) }
	case binlog.Double:
		node = parquet.Leaf(parquet.DoubleType)
		value = func(i int) parquet.Value { return parquet.DoubleValue(c.Floats[i]) }
	case binlog.String, binlog.VarChar, binlog.Text, binlog.Array, binlog.JSON, binlog.Geometry:
		node = parquet.Leaf(parquet.ByteArrayType)
		value = func(i int) parquet.Value { return parquet.ByteArrayValue([]byte(c.Strings[i])) }
	case binlog.SparseFloatVector:
		node = parquet.Leaf(parquet.ByteArrayType)
		value = func(i int) parquet.Value { return parquet.ByteArrayValue(c.Vectors.Row(i)) }
	default:
		if c.Vectors == nil {
			return nil, nil, fmt.Errorf("a column of type %v is not written", c.Type)
		}
		node = parquet.Leaf(parquet.FixedLenByteArrayType(c.Vectors.Size()))
		value = func(i int) parquet.Value { return parquet.FixedLenByteArrayValue(c.Vectors.Row(i)) }
	}
	if c.Type != binlog.Bool { // booleans have no dictionary
		node = parquet.Encoded(node, &parquet.RLEDictionary)
	}
	if c.Valid != nil {
		node = parquet.Optional(node)
	}
	return node, value, nil
}

// maxDictionary is the size in bytes from which Arrow's writers stop using a dictionary.
const maxDictionary = 1 << 20

// WriteParquet writes a file with the column val. As in Arrow's writers, values are PLAIN after a megabyte of
// dictionary, and pages hold about a megabyte.
func WriteParquet(node parquet.Node, rows int, value func(i int) parquet.Value) ([]byte, error) {
	var b bytes.Buffer
	schema := parquet.NewSchema("schema",
		parquet.Group{"val": parquet.Compressed(node, &zstd.Codec{Level: zstd.SpeedDefault})})
	w := parquet.NewWriter(&b, schema, parquet.DataPageVersion(1), parquet.PageBufferSize(1<<20),
		parquet.DataPageStatistics(false), parquet.MaxRowsPerRowGroup(1<<40), parquet.DictionaryMaxBytes(maxDictionary))
	size := int64(0) // of values so far
	column := w.ColumnWriters()[0]
	batch := make([]parquet.Value, 0, 1024) // as in Arrow, the sizes of dictionary and page are checked between batches
	for i := 0; i < rows; i += len(batch) {
		batch = batch[:0]
		for j := i; j < min(rows, i+cap(batch)); j++ {
			batch = append(batch, value(j))
		}
		if _, err := column.WriteRowValues(batch); err != nil {
			return nil, err
		}
		if size <= maxDictionary {
			for _, v := range batch {
				if kind := v.Kind(); kind == parquet.ByteArray || kind == parquet.FixedLenByteArray {
					size += int64(len(v.ByteArray()))
				}
			}
			// The size is checked when a page ends, and a page of indices would hold far more rows.
			if size > maxDictionary {
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
