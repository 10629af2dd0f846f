package layout

import (
	"strconv"

	"kitescope/engine/binlog"
	"kitescope/engine/expr"
	"kitescope/inspect/model"
)

// filterSchema returns the fields that filter expressions can refer to: all user fields, with their types in the
// metadata.
func (b *builder) filterSchema() expr.Schema {
	s := expr.Schema{Release: expr.Release{Major: b.major, Minor: b.minor}}
	for _, f := range b.collection.Fields {
		if f.System() {
			continue
		}
		x := expr.Field{
			ID: int64(f.ID), Name: f.Name, Type: dataType(f.Type), Element: dataType(f.ElementType),
			Dynamic: f.Dynamic, Nullable: f.Nullable, Default: defaultOf(f),
		}
		s.Fields = append(s.Fields, x)
	}
	return s
}

// defaultOf returns the value for rows whose logs lack a field, nil if there is none. The metadata stores it as
// text; an empty text means no default.
func defaultOf(f *model.Field) *expr.Value {
	if f.Dynamic {
		return &expr.Value{Kind: expr.Text, Text: "{}"}
	}
	if f.Default == "" {
		return nil
	}
	switch dataType(f.Type) {
	case binlog.Bool:
		return &expr.Value{Kind: expr.Bool, Bool: f.Default == "true"}
	case binlog.Int8, binlog.Int16, binlog.Int32, binlog.Int64, binlog.Timestamptz:
		if n, err := strconv.ParseInt(f.Default, 10, 64); err == nil {
			return &expr.Value{Kind: expr.Int, Int: n}
		}
	case binlog.Float, binlog.Double:
		if n, err := strconv.ParseFloat(f.Default, 64); err == nil {
			return &expr.Value{Kind: expr.Float, Float: n}
		}
	case binlog.VarChar, binlog.String, binlog.JSON:
		return &expr.Value{Kind: expr.Text, Text: f.Default}
	default:
	}
	return nil
}
