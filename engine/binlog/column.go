package binlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

const (
	// A column may decode to at most columnRatio times the size of its file plus columnFloor bytes. The ratio is
	// large because a timestamp that is the same in every row takes a few bytes for any number of rows.
	columnRatio, columnFloor = 1024, 64 << 20
)

// Column holds the values of a field. Type determines which value slice is filled.
type Column struct {
	Descriptor // of the first file; Start and End span all files
	Rows       int
	Int64s     []int64         // Bool (0 or 1), Int8 to Int64, Timestamptz
	Floats     []float64       // Float (exactly) and Double
	Strings    []string        // String, VarChar, Text; raw bytes of Array, JSON and Geometry
	Vectors    *engine.Vectors // a null vector is zero, or has no values if it is sparse
	// Valid marks the rows that have a value. It is nil if every row has one. A null row holds zero.
	Valid *engine.Bitset
}

// Release frees the memory of the vectors immediately. They must not be used afterwards.
func (c *Column) Release() {
	if c.Vectors != nil {
		c.Vectors.Release()
	}
}

// ReadColumn reads one insert log (a file of events with one parquet column). Errors contain name.
func ReadColumn(ctx context.Context, r object.Reader, name string) (*Column, error) {
	l, err := openLog(r, name)
	if err != nil {
		return nil, err
	}
	return readLogs(ctx, []*logFile{l})
}

// ReadColumns reads the insert logs of a field in a segment as one column. Rows are in the order of the segment:
// the logs are concatenated in the order of their numbers (see SortLogs).
func ReadColumns(ctx context.Context, store object.Store, names []string) (*Column, error) {
	if len(names) == 0 {
		return nil, errors.New("no logs to read")
	}
	logs := make([]*logFile, 0, len(names))
	defer func() {
		for _, l := range logs {
			_ = l.r.Close()
		}
	}()
	for _, name := range SortLogs(names) {
		r, err := store.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		l, err := openLog(r, name)
		if err != nil {
			_ = r.Close()
			return nil, err
		}
		logs = append(logs, l)
	}
	return readLogs(ctx, logs)
}

// SortLogs returns a copy of names, sorted by the number in their last path element. Log ids are compared as
// numbers, as Milvus does. Names without a number come last, in byte order.
func SortLogs(names []string) []string {
	number := func(name string) int64 {
		n, err := strconv.ParseInt(path.Base(name), 10, 64)
		if err != nil {
			return 1<<63 - 1
		}
		return n
	}
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
	})
	return names
}

// logFile is an open file of events and the parquet files in it.
type logFile struct {
	name string
	r    object.Reader
	*Descriptor
	parts []*parquet.File
}

func openLog(r object.Reader, name string) (*logFile, error) {
	l := &logFile{name: name, r: r}
	d, payloads, err := readEvents(r, r.Size())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(payloads) == 0 {
		return nil, fmt.Errorf("read %s: it ends after its descriptor, without rows", name)
	}
	l.Descriptor = d
	for _, p := range payloads {
		file, err := parquet.ReadFooter(r, p.at, p.length)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		l.parts = append(l.parts, file)
	}
	return l, nil
}

// readLogs decodes the single column of each file and concatenates the columns.
func readLogs(ctx context.Context, logs []*logFile) (*Column, error) {
	first := logs[0]
	c := &Column{Descriptor: *first.Descriptor}
	var all []source
	for _, l := range logs {
		d := l.Descriptor
		if d.Collection != c.Collection || d.Partition != c.Partition || d.Segment != c.Segment || d.Field != c.Field ||
			d.Type != c.Type {
			return nil,
				fmt.Errorf("read %s: field %d (%v) of segment %d of collection %d, while %s is of field %d (%v), "+
					"%d, %d",
					l.name, d.Field, d.Type, d.Segment, d.Collection, first.name, c.Field, c.Type, c.Segment,
					c.Collection)
		}
		c.Start, c.End = min(c.Start, d.Start), max(c.End, d.End)
		for _, p := range l.parts {
			if len(p.Leaves) != 1 {
				return nil,
					fmt.Errorf("read %s: parquet file at offset %d: expected one column, found %d", l.name, p.Base,
						len(p.Leaves))
			}
			all = append(all, source{l.name, p, 0})
		}
	}
	return c, c.read(ctx, all)
}

// source is a column of a parquet file in a log.
type source struct {
	name  string
	file  *parquet.File
	index int
}

func (s source) leaf() parquet.Leaf { return s.file.Leaves[s.index] }

