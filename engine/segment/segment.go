// Package segment puts together the files of a Milvus segment, and searches segments as a
// query node and a proxy do.
//
// In: an object.Store, which files belong to a segment (etcd says that), and what
// its fields are. Out: a Segment with rows, primary keys, deletes and an index, if it has one;
// and the answers of several segments merged.
//
// The steps: insert logs become columns (engine/binlog), delta logs mark rows, index files
// become an index (engine/index); a search takes the index where there is one and compares
// with all rows where there is none; answers are merged by distance and then by primary key,
// and a primary key is answered once.
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

// Fields of every Milvus collection (common.RowIDField, common.TimeStampField).
const (
	RowIDField     = 0
	TimestampField = 1
)

// Schema is what a search needs to know of a collection.
type Schema struct {
	PrimaryKey int64 // field id
	Vector     int64 // field id
	Metric     engine.Metric
	// Types are those of fields, by id; needed for packed logs only (storage version 2).
	Types map[int64]binlog.Type
}

// Files are what belongs to one segment.
type Files struct {
	Collection, Partition, Segment int64
	// Insert are the insert logs by field, or by column group where they are packed.
	Insert map[int64][]string
	Delta  []string
	// Indexes are the folders of indexes, the newest first: the first that is of the vector field is
	// read.
	Indexes []string
	// Manifest, if not "", is the name of the manifest that names the logs instead (storage version 3): see Follow.
	Manifest string `json:",omitempty"`
	// CommitAt, if not 0, is the timestamp of all rows, whatever the logs have: that of an import's or a replication's commit
	// (commit_timestamp of datapb.SegmentInfo, 3.0).
	CommitAt uint64 `json:",omitempty"`
}

// Segment is the rows of a segment in memory. It is immutable and may be shared.
type Segment struct {
	ID         int64
	Rows       int
	Vectors    *engine.Vectors
	Int64s     []int64  // primary keys, or
	Strings    []string // primary keys
	Timestamps []uint64 // of insertion
	Deleted    *engine.Bitset
	Metric     engine.Metric
	// Index is the vector field's; nil if it has none, or if its type cannot be read (Refused).
	Index *index.File
	// Shadow are codes of the rows for searches row by row, as while a segment is growing (Shade); nil for none.
	Shadow *prefilter.Codes
	// Refused says why the index files were left alone: the segment is searched row by row.
	Refused error
}

// Release gives back the memory at once; nothing may use the segment afterwards.
func (s *Segment) Release() {
	if s.Index != nil {
		s.Index.Close()
	}
	s.Unshade()
	if s.Vectors != nil {
		s.Vectors.Release()
	}
}

// Key is the primary key of a row.
func (s *Segment) Key(row int) engine.Key {
	if s.Strings != nil {
		return engine.TextKey(s.Strings[row])
	}
	return engine.NumberKey(s.Int64s[row])
}

// Open reads the files of a segment. Deletes of elsewhere (of L0 segments, or not flushed yet)
// are given with it. What is read of an index that cannot be searched is said in Refused.
func Open(ctx context.Context, store object.Store, f *Files, schema Schema, deletes ...*Deletes) (*Segment, error) {
	s := &Segment{ID: f.Segment, Metric: schema.Metric}
	if err := s.read(ctx, store, f, schema, deletes); err != nil {
		s.Release()
		return nil, fmt.Errorf("read segment %d: %w", f.Segment, err)
	}
	return s, nil
}

func (s *Segment) read(ctx context.Context, store object.Store, f *Files, schema Schema, deletes []*Deletes) error {
	f, rows, err := f.Follow(ctx, store)
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

// readColumns reads what a search needs: keys, vectors, timestamps.
func readColumns(ctx context.Context, store object.Store, f *Files, schema Schema) (map[int64]*binlog.Column, error) {
	packed, err := f.packed(ctx, store)
	if err != nil {
		return nil, err
	}
	if packed {
		return readPacked(ctx, store, f, schema)
	}
	columns := map[int64]*binlog.Column{}
	for _, field := range schema.wanted() {
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

// packed looks into the first insert log: paths do not tell fields from column groups.
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

// release gives back what was read before an error.
func release(columns map[int64]*binlog.Column) {
	for _, c := range columns {
		c.Release()
	}
}

// wanted are the fields that a search needs.
func (c *Schema) wanted() []int64 { return []int64{c.PrimaryKey, c.Vector, TimestampField} }

// readPacked reads the same from logs of several columns each.
func readPacked(ctx context.Context, store object.Store, f *Files, schema Schema) (map[int64]*binlog.Column, error) {
	types := map[int64]binlog.Type{TimestampField: binlog.Int64}
	for _, field := range schema.wanted() {
		if t, ok := schema.Types[field]; ok {
			types[field] = t
		}
	}
	columns := map[int64]*binlog.Column{}
	for _, group := range slices.Sorted(maps.Keys(f.Insert)) {
		names := f.Insert[group]
		if f.Manifest == "" { // a manifest has them in order
			names = binlog.SortLogs(names)
		}
		found, err := binlog.ReadPacked(ctx, store, names, types)
		if err != nil {
			release(columns)
			return nil, err
		}
		maps.Copy(columns, found)
	}
	for _, field := range schema.wanted() {
		if columns[field] == nil {
			release(columns)
			return nil, fmt.Errorf("no column of field %d in any of %d column groups", field, len(f.Insert))
		}
	}
	return columns, nil
}
