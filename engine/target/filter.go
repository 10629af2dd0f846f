package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/engine/binlog"
	"kitescope/engine/expr"
	"kitescope/engine/object"
)

// Fields are the scalar columns that stand beside the vectors of a target: row i has those of the vector with id i.
type Fields struct {
	schema expr.Schema
	read   map[int64]func(ctx context.Context) (*binlog.Column, error)
	rows   int64 // -1 until a file said it
}

// OpenFields finds the fields in places: a parquet file, whose columns they are by their names; or NAME=PATH, the insert logs of one
// field of a Milvus segment, a file or the folder of them. Nothing but what a filter needs is read later.
func OpenFields(ctx context.Context, places []string) (*Fields, error) {
	f := &Fields{rows: -1, read: map[int64]func(context.Context) (*binlog.Column, error){}}
	for _, place := range places {
		var err error
		if name, path, ok := strings.Cut(place, "="); ok {
			err = f.addLogs(ctx, name, path)
		} else {
			err = f.addTable(ctx, place)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// add makes a field known.
func (f *Fields) add(x expr.Field, read func(ctx context.Context) (*binlog.Column, error)) error {
	if slices.ContainsFunc(f.schema.Fields, func(y expr.Field) bool { return y.Name == x.Name }) {
		return fmt.Errorf("field %s is given twice", x.Name)
	}
	x.ID = int64(100 + len(f.schema.Fields))
	if x.Name == "$meta" {
		x.Type, x.Dynamic = binlog.JSON, true
	}
	f.schema.Fields = append(f.schema.Fields, x)
	f.read[x.ID] = read
	return nil
}

// opened is a file on disk, with the store that it is in.
func opened(path string, use func(store object.Store, name string) error) error {
	full, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	info, err := os.Stat(full)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, withoutPath(err))
	}
	folder, name := filepath.Dir(full), filepath.Base(full)
	if info.IsDir() {
		folder, name = full, ""
	}
	store, err := object.OpenFolder(folder)
	if err != nil {
		return err
	}
	defer store.Close()
	return use(store, name)
}

func (f *Fields) addTable(ctx context.Context, path string) error {
	return opened(path, func(store object.Store, name string) error {
		if name == "" {
			return fmt.Errorf("read %s: a folder; expected a parquet file, or NAME=FOLDER for the insert logs of a field", path)
		}
		r, err := store.Open(ctx, name)
		if err != nil {
			return err
		}
		defer r.Close()
		list, rows, err := binlog.TableColumns(r, path)
		if err != nil {
			return err
		}
		if f.rows = max(f.rows, rows); f.rows != rows {
			return fmt.Errorf("read %s: %d rows, another file has %d", path, rows, f.rows)
		}
		for _, c := range list {
			read := func(ctx context.Context) (column *binlog.Column, err error) {
				err = opened(path, func(store object.Store, name string) error {
					r, err := store.Open(ctx, name)
					if err != nil {
						return err
					}
					defer r.Close()
					column, err = binlog.ReadTable(ctx, r, path, c)
					return err
				})
				return column, err
			}
			if err := f.add(expr.Field{Name: c.Name, Type: c.Type, Nullable: c.Optional}, read); err != nil {
				return err
			}
		}
		return nil
	})
}

// addLogs reads the logs of a field: its type is in them alone.
func (f *Fields) addLogs(ctx context.Context, name, path string) error {
	if name == "" || path == "" {
		return errors.New("a field of insert logs is written NAME=PATH")
	}
	var c *binlog.Column
	err := opened(path, func(store object.Store, file string) error {
		names := []string{file}
		if file == "" {
			files, err := store.List(ctx, "")
			if err != nil {
				return err
			}
			names = names[:0]
			for _, x := range files {
				names = append(names, x.Name)
			}
		}
		var err error
		c, err = binlog.ReadColumns(ctx, store, names)
		return err
	})
	if err != nil {
		return fmt.Errorf("field %s: %w", name, err)
	}
	x := expr.Field{Name: name, Type: c.Type, Nullable: true}
	if c.Type == binlog.Array {
		x.Element = expr.ElementOf(c.Strings)
	}
	if f.rows = max(f.rows, int64(c.Rows)); f.rows != int64(c.Rows) {
		return fmt.Errorf("field %s: %d rows, another has %d", name, c.Rows, f.rows)
	}
	return f.add(x, func(context.Context) (*binlog.Column, error) { return c, nil })
}

// Left are the ids that an expression does not let pass, in order. The error is an *expr.Error where the expression is at fault.
func (f *Fields) Left(ctx context.Context, expression string) ([]int64, error) {
	p, err := expr.Parse(expression, &f.schema)
	if err != nil {
		return nil, err
	}
	c := &expr.Columns{Rows: int(max(f.rows, 0)), Fields: map[int64]*binlog.Column{}}
	for _, id := range p.Fields() {
		if c.Fields[id], err = f.read[id](ctx); err != nil {
			return nil, err
		}
	}
	left, err := p.Left(c)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for row := range c.Rows {
		if left.Has(row) {
			ids = append(ids, int64(row))
		}
	}
	return ids, nil
}

// Rows is how many rows the fields have.
func (f *Fields) Rows() int { return int(max(f.rows, 0)) }