func (s source) errorf(format string, a ...any) error {
	return fmt.Errorf("read %s: column %s of the parquet file at offset %d: %w",
		s.name, parquet.Quote(s.leaf().Name), s.file.Base, fmt.Errorf(format, a...))
}

// read fills the column, whose Type is set, from all sources.
func (c *Column) read(ctx context.Context, all []source) error {
	for _, s := range all {
		if s.leaf().Nested {
			return s.errorf("it is repeated or in a group, unexpected for %v", c.Type)
		}
		if s.leaf().Physical != all[0].leaf().Physical || s.leaf().Length != all[0].leaf().Length {
			return s.errorf("it is %s of %d bytes, that of %s is not", parquet.PhysicalName(s.leaf().Physical),
				s.leaf().Length, all[0].name)
		}
		c.Rows += int(s.file.Rows)
	}
	if len(all) == 0 {
		return c.refuse()
	}
	to, width, err := c.sink(all)
	if err != nil {
		c.Release()
		return err
	}
	use, err := newScratch()
	if err != nil {
		c.Release()
		return err
	}
	defer use.close()
	at := 0
	var nulls []span
	for _, s := range all {
		if err := s.checkRows(width); err != nil {
			c.Release()
			return err
		}
		more, err := readInto(ctx, s.file, s.index, to, at, use)
		if err != nil {
			c.Release()
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		nulls = append(nulls, more...)
		at += int(s.file.Rows)
	}
	c.mark(nulls)
	if c.Type == SparseFloatVector {
		return c.joinSparse(all[0])
	}
	return nil
}

// checkRows returns an error if a file claims far more rows than files of its size have.
func (s source) checkRows(width int) error {
	if most := columnFloor + columnRatio*s.file.Size; s.file.Rows > most/int64(width) {
		return s.errorf("%d rows of %d bytes in a file of %d", s.file.Rows, width, s.file.Size)
	}
	return nil
}

func (c *Column) mark(nulls []span) {
	if len(nulls) == 0 {
		return
	}
	null := engine.NewBitset(c.Rows)
	for _, s := range nulls {
		for i := range s.n {
			null.Set(s.at + i)
		}
	}
	c.Valid = engine.NewBitset(c.Rows)
	for i := range c.Rows {
		if !null.Has(i) {
			c.Valid.Set(i)
		}
	}
}

// refuse returns an error if the type is not supported.
func (c *Column) refuse() error {
	if _, ok := c.Type.Element(); ok {
		return nil
	}
	switch c.Type {
	case Bool, Int8, Int16, Int32, Int64, Timestamptz, Float, Double, String, VarChar, Text, Array, JSON, Geometry:
		return nil
	case ArrayOfVector:
		return fmt.Errorf("field %d: type %v is not supported", c.Field, c.Type)
	default:
		return fmt.Errorf("field %d: %v is not a column type", c.Field, c.Type)
	}
}

// sink allocates memory for all rows. width is the size of a row in bytes.
func (c *Column) sink(all []source) (to sink, width int, err error) {
	if err := c.refuse(); err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", all[0].name, err)
	}
	leaf := all[0].leaf()
	if element, ok := c.Type.Element(); ok && element != dist.Sparse {
		return c.vectorSink(all, element)
	}
	for _, s := range all { // before any allocation
		if err := s.checkRows(rowSize(c.Type)); err != nil {
			return nil, 0, err
		}
	}
	switch c.Type {
	case Float, Double:
		parse, least, err := parseFloats(leaf.Physical)
		if err != nil {
			return nil, 0, all[0].errorf("%v: %w", c.Type, err)
		}
		c.Floats = make([]float64, c.Rows)
		return &slice[float64]{c.Floats, parse, least}, 8, nil
	case String, VarChar, Text, Array, JSON, Geometry, SparseFloatVector:
		if leaf.Physical != parquet.ByteArray {
			return nil, 0,
				all[0].errorf("%v: parquet type %s holds no strings", c.Type, parquet.PhysicalName(leaf.Physical))
		}
		c.Strings = make([]string, c.Rows)
		return &slice[string]{c.Strings, parseStrings, 4}, 16, nil
	default:
		parse, least, err := parseInts(leaf.Physical)
		if err != nil {
			return nil, 0, all[0].errorf("%v: %w", c.Type, err)
		}
		c.Int64s = make([]int64, c.Rows)
		return &slice[int64]{c.Int64s, parse, least}, 8, nil
	}
}

func rowSize(t Type) int {
	switch t {
	case String, VarChar, Text, Array, JSON, Geometry, SparseFloatVector:
		return 16
	default:
		return 8
	}
}
