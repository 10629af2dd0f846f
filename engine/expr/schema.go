package expr

import (
	"fmt"

	"kitescope/engine/binlog"
)

// Field is a field of a collection.
type Field struct {
	ID   int64
	Name string
	Type binlog.Type
	// Element is what an Array consists of.
	Element binlog.Type
	// Dynamic marks the JSON field in which names that are no field's are looked up.
	Dynamic  bool
	Nullable bool
	// Default is the value of rows in whose logs the field is not; nil for none.
	Default *Value
}

// Schema is what an expression may refer to.
type Schema struct {
	Fields  []Field
	Release Release
}

// column is a field, or the part of it that a path leads to. Of arrays a path is one index.
type column struct {
	field *Field
	path  []string
	index int // of an array's element; -1 without
}

// kind is what values of the column are compared as; NoValue for JSON, whose values say it themselves.
func (col *column) kind() Kind {
	if col.field.Type == binlog.Array && col.index >= 0 {
		return kindOf(col.field.Element)
	}
	return kindOf(col.field.Type)
}

func (col *column) json() bool  { return col.field.Type == binlog.JSON }
func (col *column) whole() bool { return col.field.Type == binlog.Array && col.index < 0 }

// typeName is how a message calls the type of the column's values.
func (col *column) typeName() string {
	t := col.field.Type
	switch {
	case t == binlog.Array && col.index >= 0:
		t = col.field.Element
	case t == binlog.Array:
		return fmt.Sprintf("Array of %v", col.field.Element)
	}
	return t.String()
}
