package segment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"kitescope/engine/binlog"
	"kitescope/engine/expr"
	"kitescope/engine/object"
)

// Scalars reads the columns of fields that filters need, in the order of the segment's rows. The result lacks a
// field that is in no log, because it was added to the collection later.
func (s *Segment) Scalars(
	ctx context.Context, store object.Store, f *Files, schema Schema, fields []int64,
) (*expr.Columns, error) {
	c, err := s.scalars(ctx, store, f, schema, fields)
	if err != nil {
		return nil, fmt.Errorf("read fields of segment %d: %w", s.ID, err)
	}
	return c, nil
}

func (s *Segment) scalars(
	ctx context.Context, store object.Store, f *Files, schema Schema, fields []int64,
) (*expr.Columns, error) {
	c := &expr.Columns{Rows: s.Rows, Fields: map[int64]*binlog.Column{}}
	if len(fields) == 0 {
		return c, nil
	}
	if !f.HasLogs() {
		return nil, errors.New("it has no logs")
	}
	f, _, err := f.ReadManifest(ctx, store)
	if err != nil {
		return nil, err
	}
	packed, err := f.packed(ctx, store)
	if err != nil {
		return nil, err
	}
	if packed {
		err = packedScalars(ctx, store, f, schema, fields, c.Fields)
	} else {
		err = loggedScalars(ctx, store, f, fields, c.Fields)
	}
	if err != nil {
		return nil, err
	}
	for id, column := range c.Fields {
		if column.Rows != s.Rows {
			return nil, fmt.Errorf("field %d has %d rows, the vectors %d", id, column.Rows, s.Rows)
		}
	}
	return c, nil
}

func loggedScalars(
	ctx context.Context, store object.Store, f *Files, fields []int64, to map[int64]*binlog.Column,
) error {
	for _, field := range fields {
		if len(f.Insert[field]) == 0 {
			continue
		}
		c, err := binlog.ReadColumns(ctx, store, f.Insert[field])
		if err != nil {
			return err
		}
		to[field] = c
	}
	return nil
}

func packedScalars(
	ctx context.Context, store object.Store, f *Files, schema Schema, fields []int64, to map[int64]*binlog.Column,
) error {
	types := map[int64]binlog.Type{}
	for _, field := range fields {
		if t, ok := schema.Types[field]; ok {
			types[field] = t
		}
	}
	for _, group := range slices.Sorted(maps.Keys(f.Insert)) {
		names := f.Insert[group]
		if f.Manifest == "" {
			names = binlog.SortLogs(names)
		}
		found, err := binlog.ReadPacked(ctx, store, names, types)
		if err != nil {
			return err
		}
		maps.Copy(to, found)
	}
	return nil
}
