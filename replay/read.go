package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/engine/binlog"
	"kitescope/engine/dist"
	"kitescope/engine/object"
	"kitescope/engine/segment"
)

// LoadOptions are the options of Load.
type LoadOptions struct {
	Threads int // number of segments that are read at once; 0: one per CPU
	// Progress is called after each segment, never concurrently; it may be nil.
	Progress func(LoadProgress)
	// MemoryLimit is the maximum memory of the segments in bytes; 0: no limit.
	MemoryLimit int64
	// Deletes holds deletes from another source, e.g. deletes that a cluster has not flushed yet.
	Deletes *binlog.Deltas
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// MemoryError reports that a collection exceeds the memory limit. If Read is 0, Need is an estimate made before
// reading. Otherwise Need is the memory of the Read segments that were loaded so far. Both are in bytes.
type MemoryError struct {
	Need, Limit    int64
	Read, Segments int
}

func (e *MemoryError) Error() string {
	if e.Read > 0 {
		return fmt.Sprintf("%d of %d segments take %.1f MiB, the limit is %.1f MiB", e.Read, e.Segments, mebi(e.Need),
			mebi(e.Limit))
	}
	return fmt.Sprintf("the segments would take about %.1f MiB, the limit is %.1f MiB", mebi(e.Need), mebi(e.Limit))
}

func mebi(n int64) float64 { return float64(n) / (1 << 20) }

// Load reads the segments of l. It skips segments that it cannot read and lists them in Coverage.Missing with their
// rows: files that are missing or damaged, vectors of another dimension, growing segments without data in storage.
// Load returns an error if ctx ends, if the memory limit is exceeded (*MemoryError), if deletes cannot be read
// (answers would contain deleted rows), or if no segment could be read.
func Load(ctx context.Context, store object.Store, l *Layout, o LoadOptions) (*Loaded, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if need := l.estimate(); o.MemoryLimit > 0 && need > o.MemoryLimit {
		return nil,
			fmt.Errorf("load collection %s: %w", l.Collection.Name, &MemoryError{
				Need: need, Limit: o.MemoryLimit, Segments: len(l.Segments),
			})
	}
	x := &loading{
		layout: l, options: o, store: &countingStore{Store: store}, began: o.Now(),
		parts: make([]*Part, len(l.Segments)), missing: make([][]Missing, len(l.Segments)),
	}
	if err := x.readDeletes(ctx); err != nil {
		return nil, fmt.Errorf("load collection %s: %w", l.Collection.Name, err)
	}
	x.readAll(ctx)
	loaded := x.done()
	err := x.stopped
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && len(loaded.Parts) == 0 && len(l.Segments) > 0 {
		err = fmt.Errorf("no segment of %d could be read; segment %d: %s", len(l.Segments),
			loaded.Coverage.Missing[0].Segment, loaded.Coverage.Missing[0].Reason)
	}
	if err != nil {
		loaded.Release()
		return nil, fmt.Errorf("load collection %s: %w", l.Collection.Name, err)
	}
	return loaded, nil
}

// loading is the state of Load.
type loading struct {
	layout  *Layout
	options LoadOptions
	store   *countingStore
	began   time.Time
	l0      []*segment.Deletes // in the order of Layout.L0
	given   *segment.Deletes   // LoadOptions.Deletes

	parts   []*Part
	missing [][]Missing // by segment

	mu       sync.Mutex // guards the fields below
	progress LoadProgress
	memory   int64
	stopped  error
}

// countingStore is a store that counts the bytes read.
type countingStore struct {
	object.Store
	bytes atomic.Int64
}

type countingReader struct {
	object.Reader
	bytes *atomic.Int64
}

func (c *countingStore) Open(ctx context.Context, name string) (object.Reader, error) {
	r, err := c.Store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &countingReader{r, &c.bytes}, nil
}

func (r *countingReader) ReadAt(b []byte, at int64) (int, error) {
	n, err := r.Reader.ReadAt(b, at)
	r.bytes.Add(int64(n))
	return n, err
}

// readDeletes reads the logs of L0 segments, once for all segments.
func (x *loading) readDeletes(ctx context.Context) error {
	x.given = segment.NewDeletes(x.options.Deletes)
	x.l0 = make([]*segment.Deletes, len(x.layout.L0))
	for i, d := range x.layout.L0 {
		read, err := binlog.ReadDeltas(ctx, x.store, d.Files)
		if err != nil {
			return fmt.Errorf("read deletes of L0 segment %d: %w", d.Segment, err)
		}
		x.l0[i] = segment.NewDeletes(read)
	}
	return nil
}

// deletes returns the deletes that apply to a segment: LoadOptions.Deletes, and the L0 deletes of its channel for
// its partition or for all partitions (common.AllPartitionsID is -1).
func (x *loading) deletes(s *Segment) []*segment.Deletes {
	list := []*segment.Deletes{x.given}
	for i, d := range x.layout.L0 {
		if d.Channel == s.Channel && (d.Partition <= 0 || d.Partition == s.Partition) {
			list = append(list, x.l0[i])
		}
	}
	return list
}

func (x *loading) readAll(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	threads := x.options.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(threads, len(x.parts)) {
		readers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(x.parts) {
					return
				}
				x.parts[i], x.missing[i] = x.read(ctx, &x.layout.Segments[i])
				if x.count(x.parts[i]) != nil {
					cancel()
				}
			}
		})
	}
	readers.Wait()
}

