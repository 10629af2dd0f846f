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
	// Element is the type of the elements of an Array.
	Element binlog.Type
	// Dynamic marks the JSON field that holds the keys which are not fields of the collection.
	Dynamic  bool
	Nullable bool
	// Default is the value of rows whose logs lack the field, or nil if there is no default.
	Default *Value
}

// Schema holds the fields that an expression may refer to, and the release whose rules apply.
type Schema struct {
	Fields  []Field
	Release Release
}

// column is a field, or its part at a path. The path of an array is a single index.
type column struct {
	field *Field
	path  []string
	index int // index of an array's element, or -1 for none
}

// kind returns the kind that values of the column are compared as. It returns NoValue for JSON, whose kind
// differs by value.
func (col *column) kind() Kind {
	if col.field.Type == binlog.Array && col.index >= 0 {
		return kindOf(col.field.Element)
	}
	return kindOf(col.field.Type)
}

func (col *column) json() bool  { return col.field.Type == binlog.JSON }
func (col *column) whole() bool { return col.field.Type == binlog.Array && col.index < 0 }

// typeName returns the type of the column's values, for messages.
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
