// Package binlog decodes the files that Milvus writes to its object storage: insert logs, delta logs, and the
// envelopes of index files.
//
// It reads files from an object.Store and returns columns of a segment (vectors as engine.Vectors), deleted primary
// keys with their timestamps, and the named blobs of an index. Package engine/index parses the blobs.
//
// events.go reads the events of a file, and packed.go handles files that are plain parquet. Package engine/parquet
// reads the footers and pages. pages.go decodes the pages of a column, on several cores for large columns. sinks.go
// writes the values to their final place, so that a column is in memory only once. Every length, count and offset
// is checked before use: no input makes the package panic, and decoded data is bounded by a generous multiple of
// the bytes read.
//
// Formats: Milvus 2.1 to 2.6, internal/storage (event_header.go, event_data.go, serde.go, delta_data.go) and
// internal/core/src/storage (IndexData.cpp, PayloadReader.cpp, IndexEntryFormat.cpp); parquet-format's
// parquet.thrift and Encodings.md.
package binlog

import (
	"fmt"

	"kitescope/engine/dist"
)

// Type is a data type of Milvus (schemapb.DataType).
type Type int32

// The types, with Milvus's numbers.
const (
	None              Type = 0
	Bool              Type = 1
	Int8              Type = 2
	Int16             Type = 3
	Int32             Type = 4
	Int64             Type = 5
	Float             Type = 10
	Double            Type = 11
	String            Type = 20
	VarChar           Type = 21
	Array             Type = 22
	JSON              Type = 23
	Geometry          Type = 24
	Text              Type = 25
	Timestamptz       Type = 26
	BinaryVector      Type = 100
	FloatVector       Type = 101
	Float16Vector     Type = 102
	BFloat16Vector    Type = 103
	SparseFloatVector Type = 104
	Int8Vector        Type = 105
	ArrayOfVector     Type = 106
)

var typeNames = map[Type]string{
	None: "None", Bool: "Bool", Int8: "Int8", Int16: "Int16", Int32: "Int32", Int64: "Int64", Float: "Float",
	Double: "Double", String: "String", VarChar: "VarChar", Array: "Array", JSON: "JSON", Geometry: "Geometry",
	Text: "Text", Timestamptz: "Timestamptz", BinaryVector: "BinaryVector", FloatVector: "FloatVector",
	Float16Vector: "Float16Vector", BFloat16Vector: "BFloat16Vector", SparseFloatVector: "SparseFloatVector",
	Int8Vector: "Int8Vector", ArrayOfVector: "ArrayOfVector",
}

func (t Type) String() string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	return fmt.Sprintf("DataType(%d)", int32(t))
}

// Element returns the element type of a vector type. It returns false for other types.
func (t Type) Element() (dist.Element, bool) {
	switch t {
	case FloatVector:
		return dist.Float32, true
	case Float16Vector:
		return dist.Float16, true
	case BFloat16Vector:
		return dist.BFloat16, true
	case Int8Vector:
		return dist.Int8, true
	case BinaryVector:
		return dist.Bit, true
	case SparseFloatVector:
		return dist.Sparse, true
	default:
		return 0, false
	}
}

// TimestampField is the id of a field that Milvus adds to every collection. The ids of user fields start at 100
// (pkg/common/common.go).
const (
	TimestampField = 1
)
