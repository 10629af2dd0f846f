package target

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"kitescope/engine"
	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/index"
	"kitescope/engine/object"
	"kitescope/engine/sparse"
)

// Log describes a log of Milvus's storage, or a folder with the logs of a column.
type Log struct {
	Name  string
	Kind  string // name of a binlog.Kind, or "manifest"
	Files int
	Bytes int64
	Facts []index.Fact
}

// DescribeLog describes the insert log, delta log or manifest at path, or the folder with the logs of a field. It
// returns nil and no error for any other file, because Open reports why a file cannot be read.
func DescribeLog(ctx context.Context, path string) (*Log, error) {
	full, err := filepath.Abs(path)
	if err != nil || isDataset(path) {
		return nil, nil
	}
	info, err := os.Stat(full)
	if err != nil {
		return nil, nil
	}
	names := []string{filepath.Base(full)}
	folder := filepath.Dir(full)
	if info.IsDir() {
		folder, names = full, nil
		entries, err := os.ReadDir(full)
		if err != nil {
			return nil, nil
		}
		for _, e := range entries {
			if e.IsDir() {
				return nil, nil
			}
			names = append(names, e.Name())
		}
	}
	store, err := object.OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	l := &Log{Name: path, Files: len(names)}
	if len(names) == 1 {
		if is, err := l.manifest(ctx, store, names[0]); is || err != nil {
			return l, err
		}
	}
	all := binlog.Other
	for i, name := range names {
		kind, size, err := kindOf(ctx, store, name)
		if err != nil || kind == binlog.Other || i > 0 && kind != all {
			return nil, err
		}
		all, l.Kind, l.Bytes = kind, kind.String(), l.Bytes+size
	}
	if len(names) == 0 {
		return nil, nil
	}
	if err := l.read(ctx, store, all, binlog.SortLogs(names)); err != nil {
		return nil, err
	}
	return l, nil
}

func kindOf(ctx context.Context, store object.Store, name string) (binlog.Kind, int64, error) {
	r, err := store.Open(ctx, name)
	if err != nil {
		return binlog.Other, 0, err
	}
	defer r.Close()
	return binlog.KindOf(r), r.Size(), nil
}

// read describes the logs.
func (l *Log) read(ctx context.Context, store object.Store, kind binlog.Kind, names []string) error {
	l.text("type", l.Kind)
	if l.Files > 1 {
		l.count("files", "files", int64(l.Files))
	}
	switch kind {
	case binlog.InsertLog:
		c, err := binlog.ReadColumns(ctx, store, names)
		if err != nil {
			return err
		}
		defer c.Release()
		l.column(c)
	case binlog.DeltaLog:
		d, err := binlog.ReadDeltas(ctx, store, names)
		if err != nil {
			return err
		}
		l.deletes(d)
	default:
		for _, name := range names {
			if err := l.packed(ctx, store, name); err != nil {
				return err
			}
		}
	}
	l.text("size", strconv.FormatInt(l.Bytes, 10)+" bytes")
	return nil
}

// packed describes the columns of a packed insert log.
func (l *Log) packed(ctx context.Context, store object.Store, name string) error {
	r, err := store.Open(ctx, name)
	if err != nil {
		return err
	}
	defer r.Close()
	columns, rows, err := binlog.PackedColumns(r, name)
	if err != nil {
		return err
	}
	l.count("rows", "rows", rows)
	l.count("columns", "columns", int64(len(columns)))
	for _, c := range columns {
		text := fmt.Sprintf("%d bytes", c.Bytes)
		if c.Field >= 0 {
			text = fmt.Sprintf("field %d, %s", c.Field, text)
		}
		l.text("column "+c.Name, text)
	}
	return nil
}

func (l *Log) text(name, text string) { l.Facts = append(l.Facts, index.Fact{Name: name, Text: text}) }

func (l *Log) count(name, key string, n int64) {
	l.Facts = append(l.Facts, index.Fact{
		Name: name, Text: strconv.FormatInt(n, 10), Key: key, Number: float64(n), IsCount: true,
	})
}

