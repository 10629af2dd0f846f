package binlog

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"kitescope/engine/parquet"
)

const (
	// hugeWindow is the size in bytes from which a window is not reused for the next chunk, because it held a huge
	// page.
	hugeWindow = 64 << 20
	// batch is the maximum number of pages that a worker takes at once. Without it, a window of tiny pages could hold
	// more pages than fit in memory.
	batch = 4096
	// inline is the maximum size in bytes of a column that is decoded without further goroutines.
	inline = 512 << 10
)

// column reads a column of a parquet file into a sink.
type column struct {
	file  *parquet.File
	leaf  parquet.Leaf
	sink  sink
	first int // the row of the sink for the first row of the file

	mu    sync.Mutex
	nulls []span
}

// span is a range of rows of a sink.
type span struct{ at, n int }

// readInto reads the column with the given index into the rows of the sink from first on, and returns the null
// rows. The sink must have room for all rows of the file.
func readInto(ctx context.Context, p *parquet.File, index int, s sink, first int, use *scratch) ([]span, error) {
	c := &column{file: p, leaf: p.Leaves[index], sink: s, first: first}
	workers := use.workers[:1]
	var total int64
	for _, g := range p.Groups {
		total += g.Chunks[index].Length
	}
	if total > inline {
		workers = use.workers
	}
	at := first
	for _, g := range p.Groups {
		if err := c.readChunk(ctx, g.Chunks[index], at, int(g.Rows), workers); err != nil {
			return nil, fmt.Errorf("column %s: %w", parquet.Quote(c.leaf.Name), err)
		}
		at += int(g.Rows)
	}
	return c.nulls, nil
}

// page is a data page and its destination.
type page struct {
	header parquet.PageHeader
	at     int64 // offset of its content
	body   []byte
	dict   dictionary
	row    int
	codec  int
}

// readChunk reads the column's chunk in a row group.
func (c *column) readChunk(ctx context.Context, k parquet.Chunk, row, rows int, workers []*worker) error {
	s := c.scan(ctx, k, row, rows)
	if len(workers) == 1 {
		s.work(workers[0])
		return s.err
	}
	var wait sync.WaitGroup
	for _, w := range workers {
		wait.Go(func() { s.work(w) })
	}
	wait.Wait()
	return s.err
}

// scan hands out the pages of a chunk in order, several at a time. The goroutine that decodes the pages also reads
// them, into its own window, so that they are in its core's cache and are not copied.
type scan struct {
	c     *column
	ctx   context.Context //nolint:containedctx // that of one call
	codec int

	mu       sync.Mutex
	in       *parquet.PageReader
	dict     dictionary
	row, end int
	err      error // of the first page that failed, at offset at
	at       int64
}

func (c *column) scan(ctx context.Context, k parquet.Chunk, row, rows int) *scan {
	return &scan{c: c, ctx: ctx, codec: k.Codec, in: parquet.NewPageReader(c.file, k, nil), row: row, end: row + rows}
}

// work decodes pages until none are left or one fails.
func (s *scan) work(w *worker) {
	defer w.trim()
	for s.next(w) {
		for _, p := range w.pages {
			if err := s.c.decode(p, w); err != nil {
				s.mu.Lock()
				s.fail(p.at, err)
				s.mu.Unlock()
				return
			}
		}
	}
}

// fail keeps the error of the first failed page in the file. All pages before it were already handed out, and are
// decoded completely.
func (s *scan) fail(at int64, err error) {
	if s.err == nil || at < s.at {
		s.err, s.at = err, at
	}
}

// next reads the next data pages to w, and dictionaries between them. It returns false at the end of the chunk, or
// if an error occurs before the first page.
func (s *scan) next(w *worker) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.pages = w.pages[:0]
	if s.err != nil || s.row == s.end {
		return false
	}
	s.in.Move(w.window)
	first := s.row
	for s.row < s.end && (len(w.pages) == 0 || len(w.pages) < batch && s.in.Buffered()) {
		at := s.in.At()
		err := context.Cause(s.ctx)
		if err == nil {
			err = s.page(w)
		}
		if err != nil {
			s.fail(at, err)
			break
		}
	}
	w.window = s.in.Buffer()
	if t, ok := s.c.sink.(toucher); ok {
		t.touch(first, s.row)
	}
	return len(w.pages) > 0
}

