package binlog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"kitescope/engine/parquet"
)

const (
	// A page may decompress to so many times its size, or so much: pages hold about a
	// megabyte, or the vectors of a batch.
	pageRatio, pageFloor = 256, 64 << 20
	// inline is up to which size a column is decoded without further goroutines.
	inline = 512 << 10
)

// column reads a column of a parquet file into a sink.
type column struct {
	file  *parquet.File
	leaf  parquet.Leaf
	sink  sink
	first int // the row of the sink to which the first row of the file goes

	use   *scratch
	mu    sync.Mutex
	nulls []span
}

// span is rows of a sink.
type span struct{ at, n int }

// readInto reads the column with that index to the rows of the sink from first on, and
// returns which of them are null. The sink has room for all rows of the file.
func readInto(ctx context.Context, p *parquet.File, index int, s sink, first int, use *scratch) ([]span, error) {
	c := &column{file: p, leaf: p.Leaves[index], sink: s, first: first, use: use}
	workers := 1
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

// page is a data page and where its rows go.
type page struct {
	header parquet.PageHeader
	at     int64 // offset of its content
	body   []byte
	dict   dictionary
	row    int
	codec  int
}

// readChunk reads a column of a row group: one goroutine finds pages, others decode them.
func (c *column) readChunk(ctx context.Context, k parquet.Chunk, row, rows, workers int) error {
	if workers == 1 {
		buffer := c.use.buffer()
		err := c.scan(ctx, k, row, rows, nil, func(p page) error {
			var err error
			buffer, err = c.decode(p, buffer)
			return err
		})
		c.use.giveBack(buffer)
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pages := make(chan page, workers)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			buffer := c.use.buffer()
			for p := range pages {
				var err error
				if buffer, err = c.decode(p, buffer); err != nil {
					cancel(err)
				}
				c.use.giveBack(p.body)
			}
			c.use.giveBack(buffer)
		})
	}
	err := c.scan(ctx, k, row, rows, c.use.buffer, func(p page) error {
		pages <- p
		return nil
	})
	close(pages)
	wait.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// scan walks the pages of a chunk in order: it parses dictionaries and hands on data pages,
// with a content of their own if there is a spare for it, else with one that the next overwrites.
func (c *column) scan(ctx context.Context, k parquet.Chunk, row, rows int, spare func() []byte, emit func(page) error) error {
	in := parquet.NewPageReader(c.file, k, c.use.window)
	defer func() { c.use.window = in.Buffer() }()
	var dict dictionary
	for end := row + rows; row < end; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		at := in.At()
		h, err := in.Header()
		if err != nil {
			return fmt.Errorf("page header at offset %d: %w", at, err)
		}
		p := page{header: h, at: in.At(), row: row, dict: dict, codec: k.Codec}
		if spare == nil {
			p.body, err = in.Next(int64(h.Compressed))
		} else {
			p.body, err = in.Take(int64(h.Compressed), spare())
		}
		if err != nil {
			return err
		}
		switch h.Kind {
		case parquet.DictionaryPage:
			if dict != nil {
				return fmt.Errorf("offset %d: a second dictionary", at)
			}
			if dict, err = c.readDictionary(p); err != nil {
				return fmt.Errorf("dictionary page at offset %d: %w", at, err)
			}
		case parquet.DataPage, parquet.DataPageV2:
			if h.Values > end-row {
				return fmt.Errorf("page at offset %d has %d values where %d rows are left", at, h.Values, end-row)
			}
			if err := emit(p); err != nil {
				return err
			}
			row += h.Values
		}
	}
	return nil
}

func (c *column) readDictionary(p page) (dictionary, error) {
	if e := p.header.Encoding; e != parquet.PlainEncoding && e != parquet.PlainDictionary {
		return nil, fmt.Errorf("encoding %s is not supported", parquet.EncodingName(e))
	}
	b, _, err := c.decompress(p.codec, p.body, p.header.Uncompressed, nil)
	if err != nil {
		return nil, err
	}
	return c.sink.dictionary(b, p.header.Values)
}

