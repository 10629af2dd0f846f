package replay

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"kitescope/engine"
	"kitescope/engine/expr"
	"kitescope/engine/object"
	"kitescope/replay/load"
	"kitescope/replay/log"
)

// filters are the expressions of a log, and the columns that they need.
type filters struct {
	plans   map[string]*expr.Plan
	columns map[*Part]*expr.Columns
}

// FilterError is an expression of a log that cannot be evaluated. Cause is an *expr.Error where its text is at fault.
type FilterError struct {
	Request int
	Cause   error
}

func (e *FilterError) Error() string { return fmt.Sprintf("request %d: %v", e.Request, e.Cause) }
func (e *FilterError) Unwrap() error { return e.Cause }

// ReadFilters makes plans of the expressions in a log, and reads the columns of the segments that they need: nothing where there are none.
// It is called before targets are made of what was loaded. The error is ctx's, a *FilterError, a *MemoryError or names a segment.
func (l *Loaded) ReadFilters(ctx context.Context, store object.Store, queries *log.Log, o LoadOptions) error {
	f := &filters{plans: map[string]*expr.Plan{}, columns: map[*Part]*expr.Columns{}}
	var fields []int64
	for i := range queries.Requests {
		q := &queries.Requests[i]
		if q.Filter == nil || q.Filter.Expr == "" || f.plans[q.Filter.Expr] != nil {
			continue
		}
		p, err := expr.Parse(q.Filter.Expr, &l.Layout.Collection.Filter)
		if err != nil {
			return &FilterError{Request: i, Cause: err}
		}
		f.plans[q.Filter.Expr] = p
		fields = append(fields, p.Fields()...)
	}
	if len(f.plans) == 0 {
		return nil
	}
	slices.Sort(fields)
	if err := f.read(ctx, store, l, slices.Compact(fields), o); err != nil {
		return err
	}
	l.filters = f
	return nil
}

// read reads the columns of all parts, several at once.
func (f *filters) read(ctx context.Context, store object.Store, l *Loaded, fields []int64, o LoadOptions) error {
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	memory := l.Coverage.Memory
	var next atomic.Int64
	var mu sync.Mutex
	var failed error
	var readers sync.WaitGroup
	for range min(threads, len(l.Parts)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(l.Parts); i = int(next.Add(1)) - 1 {
				p := l.Parts[i]
				c, err := p.Data.Scalars(ctx, store, p.Info.Files, l.Layout.Collection.Schema, fields)
				mu.Lock()
				if err == nil {
					f.columns[p] = c
					memory += columnBytes(c)
					if o.MemoryLimit > 0 && memory > o.MemoryLimit {
						err = &MemoryError{Need: memory, Limit: o.MemoryLimit, Read: i + 1, Segments: len(l.Parts)}
					}
				}
				if failed == nil {
					failed = err
				}
				stop := failed != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	readers.Wait()
	if failed != nil {
		return fmt.Errorf("read the fields that filters need: %w", failed)
	}
	return nil
}

// columnBytes is what columns take in memory.
func columnBytes(c *expr.Columns) (n int64) {
	for _, x := range c.Fields {
		n += 8 * int64(len(x.Int64s)+len(x.Floats))
		for _, s := range x.Strings {
			n += 16 + int64(len(s))
		}
	}
	return n
}

// left makes left, which has as many rows as the part, those that a request leaves out.
func (l *Loaded) left(p *Part, r *load.Request, left *engine.Bitset) error {
	if r.Expr == "" {
		p.Lookup().Filter(r.Keys, r.Exclude, left)
		return nil
	}
	if l.filters == nil || l.filters.plans[r.Expr] == nil || l.filters.columns[p] == nil {
		return fmt.Errorf("filter %q: the fields of segment %d were not read", r.Expr, p.Data.ID)
	}
	found, err := l.filters.plans[r.Expr].Left(l.filters.columns[p])
	if err != nil {
		return fmt.Errorf("segment %d: %w", p.Data.ID, err)
	}
	left.Assign(found.Mask())
	return nil
}

// filtered reports whether a request leaves rows out.
func filtered(r *load.Request) bool { return r.Keys != nil || r.Expr != "" }
