package log

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"kitescope/engine"
	"kitescope/engine/dataset"
	guard "kitescope/engine/parquet"
)

// vectorNames are the names by which the column of vectors is known, where there are several.
func vectorNames() []string {
	return []string{"vector", "embedding", "emb", "query", "queries", "test"}
}

// openParquet lets engine/dataset read the column of vectors: the one that was asked for, the only one, or the one whose
// name says so.
func openParquet(ctx context.Context, path, column string) (*dataset.Set, error) {
	set, err := dataset.OpenAs(ctx, path, dataset.Parquet, column)
	if err == nil || column != "" {
		return set, err
	}
	for _, name := range vectorNames() {
		if set, e := dataset.OpenAs(ctx, path, dataset.Parquet, name); e == nil {
			return set, nil
		}
	}
	return nil, err
}

// parameters are the columns of a parquet file that say more of a request than its vector, by their names.
func (l *Log) parameters() map[string]func(row int, values []parquet.Value, c *parquetColumn) error {
	known := map[string]func(row int, values []parquet.Value, c *parquetColumn) error{
		"k": func(row int, values []parquet.Value, _ *parquetColumn) error {
			x, _, err := countValue(values)
			l.Requests[row].K = int(x)
			return err
		},
		"collection": func(row int, values []parquet.Value, _ *parquetColumn) error {
			if len(values) == 1 && values[0].Kind() == parquet.ByteArray {
				l.Requests[row].Collection = string(values[0].ByteArray())
			}
			return nil
		},
		"filter": func(row int, values []parquet.Value, c *parquetColumn) error {
			if c.null {
				return nil
			}
			if !c.list && len(values) == 1 && values[0].Kind() == parquet.ByteArray {
				if s := string(values[0].ByteArray()); s != "" {
					l.Requests[row].Filter = &Filter{Expr: s}
				}
				return nil
			}
			list, err := keyValues(values)
			l.Requests[row].Filter = &Filter{Keys: list}
			return err
		},
		"truth": func(row int, values []parquet.Value, c *parquetColumn) (err error) {
			if l.Truth == nil {
				l.Truth = make([][]engine.Key, l.Vectors.Rows)
			}
			if !c.null {
				l.Truth[row], err = keyValues(values)
			}
			return err
		},
	}
	for f := range engine.EachSearchParam() {
		read := shareValue
		if f.Whole() {
			read = countValue
		}
		known[f.Key] = func(row int, values []parquet.Value, _ *parquetColumn) error {
			x, ok, err := read(values)
			if ok && err == nil {
				f.Set(&l.Requests[row].SearchParams, x)
			}
			return err
		}
	}
	return known
}

// countValue is a whole number of 0 or more, false if there is none.
func countValue(values []parquet.Value) (float64, bool, error) {
	x, ok, err := wholeValue(values)
	if ok && (x < 0 || x > math.MaxInt32) {
		err = fmt.Errorf("expected a whole number of 0 or more, found %d", x)
	}
	return float64(x), ok, err
}

// shareValue is a number of 0 or more, false if there is none.
func shareValue(values []parquet.Value) (float64, bool, error) {
	if len(values) == 0 {
		return 0, false, nil
	}
	x, ok := floatValue(values[0])
	if !ok || len(values) > 1 || !(x >= 0 && x <= math.MaxFloat32) {
		return 0, false, fmt.Errorf("expected a number of 0 or more, found %s", printable(values[0].String()))
	}
	return x, true, nil
}

// parquetTimes are the columns that say when a request came.
func parquetTimes(times []moment) map[string]func(row int, values []parquet.Value, c *parquetColumn) error {
	set := func(read func(parquet.Value, *parquetColumn) (moment, error)) func(int, []parquet.Value, *parquetColumn) error {
		return func(row int, values []parquet.Value, c *parquetColumn) (err error) {
			if len(values) == 1 {
				times[row], err = read(values[0], c)
			}
			return err
		}
	}
	since := set(func(v parquet.Value, _ *parquetColumn) (moment, error) {
		x, ok := floatValue(v)
		if !ok || !(x >= 0 && x < maxSpan.Seconds()) {
			return moment{}, errors.New("expected seconds of 0 or more")
		}
		return moment{at: int64(math.Round(x * 1e9)), known: true}, nil
	})
	return map[string]func(int, []parquet.Value, *parquetColumn) error{"timestamp": set(timeValue), "at": since, "at_seconds": since}
}

// addColumns reads what else a parquet file says of its requests, and reports whether there was anything.
func (l *Log) addColumns(ctx context.Context, f *os.File, size int64) (found bool, err error) {
	defer guard.Recover(&err)
	file, err := guard.Open(f, size)
	if err != nil {
		return false, err
	}
	times := make([]moment, len(l.Requests))
	known := l.parameters()
	maps.Copy(known, parquetTimes(times))
	for _, top := range file.Root().Columns() {
		read, ok := known[top.Name()]
		if !ok {
			continue
		}
		c, err := newParquetColumn(top)
		if err == nil {
			_, err = guard.CheckPages(file, c.leaf, f, size, valueBytes)
		}
		if err == nil {
			err = c.read(ctx, len(l.Requests), read)
		}
		if err != nil {
			return false, fmt.Errorf("column %s: %w", top.Name(), err)
		}
		found = true
	}
	marks := make([]timeMark, len(times))
	for i, m := range times {
		marks[i] = l.Requests[i].mark(m)
	}
	l.Notes = append(l.Notes, l.setTimes(marks)...)
	return found, nil
}

