package log

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/internal/hints"
)

// maxLine bounds one line: 10,000 vectors of 1,024 dimensions take 100 MB as text.
const maxLine = 256 << 20

// checkEvery is after how many lines or rows a long loop asks whether it is still wanted.
const checkEvery = 256

// What is counted of the lines of a .jsonl.
const (
	kindBroken    = "broken lines, skipped"
	kindDims      = "lines with vectors of other dimensions, skipped"
	kindNonFinite = "lines with a value that is not a finite number, skipped"
	kindOther     = "requests of other collections, skipped"
	kindCut       = "files that could not be read to the end"
	kindNameless  = "requests without a collection, kept"
)

// lineReader reads the lines of a .jsonl, one after the other, and keeps the requests.
type lineReader struct {
	o     Options
	tally tally
	extra names // keys that nobody knows

	parse     requestLine
	vectors   growing
	firstLine int // whose dimensions count
	requests  []Request
	marks     []timeMark
	truth     [][]engine.Key
	anyTruth  bool
	skipped   int // because of Options.Skip
	line      int
	bytes     int64
	total     int64 // bytes that there will be about; 0 unknown
	raw       *counted
	held      held
}

// readLines reads requests until the end or the limit.
func (r *lineReader) readLines(ctx context.Context, in io.Reader) error {
	br := bufio.NewReaderSize(in, 1<<20)
	var long []byte
	for {
		if r.line%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, overlong, err := nextLine(br, &long)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil { // the line is not whole
			return r.cut(err)
		}
		r.line++
		r.bytes += int64(len(line))
		if overlong {
			if e := r.fault(kindBroken, fmt.Errorf("more than %d bytes", maxLine)); e != nil {
				return e
			}
		} else if e := r.oneLine(line); e != nil {
			return e
		}
		if r.o.Limit > 0 && len(r.requests) >= r.o.Limit {
			return nil
		}
	}
}

// cut says that the stream broke off; what was read before stays.
func (r *lineReader) cut(err error) error {
	err = fmt.Errorf("line %d: the file breaks off: %w", r.line+1, err)
	if r.o.Strict || len(r.requests) == 0 {
		return err
	}
	r.tally.add(kindCut, err.Error())
	return nil
}

// nextLine returns a line without its end. Lines that do not fit in the reader's buffer are gathered in long; of those
// that are too long nothing is kept.
func nextLine(br *bufio.Reader, long *[]byte) (line []byte, overlong bool, err error) {
	part, err := br.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimSuffix(part, []byte("\n")), false, keepLine(part, err)
	}
	*long = append((*long)[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = br.ReadSlice('\n')
		if overlong = overlong || len(*long)+len(part) > maxLine; !overlong {
			*long = append(*long, part...)
		}
	}
	line = bytes.TrimSuffix(*long, []byte("\n"))
	return line, overlong, keepLine(line, err)
}

// keepLine forgets an end of the file that comes after a last line without an end; it comes again.
func keepLine(part []byte, err error) error {
	if len(part) > 0 && errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// oneLine makes a request of a line, unless it is empty or wrong.
func (r *lineReader) oneLine(line []byte) error {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) == 0 {
		return nil
	}
	p := &r.parse
	if err := p.read(line, r.extra); err != nil {
		return r.fault(kindOf(err), err)
	}
	if r.o.Collection != "" && p.Collection != r.o.Collection {
		if p.Collection != "" {
			r.tally.add(kindOther, "")
			return nil
		}
		r.tally.add(kindNameless, "")
	}
	if r.skipped < r.o.Skip {
		r.skipped++
		return nil
	}
	rows := r.vectors.rows
	if err := r.takeVectors(p); err != nil {
		r.forget(r.vectors.rows - rows)
		return r.fault(kindOf(err), err)
	}
	req := p.Request
	req.First = rows
	if p.vectors != nil || p.vector != nil {
		req.NQ = r.vectors.rows - rows
		if err := r.takeTruth(p, req.NQ); err != nil {
			r.forget(req.NQ)
			return r.fault(kindBroken, err)
		}
	}
	if len(r.requests) > 0 && r.requests[len(r.requests)-1].Collection == req.Collection {
		req.Collection = r.requests[len(r.requests)-1].Collection // one copy of the name for all
	}
	r.keep(req, p.time)
	var truth [][]engine.Key
	if r.anyTruth {
		truth = r.truth[len(r.truth)-req.NQ:]
	}
	r.held.add(&req, r.vectors.rowBytes(), truth)
	if err := r.held.over(r.raw.n, len(r.requests)); err != nil {
		return hints.Errorf(overHint, "line %d: %w", r.line, err)
	}
	return nil
}

