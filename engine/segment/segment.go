// Package segment assembles the files of a Milvus segment, and searches segments like a query node and a proxy.
//
// Open reads a segment from an object.Store, given the segment's files (which etcd or a manifest lists) and a schema
// of the fields. Insert logs become columns (engine/binlog), delta logs mark deleted rows, and index files become an
// index (engine/index).
//
// A Probe searches one segment: by the index if there is one, otherwise it compares with all rows. It returns
// engine.Hits whose ids are row numbers. A Reducer merges the Hits of several segments by distance, ties by primary
// key, and returns each primary key once.
package segment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/index"
	"kitescope/engine/object"
	"kitescope/engine/prefilter"
)

// Ids of fields that every Milvus collection has (common.RowIDField, common.TimeStampField).
const (
	RowIDField     = 0
	TimestampField = 1
)

// Schema holds the properties of a collection that a search needs.
type Schema struct {
	PrimaryKey int64 // field id
	Vector     int64 // field id
	Metric     engine.Metric
	// Types holds the types of fields by id. Only packed logs (storage version 2) need it.
	Types map[int64]binlog.Type
}

// Files lists the files of a segment.
type Files struct {
	Collection, Partition, Segment int64
	// Insert holds the insert logs by field, or by column group if they are packed.
	Insert map[int64][]string
	Delta  []string
	// Indexes holds the folders of indexes, newest first. The first one of the vector field is read.
	Indexes []string
	// Manifest, if not "", is the name of the manifest that lists the logs instead (storage version 3): see
	// ReadManifest.
	Manifest string `json:",omitempty"`
	// CommitAt, if not 0, is the timestamp of all rows, which replaces the timestamps in the logs. It is the commit
	// time of an import or a replication (commit_timestamp of datapb.SegmentInfo, 3.0).
	CommitAt uint64 `json:",omitempty"`
}

// Segment holds the rows of a segment in memory. It is immutable and may be shared.
type Segment struct {
	ID         int64
	Rows       int
	Vectors    *engine.Vectors
	Int64s     []int64  // primary keys, or
	Strings    []string // primary keys
	Timestamps []uint64 // of insertion
	Deleted    *engine.Bitset
	Metric     engine.Metric
	// Index is the index of the vector field. It is nil if there is none, or if its type is not supported (see
	// IndexErr).
	Index *index.File
	// Codes holds codes of the rows for searches row by row, e.g. of a growing segment (see Quantize). It may be nil.
	Codes *prefilter.Codes
	// IndexErr is the reason why the index files were not used. The segment is then searched row by row.
	IndexErr error
}

// Release frees the memory immediately. The segment must not be used afterwards.
func (s *Segment) Release() {
	if s.Index != nil {
		s.Index.Close()
	}
	s.ReleaseCodes()
	if s.Vectors != nil {
		s.Vectors.Release()
	}
}

// Key returns the primary key of a row.
func (s *Segment) Key(row int) engine.Key {
	if s.Strings != nil {
		return engine.TextKey(s.Strings[row])
	}
	return engine.NumberKey(s.Int64s[row])
}

// Open reads the files of a segment. deletes holds deletes from other places, e.g. L0 segments, or unflushed ones.
// If the index is of an unsupported type, Open sets IndexErr to the error.
func Open(ctx context.Context, store object.Store, f *Files, schema Schema, deletes ...*Deletes) (*Segment, error) {
	s := &Segment{ID: f.Segment, Metric: schema.Metric}
	if err := s.read(ctx, store, f, schema, deletes); err != nil {
		s.Release()
		return nil, fmt.Errorf("read segment %d: %w", f.Segment, err)
	}
	return s, nil
}