// origin adds the ids and times in the descriptor of a file of events.
func (l *Log) origin(d *binlog.Descriptor) {
	for _, x := range []struct {
		name string
		id   int64
	}{{"collection", d.Collection}, {"partition", d.Partition}, {"segment", d.Segment}, {"field", d.Field}} {
		if x.id > 0 || x.name == "field" && d.Collection > 0 && x.id >= 0 {
			l.text(x.name, strconv.FormatInt(x.id, 10))
		}
	}
	if d.Start > 0 && d.End >= d.Start {
		l.text("written", span(d.Start, d.End))
	}
}

// span formats the time between two timestamps of Milvus's hybrid clock.
func span(from, to uint64) string {
	at := func(ts uint64) string {
		return time.UnixMilli(int64(ts >> 18)).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	if from>>18 == to>>18 {
		return at(from)
	}
	return at(from) + " to " + at(to)
}

func (l *Log) column(c *binlog.Column) {
	l.origin(&c.Descriptor)
	l.text("values", c.Type.String())
	l.count("rows", "rows", int64(c.Rows))
	if c.Valid != nil {
		l.count("null", "null_rows", int64(c.Rows-c.Valid.Count()))
	}
	switch {
	case c.Vectors != nil:
		l.vectors(c.Vectors)
	case c.Rows == 0:
	case c.Field == binlog.TimestampField && len(c.Int64s) > 0:
		l.text("range", span(uint64(slices.Min(c.Int64s)), uint64(slices.Max(c.Int64s))))
	case len(c.Int64s) > 0:
		l.text("range", fmt.Sprintf("%d to %d", slices.Min(c.Int64s), slices.Max(c.Int64s)))
	case len(c.Floats) > 0:
		l.text("range", fmt.Sprintf("%g to %g", slices.Min(c.Floats), slices.Max(c.Floats)))
	case len(c.Strings) > 0:
		bytes, longest := 0, 0
		for _, s := range c.Strings {
			bytes, longest = bytes+len(s), max(longest, len(s))
		}
		if c.Type == binlog.VarChar || c.Type == binlog.String || c.Type == binlog.Text {
			l.text("range", fmt.Sprintf("%q to %q", short(slices.Min(c.Strings)), short(slices.Max(c.Strings))))
		}
		l.text("lengths", fmt.Sprintf("%.1f bytes on average, at most %d", float64(bytes)/float64(c.Rows), longest))
	}
}

// short truncates a text for display.
func short(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

func (l *Log) vectors(v *engine.Vectors) {
	l.text("element", v.Element.String())
	if v.Element == dist.Sparse {
		l.count("dimension", "dim", int64(sparse.Dim(v)))
		l.text("values in all rows", strconv.Itoa(sparse.Count(v)))
		return
	}
	l.count("dimension", "dim", int64(v.Dim))
	if v.Element != dist.Float32 || v.Rows == 0 {
		return
	}
	least, most, odd := math.Inf(1), 0.0, 0
	for row := range v.Rows {
		sum := 0.0
		for _, x := range v.Float32(row) {
			sum += float64(x) * float64(x)
		}
		if math.IsNaN(sum) {
			odd++
			continue
		}
		least, most = min(least, math.Sqrt(sum)), max(most, math.Sqrt(sum))
	}
	l.text("lengths", fmt.Sprintf("%.4g to %.4g", least, most))
	if odd > 0 {
		l.Facts = append(l.Facts, index.Fact{
			Name: "with NaN", Text: strconv.Itoa(odd) + " rows", Key: "nan_rows",
			Number: float64(odd), IsCount: true, IsFault: true,
		})
	}
}

func (l *Log) deletes(d *binlog.Deltas) {
	l.origin(&d.Descriptor)
	l.count("deletes", "deletes", int64(len(d.Timestamps)))
	if len(d.Timestamps) == 0 {
		return
	}
	if len(d.Strings) > 0 {
		keys := slices.Clone(d.Strings)
		slices.Sort(keys)
		l.text("values", binlog.VarChar.String())
		l.count("keys", "keys", int64(len(slices.Compact(keys))))
		l.text("range", fmt.Sprintf("%q to %q", short(keys[0]), short(slices.Max(d.Strings))))
	} else {
		keys := slices.Clone(d.Int64s)
		slices.Sort(keys)
		l.text("values", binlog.Int64.String())
		l.count("keys", "keys", int64(len(slices.Compact(keys))))
		l.text("range", fmt.Sprintf("%d to %d", keys[0], slices.Max(d.Int64s)))
	}
	l.text("deleted", span(slices.Min(d.Timestamps), slices.Max(d.Timestamps)))
}
