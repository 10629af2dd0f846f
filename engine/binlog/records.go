package binlog

import (
	"context"

	"kitescope/engine"
	"kitescope/engine/parquet"
)

// Place is asked, for each blob of an index before all of it is decoded, where its records go. The blob has its whole length, and as
// much of its beginning as was decoded by then: a page, or some kilobytes. nil leaves all in the blob.
type Place func(name string, blob []byte) *Records

// Records are a stretch of a blob that is taken apart while it is decoded, and never stands in the blob: where it would be there are
// zeros, which take no memory. So much larger than what is left is it that each byte is written once, to where it stays.
type Records struct {
	At    int     // of the first, in the blob
	Size  int     // of each
	Count int     // all lie within the blob
	Parts []Field // of a record, one behind the other, all of it
	// Free gives back what Parts go to; Index.Release calls it.
	Free func()
}

// Field is a part of all records.
type Field struct {
	Bytes  int    // of a record
	To     []byte // where those of the first record go
	Stride int    // from there to those of the next
}

// span is where bytes of a blob go from at on, as many as lie together, n at the most.
func (r *Records) span(blob []byte, at, n int) []byte {
	if r == nil || at >= r.At+r.Size*r.Count {
		return blob[at : at+n]
	}
	if at < r.At {
		return blob[at:min(at+n, r.At)]
	}
	record := (at - r.At) / r.Size
	in := at - r.At - record*r.Size
	for i := range r.Parts {
		p := &r.Parts[i]
		if in < p.Bytes {
			from := record*p.Stride + in
			return p.To[from : from+min(n, p.Bytes-in)]
		}
		in -= p.Bytes
	}
	panic("binlog: the parts of a record are not all of it") // a fault of who placed it
}

// touch touches the memory of the records that lie wholly between two bytes of the blob: what of others is put is not known here.
func (r *Records) touch(from, to int) {
	if r == nil || to <= r.At {
		return
	}
	first, end := (max(from-r.At, 0)+r.Size-1)/r.Size, min((to-r.At)/r.Size, r.Count)
	for i := range r.Parts {
		if p := &r.Parts[i]; first < end {
			engine.Touch(p.To[first*p.Stride : (end-1)*p.Stride+p.Bytes])
		}
	}
}

// headBytes is how much of a file that holds bytes as they are Place gets to see.
const headBytes = 4096

// head decodes the beginning of what the file holds: its first page.
func (e *envelope) head(ctx context.Context, blob []byte, use *scratch) error {
	if e.file == nil {
		return readAll(ctx, e.r, blob[:min(headBytes, e.size)], e.at)
	}
	if len(e.file.Groups) == 0 {
		return nil
	}
	c, w := &column{file: e.file, leaf: e.file.Leaves[0], sink: &octets{rows: blob}}, use.workers[0]
	s := c.scan(ctx, e.file.Groups[0].Chunks[0], 0, int(e.file.Groups[0].Rows))
	if !s.next(w) {
		return s.err
	}
	return c.decode(w.pages[0], w)
}

// copyIn reads what the file holds as it is to where it goes from first on.
func (e *envelope) copyIn(ctx context.Context, to *octets, first int) error {
	if to.records == nil {
		return readAll(ctx, e.r, to.rows[first:first+int(e.size)], e.at)
	}
	buffer := make([]byte, min(e.size, 1<<20))
	for at := int64(0); at < e.size; at += int64(len(buffer)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buffer[:min(int64(len(buffer)), e.size-at)]
		if err := parquet.ReadAt(e.r, b, e.at+at); err != nil {
			return err
		}
		to.put(b, first+int(at))
	}
	return nil
}
