package binlog

import (
	"context"

	"kitescope/engine"
	"kitescope/engine/parquet"
)

// Place returns the destination of the records of a blob. It is called for each blob of an index before the blob is
// decoded. blob has its full length, but only its beginning is decoded: a page, or some kilobytes. If Place returns
// nil, all records stay in the blob.
type Place func(name string, blob []byte) *Records

// Records describes a range of a blob whose records are split while they are decoded. The range itself stays zero
// in the blob and takes no memory. The records are most of the blob, so almost every byte is written only once.
type Records struct {
	At    int     // offset of the first record in the blob
	Size  int     // of each record
	Count int     // all records are within the blob
	Parts []Field // consecutive parts that cover a record
	// Free releases the memory of Parts. Index.Release calls it.
	Free func()
}

// Field is the same part of all records.
type Field struct {
	Bytes  int    // per record
	To     []byte // destination of the first record's part
	Stride int    // distance in bytes between the parts of consecutive records
}

// span returns the memory for the bytes of a blob from at on. It returns at most n bytes, fewer if they are not
// contiguous.
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
	panic("binlog: the parts of a record do not cover it") // a bug in Place
}

// touch faults in the memory of the records that are completely within the bytes [from, to) of the blob. Other
// records may already be partly written.
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

// headBytes is the number of bytes that Place sees of a file that stores raw bytes.
const headBytes = 4096

// head decodes the beginning of the content: its first page, or the first headBytes raw bytes.
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

// copyIn reads raw content into to, starting at position first.
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