// page reads a data page to w, or a dictionary.
func (s *scan) page(w *worker) error {
	at := s.in.At()
	h, err := s.in.Header()
	if err != nil {
		return fmt.Errorf("page header at offset %d: %w", at, err)
	}
	p := page{header: h, at: s.in.At(), row: s.row, dict: s.dict, codec: s.codec}
	if p.body, err = s.in.Body(h); err != nil {
		return err
	}
	switch h.Kind {
	case parquet.DictionaryPage:
		if s.dict != nil {
			return fmt.Errorf("offset %d: a second dictionary", at)
		}
		if s.dict, err = s.c.readDictionary(p, w); err != nil {
			return fmt.Errorf("dictionary page at offset %d: %w", at, err)
		}
	case parquet.DataPage, parquet.DataPageV2:
		if h.Values > s.end-s.row {
			return fmt.Errorf("page at offset %d has %d values where %d rows are left", at, h.Values, s.end-s.row)
		}
		w.pages, s.row = append(w.pages, p), s.row+h.Values
	}
	return nil
}

func (c *column) readDictionary(p page, w *worker) (dictionary, error) {
	if e := p.header.Encoding; e != parquet.PlainEncoding && e != parquet.PlainDictionary {
		return nil, fmt.Errorf("encoding %s is not supported", parquet.EncodingName(e))
	}
	b, err := w.Decompress(p.codec, p.body, p.header.Uncompressed)
	if err != nil {
		return nil, err
	}
	return c.sink.dictionary(b, p.header.Values)
}

// decode writes the values of a data page to the sink.
func (c *column) decode(p page, w *worker) error {
	content, err := w.Content(c.leaf, p.codec, p.header, p.body)
	if err == nil {
		err = c.values(p, content.Values, content.Definitions)
	}
	if err != nil {
		return fmt.Errorf("page at offset %d: %w", p.at, err)
	}
	return nil
}

func (c *column) values(p page, b, levels []byte) error {
	n := p.header.Values
	var nulls []span
	if c.leaf.Optional {
		var err error
		if nulls, err = findNulls(levels, p.row, n); err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
	}
	dense := n
	for _, s := range nulls {
		dense -= s.n
	}
	if err := c.denseValues(p, b, dense); err != nil {
		return err
	}
	if len(nulls) > 0 {
		spread(c.sink, p.row, dense, n, nulls)
		c.mu.Lock()
		c.nulls = append(c.nulls, nulls...)
		c.mu.Unlock()
	}
	return nil
}

// denseValues decodes n values to consecutive rows.
func (c *column) denseValues(p page, b []byte, n int) error {
	if n == 0 {
		return nil
	}
	switch e := p.header.Encoding; e {
	case parquet.PlainEncoding:
		return c.sink.plain(b, p.row, n)
	case parquet.PlainDictionary, parquet.RLEDictionary:
		if p.dict == nil || len(b) == 0 || b[0] > 32 {
			return errors.New("indices into a missing dictionary, or of more than 32 bits")
		}
		if d, ok := p.dict.(*octetEntries); ok && b[0] == 8 {
			return d.octets(b[1:], p.row, n)
		}
		return parquet.EachRun(b[1:], int(b[0]), p.row, n, p.dict.repeated, p.dict.packed)
	case parquet.RLEEncoding:
		ints, ok := c.sink.(*slice[int64])
		if !ok || c.leaf.Physical != parquet.Boolean || len(b) < 4 {
			break
		}
		set := func(at int, v uint32) { ints.rows[at] = int64(v) }
		return parquet.EachRun(b[4:], 1, p.row, n, func(v uint32, at, n int) error {
			for i := range n {
				set(at+i, v&1)
			}
			return nil
		}, func(b []byte, width, at, n int) error {
			return parquet.EachIndex(b, width, n, func(i int, values []uint32) error {
				for j, v := range values {
					set(at+i+j, v)
				}
				return nil
			})
		})
	}
	return fmt.Errorf("encoding %s of %s is not supported", parquet.EncodingName(p.header.Encoding),
		parquet.PhysicalName(c.leaf.Physical))
}