// kindOf is what a line with an error is counted as.
func kindOf(err error) string {
	var dims *dimsError
	switch {
	case errors.Is(err, errNonFinite):
		return kindNonFinite
	case errors.As(err, &dims):
		return kindDims
	}
	return kindBroken
}

// forget takes back the last n vectors. A line that is left out does not decide about the dimensions of others.
func (r *lineReader) forget(n int) {
	r.vectors.drop(n)
	if len(r.requests) == 0 {
		r.vectors.release()
		r.vectors.dim = 0
	}
}

// keep appends a request. When enough are there to tell how many there will be, room is made for all of them at once:
// a slice that grows is there twice.
func (r *lineReader) keep(req Request, at moment) {
	const enough = 4096
	if len(r.requests) == enough && r.total > r.bytes && r.bytes > 0 {
		about := int(float64(len(r.requests)) * float64(r.total) / float64(r.bytes) * 1.02)
		if r.o.Limit > 0 {
			about = min(about, r.o.Limit)
		}
		r.requests = append(make([]Request, 0, about), r.requests...)
		r.marks = append(make([]timeMark, 0, about), r.marks...)
	}
	r.marks = append(r.marks, req.mark(at))
	r.requests = append(r.requests, req)
}

// fault counts a line that is left out, or is the error that ends it all.
func (r *lineReader) fault(kind string, err error) error {
	err = fmt.Errorf("line %d: %w", r.line, err)
	if r.o.Strict {
		return err
	}
	r.tally.add(kind, err.Error())
	return nil
}

// log makes a Log of what was read.
func (r *lineReader) log() (*Log, error) {
	if len(r.requests) == 0 {
		r.vectors.release()
		return nil, r.empty()
	}
	vectors, err := r.vectors.joined()
	if err != nil {
		return nil, err
	}
	l := &Log{Format: "jsonl", Vectors: vectors, Requests: r.requests}
	if vectors != nil {
		l.free = vectors.Release
	}
	if r.anyTruth {
		l.Truth = r.truth
	}
	l.Notes = r.tally.notes()
	if len(r.extra) > 0 {
		l.Notes = append(l.Notes, "ignored unknown keys: "+r.extra.list())
	}
	l.Notes = append(l.Notes, l.setTimes(r.marks)...)
	return l, nil
}

// empty says why there is no request at all.
func (r *lineReader) empty() error {
	notes := r.tally.notes()
	switch {
	case r.line == 0:
		return errors.New("the file is empty")
	case len(notes) > 0:
		return fmt.Errorf("no line of %d is a selected request: %s", r.line, notes[0])
	case r.skipped > 0:
		return fmt.Errorf("all %d requests were skipped as requested", r.skipped)
	default:
		return fmt.Errorf("%d lines without a request", r.line)
	}
}

// growing is rows of which nobody knows how many there will be.
type growing struct {
	element dist.Element
	dim     int
	rows    int
	dense   []byte   // the rows, one after the other
	sparse  [][]byte // those of sparse vectors, each of its own size
	bytes   int      // of sparse rows together
}

// add takes a row of a sparse vector, which has a size of its own.
func (g *growing) add(row []byte) {
	g.sparse = append(g.sparse, row)
	g.rows++
	g.bytes += len(row)
}

// next is a zeroed row at the end.
func (g *growing) next() []byte {
	size := g.element.Bytes(g.dim)
	g.dense = append(g.dense, make([]byte, size)...)
	g.rows++
	return g.dense[len(g.dense)-size:]
}

// rowBytes is what one row takes, 0 while nothing is known of any.
func (g *growing) rowBytes() int {
	if g.element == dist.Sparse && g.rows > 0 {
		const header = 24 // of a slice
		return g.bytes/g.rows + header
	}
	if g.dim == 0 {
		return 0
	}
	return g.element.Bytes(g.dim)
}

// drop takes back the last n rows.
func (g *growing) drop(n int) {
	g.rows -= n
	if g.element != dist.Sparse {
		g.dense = g.dense[:g.rows*g.rowBytes()]
		return
	}
	for _, row := range g.sparse[g.rows:] {
		g.bytes -= len(row)
	}
	g.sparse = g.sparse[:g.rows]
}

// release gives everything back.
func (g *growing) release() { *g = growing{element: g.element, dim: g.dim} }

// joined is all rows in one place; nil if there are none. g is empty afterwards.
func (g *growing) joined() (*engine.Vectors, error) {
	defer g.release()
	if g.rows == 0 {
		return nil, nil
	}
	if g.element == dist.Sparse {
		return engine.JoinSparse(g.sparse)
	}
	all, err := engine.NewVectors(g.element, g.dim, g.rows)
	if err != nil {
		return nil, err
	}
	size := g.rowBytes()
	for i := range all.Rows {
		copy(all.Row(i), g.dense[i*size:])
	}
	return all, nil
}