func (s *Segment) read(ctx context.Context, store object.Store, f *Files, schema Schema, deletes []*Deletes) error {
	f, rows, err := f.ReadManifest(ctx, store)
	if err != nil {
		return err
	}
	columns, err := readColumns(ctx, store, f, schema)
	if err != nil {
		return err
	}
	keys, vectors, stamps := columns[schema.PrimaryKey], columns[schema.Vector], columns[TimestampField]
	if vectors.Vectors == nil {
		release(columns)
		return fmt.Errorf("field %d is %s, expected vectors", schema.Vector, vectors.Type)
	}
	s.Vectors, s.Rows = vectors.Vectors, vectors.Rows
	s.Int64s, s.Strings = keys.Int64s, keys.Strings
	if keys.Rows != s.Rows || stamps.Rows != s.Rows {
		return fmt.Errorf("%d vectors, %d primary keys and %d timestamps", s.Rows, keys.Rows, stamps.Rows)
	}
	if rows >= 0 && int64(s.Rows) != rows {
		return fmt.Errorf("%d rows, the manifest has %d", s.Rows, rows)
	}
	if s.Int64s == nil && s.Strings == nil && s.Rows > 0 {
		return fmt.Errorf("field %d is %s: not a primary key type", schema.PrimaryKey, keys.Type)
	}
	s.Timestamps = make([]uint64, s.Rows)
	for i, t := range stamps.Int64s {
		s.Timestamps[i] = uint64(t)
		if f.CommitAt != 0 {
			s.Timestamps[i] = f.CommitAt
		}
	}
	s.Deleted = engine.NewBitset(s.Rows)
	logged, err := binlog.ReadDeltas(ctx, store, f.Delta)
	if err != nil {
		return err
	}
	for _, d := range append([]*Deletes{NewDeletes(logged)}, deletes...) {
		if err := s.delete(d); err != nil {
			return err
		}
	}
	for _, folder := range f.Indexes {
		if found, err := s.readIndex(ctx, store, folder, schema.Vector); found || err != nil {
			return err
		}
	}
	return nil
}

// readColumns reads the columns that a search needs: keys, vectors, timestamps.
func readColumns(ctx context.Context, store object.Store, f *Files, schema Schema) (map[int64]*binlog.Column, error) {
	packed, err := f.packed(ctx, store)
	if err != nil {
		return nil, err
	}
	if packed {
		return readPacked(ctx, store, f, schema)
	}
	columns := map[int64]*binlog.Column{}
	for _, field := range schema.fieldIDs() {
		names := f.Insert[field]
		if len(names) == 0 {
			release(columns)
			return nil, fmt.Errorf("no insert logs of field %d", field)
		}
		c, err := binlog.ReadColumns(ctx, store, names)
		if err != nil {
			release(columns)
			return nil, err
		}
		columns[field] = c
	}
	return columns, nil
}

// packed reports whether the first insert log is packed. Paths do not distinguish fields from column groups.
func (f *Files) packed(ctx context.Context, store object.Store) (bool, error) {
	groups := slices.Sorted(maps.Keys(f.Insert))
	if len(groups) == 0 || len(f.Insert[groups[0]]) == 0 {
		return false, nil
	}
	name := f.Insert[groups[0]][0]
	r, err := store.Open(ctx, name)
	if err != nil {
		return false, err
	}
	defer r.Close()
	packed, err := binlog.IsPacked(r)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return packed, nil
}

// release releases columns after an error.
func release(columns map[int64]*binlog.Column) {
	for _, c := range columns {
		c.Release()
	}
}

// fieldIDs returns the ids of the fields that a search needs.
func (c *Schema) fieldIDs() []int64 { return []int64{c.PrimaryKey, c.Vector, TimestampField} }

// readPacked reads the same columns from logs with several columns each.
func readPacked(ctx context.Context, store object.Store, f *Files, schema Schema) (map[int64]*binlog.Column, error) {
	types := map[int64]binlog.Type{TimestampField: binlog.Int64}
	for _, field := range schema.fieldIDs() {
		if t, ok := schema.Types[field]; ok {
			types[field] = t
		}
	}
	columns := map[int64]*binlog.Column{}
	for _, group := range slices.Sorted(maps.Keys(f.Insert)) {
		names := f.Insert[group]
		if f.Manifest == "" { // a manifest lists them in order
			names = binlog.SortLogs(names)
		}
		found, err := binlog.ReadPacked(ctx, store, names, types)
		if err != nil {
			release(columns)
			return nil, err
		}
		maps.Copy(columns, found)
	}
	for _, field := range schema.fieldIDs() {
		if columns[field] == nil {
			release(columns)
			return nil, fmt.Errorf("no column of field %d in any of %d column groups", field, len(f.Insert))
		}
	}
	return columns, nil
}
