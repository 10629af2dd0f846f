package log

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"kitescope/engine"
	"kitescope/engine/dataset"
	"kitescope/engine/dist"
	"kitescope/internal/hints"
)

// openVectors reads a vector file. Each vector, or each Batch of vectors, is a request.
func openVectors(ctx context.Context, f *os.File, size int64, k kind, path string, o Options) (*Log, error) {
	head := make([]byte, 4)
	n, _ := f.ReadAt(head, 0)
	var set *dataset.Set
	var err error
	if k == kindParquet {
		set, err = openParquet(ctx, path, o.Column)
	} else {
		set, err = dataset.OpenAs(ctx, path, formatOf(k, path, size, head[:n]), "")
	}
	if err != nil {
		return nil, err
	}
	l := &Log{Format: string(set.Format), free: set.Close}
	err = l.fromSet(ctx, set, o)
	if err != nil {
		l.Close()
		return nil, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, &countingReader{r: f, ctx: ctx}); err != nil {
		l.Close()
		return nil, withoutPath(err)
	}
	l.Digest = hex.EncodeToString(sum.Sum(nil))
	return l, nil
}

// fromSet creates requests from the vectors of a file.
func (l *Log) fromSet(ctx context.Context, set *dataset.Set, o Options) error {
	v := set.Vectors
	if v == nil {
		return hints.Errorf("rows of ids are true neighbours (the truth of a log), not vectors",
			"expected vectors, found %d rows of whole numbers", len(set.IDs))
	}
	if o.Dim > 0 && v.Dim != o.Dim {
		return fmt.Errorf("expected vectors of %d dimensions, found %d", o.Dim, v.Dim)
	}
	if o.Skip > v.Rows || o.Skip == v.Rows && v.Rows > 0 {
		return fmt.Errorf("%d vectors to skip, but only %d in the file", o.Skip, v.Rows)
	}
	batch := max(o.Batch, 1)
	end := v.Rows
	if o.Limit > 0 && o.Limit <= (v.Rows-o.Skip)/batch {
		end = o.Skip + o.Limit*batch
	}
	v, err := v.Slice(o.Skip, end)
	if err != nil {
		return err
	}
	if v, err = l.convertElement(v, o); err != nil {
		return err
	}
	l.Vectors, l.skipped = v, o.Skip
	if set.Rounded > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("%d float64 values do not fit float32: rounded", set.Rounded))
	}
	return l.batches(ctx, batch, o.Strict)
}

// convertElement converts vectors to the requested element type.
func (l *Log) convertElement(v *engine.Vectors, o Options) (*engine.Vectors, error) {
	if o.Element == nil || *o.Element == v.Element {
		return v, nil
	}
	out, rounded, err := convert(v, *o.Element)
	if err != nil {
		return nil, err
	}
	free := l.free
	free()
	l.free = out.Release
	l.Notes = append(l.Notes,
		fmt.Sprintf("float32 vectors converted to %s: %d of %d values rounded", elementName(out.Element), rounded,
			out.Rows*out.Dim))
	return out, nil
}

// batches groups consecutive vectors into requests. A vector that is not finite is skipped and ends its group.
func (l *Log) batches(ctx context.Context, batch int, strict bool) error {
	v := l.Vectors
	var t tally
	l.Requests = make([]Request, 0, (v.Rows+batch-1)/batch)
	first := 0
	flush := func(end int) {
		if end > first {
			l.Requests = append(l.Requests, Request{First: first, NQ: end - first})
		}
		first = end
	}
	for i := range v.Rows {
		if i%(64*checkEvery) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !finite(v.Row(i), v.Element) {
			if strict {
				return fmt.Errorf("vector %d: %w", l.skipped+i, errNonFinite)
			}
			t.add("vectors with a value that is not a finite number, skipped", fmt.Sprintf("vector %d", l.skipped+i))
			flush(i)
			first = i + 1
			continue
		}
		if i+1-first == batch {
			flush(i + 1)
		}
	}
	flush(v.Rows)
	l.Notes = append(l.Notes, t.notes()...)
	if len(l.Requests) == 0 {
		return fmt.Errorf("no vector of %d can be searched for", v.Rows)
	}
	if v.Element == dist.Bit {
		l.Notes = append(l.Notes, fmt.Sprintf("reading bytes as bits, eight dimensions each: %d dimensions", v.Dim))
	}
	return nil
}

// TruthFrom returns the log with the true nearest keys of each vector, read from a .ivecs or .npy file of
// integers. The number of rows must match the vectors. For a vector file that was read in part, the rows of the
// same part are used.
func (l *Log) TruthFrom(ctx context.Context, path string) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, withoutPath(err))
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	_ = f.Close()
	format := dataset.Ivecs
	if k := sniff(head[:n]); k == kindNPY || k == kindParquet || k == kindHDF5 {
		format = formatOf(k, path, 0, nil)
	}
	set, err := dataset.OpenAs(ctx, path, format, "")
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer set.Close()
	if set.IDs == nil {
		return nil, fmt.Errorf("read %s: expected rows of ids, found vectors", path)
	}
	rows := 0
	if l.Vectors != nil {
		rows = l.Vectors.Rows
	}
	ids := set.IDs
	if len(ids) != rows {
		if l.Format == "jsonl" || l.Format == "sample" || l.skipped+rows > len(ids) {
			return nil, fmt.Errorf("read %s: expected the truth of %d vectors, found %d", path, rows, len(ids))
		}
		ids = ids[l.skipped : l.skipped+rows]
	}
	out := *l
	out.free = nil
	out.Truth = make([][]engine.Key, rows)
	for i, row := range ids {
		out.Truth[i] = make([]engine.Key, len(row))
		for j, id := range row {
			out.Truth[i][j] = engine.NumberKey(id)
		}
	}
	out.Notes = append(append([]string(nil), l.Notes...), "truth taken from "+path)
	return &out, nil
}