// decode puts the values of a data page into the sink; buffer is for reuse.
func (c *column) decode(p page, buffer []byte) ([]byte, error) {
	if rows := c.inPlace(p); rows != nil {
		if err := c.decompressInto(p.codec, p.body, rows); err != nil {
			return nil, fmt.Errorf("page at offset %d: %w", p.at, err)
		}
		return buffer, nil
	}
	b, levels, buffer, err := c.content(p, buffer)
	if err == nil {
		err = c.values(p, b, levels)
	}
	if err != nil {
		return nil, fmt.Errorf("page at offset %d: %w", p.at, err)
	}
	return buffer, nil
}

// inPlace is where the content of a page goes as it is, if it does: vectors that lie without gaps, and have no levels before them.
func (c *column) inPlace(p page) []byte {
	to, ok := c.sink.(*vectors)
	if !ok || c.leaf.Optional || p.header.Kind != parquet.DataPage || p.header.Encoding != parquet.PlainEncoding || p.codec == parquet.CodecNone {
		return nil
	}
	if rows := to.stretch(p.row, p.header.Values); len(rows) == p.header.Uncompressed {
		return rows
	}
	return nil
}

// content decompresses a page and parts definition levels from values. In version 2 the
// levels lie before what is compressed, in version 1 within it, after their length.
func (c *column) content(p page, buffer []byte) (values, levels, grown []byte, err error) {
	h := p.header
	if h.Kind == parquet.DataPageV2 {
		if h.Levels > len(p.body) || h.Levels > h.Uncompressed {
			return nil, nil, nil, fmt.Errorf("definition levels of %d bytes in a page of %d", h.Levels, len(p.body))
		}
		codec := p.codec
		if h.Stored {
			codec = parquet.CodecNone
		}
		b, buffer, err := c.decompress(codec, p.body[h.Levels:], h.Uncompressed-h.Levels, buffer)
		return b, p.body[:h.Levels], buffer, err
	}
	b, buffer, err := c.decompress(p.codec, p.body, h.Uncompressed, buffer)
	if err != nil || !c.leaf.Optional {
		return b, nil, buffer, err
	}
	if h.LevelEncoding != parquet.RLEEncoding {
		return nil, nil, nil, fmt.Errorf("definition levels in encoding %s are not supported", parquet.EncodingName(h.LevelEncoding))
	}
	if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) > int64(len(b)-4) {
		return nil, nil, nil, fmt.Errorf("definition levels are longer than the page of %d bytes", len(b))
	}
	n := 4 + int(binary.LittleEndian.Uint32(b))
	return b[n:], b[4:n], buffer, nil
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
			return errors.New("indices into a dictionary that is not there, or of more than 32 bits")
		}
		return eachRun(b[1:], int(b[0]), p.row, n, p.dict.repeated, p.dict.packed)
	case parquet.RLEEncoding:
		ints, ok := c.sink.(*slice[int64])
		if !ok || c.leaf.Physical != parquet.Boolean || len(b) < 4 {
			break
		}
		set := func(at int, v uint32) { ints.rows[at] = int64(v) }
		return eachRun(b[4:], 1, p.row, n, func(v uint32, at, n int) error {
			for i := range n {
				set(at+i, v&1)
			}
			return nil
		}, func(b []byte, width, at, n int) error {
			return eachIndex(b, width, n, func(i int, values []uint32) error {
				for j, v := range values {
					set(at+i+j, v)
				}
				return nil
			})
		})
	}
	return fmt.Errorf("encoding %s of %s is not supported", parquet.EncodingName(p.header.Encoding), parquet.PhysicalName(c.leaf.Physical))
}

// eachRun calls repeated or packed for the runs that make n values.
func eachRun(b []byte, width, at, n int, repeated func(v uint32, at, n int) error, packed func(b []byte, width, at, n int) error) error {
	r := &runs{b: b, width: width, left: n}
	for r.left > 0 {
		s, err := r.next()
		if err != nil {
			return err
		}
		if s.packed == nil {
			err = repeated(s.value, at, s.n)
		} else {
			err = packed(s.packed, width, at, s.n)
		}
		if err != nil {
			return err
		}
		at += s.n
	}
	return nil
}