// valueBytes is what a parquet.Value takes.
const valueBytes = 24

// parquetColumn is a column of values, or of lists of them.
type parquetColumn struct {
	leaf     *parquet.Column
	optional bool // the value or the list may be missing
	list     bool // it has lists, not values
	unit     int  // of a column of times: digits below a second; -1 if it is none
	null     bool // the row that is being read has none
}

func newParquetColumn(top *parquet.Column) (*parquetColumn, error) {
	leaf, ok := guard.LeafOf(top)
	if !ok {
		return nil, errors.New("expected a value or a list of values, found a group")
	}
	c := &parquetColumn{leaf: leaf, optional: top.Optional(), list: !top.Leaf() || top.Repeated(), unit: -1}
	if t := leaf.Type().LogicalType(); t != nil {
		if stamp, ok := t.Value.(*format.TimestampType); ok {
			c.unit = 9
			switch stamp.Unit.Value.(type) {
			case *format.MilliSeconds:
				c.unit = 3
			case *format.MicroSeconds:
				c.unit = 6
			}
		}
	}
	return c, nil
}

// read calls back for the values of each row.
func (c *parquetColumn) read(ctx context.Context, rows int, f func(int, []parquet.Value, *parquetColumn) error) error {
	var values []parquet.Value
	row := -1
	flush := func() error {
		if row < 0 {
			return nil
		}
		if err := f(row, values, c); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		return nil
	}
	err := guard.Values(ctx, c.leaf, func(v parquet.Value) error {
		if v.RepetitionLevel() == 0 {
			if err := flush(); err != nil {
				return err
			}
			values = values[:0]
			c.null = c.optional && v.IsNull() && v.DefinitionLevel() == 0
			if row++; row >= rows {
				return fmt.Errorf("expected %d rows, found more", rows)
			}
		}
		if !v.IsNull() {
			values = append(values, v.Clone())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if row+1 != rows {
		return fmt.Errorf("expected %d rows, found %d", rows, row+1)
	}
	return flush()
}

// floatValue is a number of whatever type.
func floatValue(v parquet.Value) (float64, bool) {
	switch v.Kind() {
	case parquet.Int32:
		return float64(v.Int32()), true
	case parquet.Int64:
		return float64(v.Int64()), true
	case parquet.Float:
		return float64(v.Float()), true
	case parquet.Double:
		return v.Double(), true
	default:
		return 0, false
	}
}

// wholeValue is the value of a column of numbers. pandas makes float64 of whole numbers where some are missing, and NaN of
// those.
func wholeValue(values []parquet.Value) (int64, bool, error) {
	if len(values) == 0 {
		return 0, false, nil
	}
	v := values[0]
	if len(values) == 1 && v.Kind() == parquet.Int64 {
		return v.Int64(), true, nil
	}
	x, ok := floatValue(v)
	if ok && x != x {
		return 0, false, nil
	}
	if !ok || len(values) > 1 || x != math.Trunc(x) || math.Abs(x) > math.MaxInt32 {
		return 0, false, fmt.Errorf("expected a whole number, found %s", printable(v.String()))
	}
	return int64(x), true, nil
}

func keyValues(values []parquet.Value) ([]engine.Key, error) {
	list := make([]engine.Key, 0, len(values))
	for _, v := range values {
		switch v.Kind() {
		case parquet.Int32:
			list = append(list, engine.NumberKey(int64(v.Int32())))
		case parquet.Int64:
			list = append(list, engine.NumberKey(v.Int64()))
		case parquet.ByteArray:
			list = append(list, engine.TextKey(string(v.ByteArray())))
		default:
			return nil, fmt.Errorf("expected ids as whole numbers or text, found %s", printable(v.String()))
		}
	}
	return list, nil
}

// timeValue is a time of a column of timestamps, of text, or of unix times.
func timeValue(v parquet.Value, c *parquetColumn) (moment, error) {
	var written []byte
	switch x, ok := floatValue(v); {
	case c.unit >= 0 && v.Kind() == parquet.Int64:
		n := v.Int64()
		scale := int64(math.Pow10(9 - c.unit))
		if n < 0 || n > math.MaxInt64/scale {
			return moment{}, fmt.Errorf("expected a time after 1970, found %d", n)
		}
		return moment{at: n * scale, absolute: true, known: true}, nil
	case ok && x != x:
		return moment{}, nil
	case v.Kind() == parquet.Int64:
		written = strconv.AppendInt(nil, v.Int64(), 10)
	case ok:
		written = strconv.AppendFloat(nil, x, 'f', -1, 64)
	default:
		written = appendText(nil, string(v.ByteArray()))
	}
	return timestamp(written)
}