// count adds a part to the totals. It returns an error if the memory limit is exceeded.
func (x *loading) count(p *Part) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.progress.Done++
	if p == nil {
		x.progress.Missing++
	} else {
		x.progress.Rows += int64(p.Data.Rows)
		x.memory += p.memory()
	}
	if limit := x.options.MemoryLimit; limit > 0 && x.memory > limit && x.stopped == nil {
		x.stopped = &MemoryError{
			Need: x.memory, Limit: limit, Read: x.progress.Done - x.progress.Missing, Segments: len(x.parts),
		}
	}
	if x.options.Progress != nil {
		x.progress.Total, x.progress.Bytes = len(x.parts), x.store.bytes.Load()
		x.options.Progress(x.progress)
	}
	return x.stopped
}

// read reads one segment and returns the data that is missing.
func (x *loading) read(ctx context.Context, s *Segment) (*Part, []Missing) {
	out := func(reason string) []Missing {
		return []Missing{{Segment: s.ID, State: s.State, Rows: s.Rows, Of: s.Rows, Reason: reason}}
	}
	switch {
	case s.Files == nil && s.State == Growing:
		return nil, out("growing, nothing in storage yet")
	case !s.Files.HasLogs():
		return nil, out("no insert logs in the metadata")
	}
	g, err := segment.Open(ctx, x.store, s.Files, x.layout.Collection.Schema, x.deletes(s)...)
	if err != nil {
		return nil, out(reasonOf(err, s.ID))
	}
	c := &x.layout.Collection
	if c.Dim > 0 && (g.Vectors.Dim != c.Dim || g.Vectors.Element != c.Element) {
		defer g.Release()
		return nil,
			out(fmt.Sprintf("vectors of %d dimensions of %s, the collection has %d of %s", g.Vectors.Dim,
				g.Vectors.Element, c.Dim, c.Element))
	}
	g.ShareVectors()
	p := &Part{Info: s, State: s.State, Data: g}
	return p, p.missing()
}

// reasonOf returns an error's text without the segment, which Missing has already.
func reasonOf(err error, id int64) string {
	if inner := errors.Unwrap(err); inner != nil && err.Error() == fmt.Sprintf("read segment %d: %s", id, inner) {
		return inner.Error()
	}
	return err.Error()
}

// missing returns the data that a loaded part is missing. It sets State to Unindexed if there is no index.
func (p *Part) missing() (list []Missing) {
	say := func(rows int64, reason string) {
		list = append(list, Missing{
			Segment: p.Info.ID, State: p.Info.State, Rows: rows, Of: max(p.Info.Rows, int64(p.Data.Rows)),
			Reason: reason,
		})
	}
	switch rows, want := int64(p.Data.Rows), p.Info.Rows; {
	case want > rows:
		say(want-rows, fmt.Sprintf("%d of %d rows are in storage", rows, want))
	case want < 0 && p.Info.State == Growing:
		say(-1, fmt.Sprintf("%d rows are in storage; the total is unknown", rows))
	}
	if p.State == Indexed && p.Data.Index == nil {
		p.State = Unindexed
		reason := "searched row by row: no index files in the metadata"
		if p.Data.IndexErr != nil {
			reason = "searched row by row: " + p.Data.IndexErr.Error()
		}
		say(0, reason)
	}
	return list
}

// done returns the loaded segments.
func (x *loading) done() *Loaded {
	l := &Loaded{Layout: x.layout, limit: x.options.MemoryLimit}
	c := &l.Coverage
	c.Segments = len(x.parts)
	for i, p := range x.parts {
		c.Missing = append(c.Missing, x.missing[i]...)
		if rows := x.layout.Segments[i].Rows; rows >= 0 {
			c.Rows += rows
		} else {
			c.RowsUnknown++
		}
		if p != nil {
			l.Parts = append(l.Parts, p)
			c.Loaded++
			c.Covered += int64(p.Data.Rows)
			c.Deleted += int64(p.Data.Deleted.Count())
		}
	}
	c.Bytes, c.Memory, c.Took = x.store.bytes.Load(), x.memory, x.options.Now().Sub(x.began)
	return l
}

// sparseBytes is the assumed size in bytes of a sparse vector of unknown size: 120 values, typical of learned text
// embeddings.
const sparseBytes = 960

// estimate returns the memory in bytes that the segments will take, as far as their rows are known: vectors and the
// links of graphs.
func (l *Layout) estimate() (n int64) {
	c := &l.Collection
	vector := int64(c.Element.Bytes(c.Dim))
	if c.Element == dist.Sparse {
		vector = sparseBytes
	}
	row := vector + 16 // key, timestamp
	for i := range l.Segments {
		s := &l.Segments[i]
		if s.Rows <= 0 || s.Files == nil {
			continue
		}
		perRow := row
		switch {
		case s.State != Indexed:
		case s.Index.Type == "HNSW":
			perRow += int64(2*s.Index.M)*4 + 8
		case strings.HasPrefix(s.Index.Type, "HNSW_"):
			perRow += int64(2*s.Index.M)*4 + 8 + vector // codes and at most the vectors that refine them
		case s.Index.Type == "IVF_SQ8":
			perRow += int64(c.Dim) // codes
		default:
			perRow += vector // a copy of the rows
		}
		if perRow > 0 && s.Rows > (1<<62-n)/perRow {
			return 1 << 62
		}
		n += s.Rows * perRow
	}
	return n
}
