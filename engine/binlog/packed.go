package binlog

import (
	"context"
	"fmt"
	"strconv"

	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// IsPacked reports whether a log has storage version 2 (plain parquet with one or more columns) rather than version
// 1 (events).
func IsPacked(r object.Reader) (bool, error) { return isParquet(r) }

// ReadPacked reads the logs of a column group in a segment, written by Milvus 2.6 with storage version 2: plain
// parquet, `insert_log/COLLECTION/PARTITION/SEGMENT/GROUP/LOG`. It returns the columns of the fields in types.
// Rows of the logs are concatenated in the order of names. The result lacks a field that is in no file. The files
// record how a value is stored but not its type, so types must come from the collection's schema (reference:
// internal/storage/rw.go, internal/storagev2/packed).
func ReadPacked(
	ctx context.Context, store object.Store, names []string, types map[int64]Type,
) (map[int64]*Column, error) {
	var logs []source
	var readers []object.Reader
	defer func() {
		for _, r := range readers {
			_ = r.Close()
		}
	}()
	for _, name := range names {
		r, err := store.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		readers = append(readers, r)
		file, err := parquet.ReadFooter(r, 0, r.Size())
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		logs = append(logs, source{name: name, file: file})
	}
	columns := map[int64]*Column{}
	for field, kind := range types {
		c, err := readField(ctx, logs, field, kind)
		if err != nil {
			for _, c := range columns {
				c.Release()
			}
			return nil, err
		}
		if c != nil {
			columns[field] = c
		}
	}
	return columns, nil
}

func readField(ctx context.Context, logs []source, field int64, kind Type) (*Column, error) {
	c := &Column{Descriptor: Descriptor{Field: field, Type: kind}}
	var all []source
	for _, l := range logs {
		for i, leaf := range l.file.Leaves {
			if fieldID(leaf) == field {
				all = append(all, source{l.name, l.file, i})
				break
			}
		}
	}
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // a field that the group has not: no column, no error
	}
	if len(all) != len(logs) {
		return nil,
			fmt.Errorf("read %s: field %d is in %d of %d logs of the group", logs[0].name, field, len(all), len(logs))
	}
	return c, c.read(ctx, all)
}

// fieldID returns Milvus's id of a column: parquet's field_id, or the column's name if the writer omitted the id.
func fieldID(l parquet.Leaf) int64 {
	if l.ID >= 0 {
		return l.ID
	}
	if id, err := strconv.ParseInt(l.Name, 10, 64); err == nil {
		return id
	}
	return -1
}
