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

// FilterError is a filter expression of a log that cannot be evaluated. Cause is an *expr.Error if the text is
// invalid.
type FilterError struct {
	Request int
	Cause   error
}

func (e *FilterError) Error() string { return fmt.Sprintf("request %d: %v", e.Request, e.Cause) }
func (e *FilterError) Unwrap() error { return e.Cause }

// ReadFilters parses the filter expressions of a log, and reads the columns that they need from all segments,
// within the memory limit of the load. It does nothing if there are no expressions. threads is the number of
// segments to read at once, 0 for one per CPU. It must be called before targets are made. It returns ctx's error, a
// *FilterError, a *MemoryError or an error that names a segment.
func (l *Loaded) ReadFilters(ctx context.Context, store object.Store, queries *log.Log, threads int) error {
	plans := map[string]*expr.Plan{}
	var fields []int64
	for i := range queries.Requests {
		q := &queries.Requests[i]
		if q.Filter == nil || q.Filter.Expr == "" || plans[q.Filter.Expr] != nil {
			continue
		}
		p, err := expr.Parse(q.Filter.Expr, &l.Layout.Collection.Filter)
		if err != nil {
			return &FilterError{Request: i, Cause: err}
		}
		plans[q.Filter.Expr] = p
		fields = append(fields, p.Fields()...)
	}
	if len(plans) == 0 {
		return nil
	}
	slices.Sort(fields)
	if err := l.readScalars(ctx, store, slices.Compact(fields), threads); err != nil {
		return fmt.Errorf("read the fields that filters need: %w", err)
	}
	l.plans = plans
	return nil
}

// readScalars reads columns of all parts, several at once. The first error stops all readers.
func (l *Loaded) readScalars(ctx context.Context, store object.Store, fields []int64, threads int) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next, read atomic.Int64
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
					p.scalars = c
					l.Coverage.Memory += columnBytes(c)
					if n := int(read.Add(1)); l.limit > 0 && l.Coverage.Memory > l.limit {
						err = &MemoryError{Need: l.Coverage.Memory, Limit: l.limit, Read: n, Segments: len(l.Parts)}
					}
				}
				if failed == nil && err != nil {
					failed = err
					cancel()
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
	return failed
}

// columnBytes returns the memory of columns in bytes.
func columnBytes(c *expr.Columns) (n int64) {
	for _, x := range c.Fields {
		n += 8 * int64(len(x.Int64s)+len(x.Floats))
		for _, s := range x.Strings {
			n += 16 + int64(len(s))
		}
	}
	return n
}

// Filter sets left to the rows that a request filters out. left must have as many bits as the part has rows.
func (l *Loaded) Filter(p *Part, r *load.Request, left *engine.Bitset) error {
	if r.Expr == "" {
		p.Lookup().Filter(r.Keys, r.Exclude, left)
		return nil
	}
	if l.plans[r.Expr] == nil || p.scalars == nil {
		return fmt.Errorf("filter %q: the fields of segment %d were not read", r.Expr, p.Data.ID)
	}
	if err := l.plans[r.Expr].ExcludeInto(p.scalars, left); err != nil {
		return fmt.Errorf("segment %d: %w", p.Data.ID, err)
	}
	return nil
}

// Filtered reports whether a request has a filter.
func Filtered(r *load.Request) bool { return r.Keys != nil || r.Expr != "" }

// restrict copies a filter of the log to a request; f may be nil.
func restrict(r *load.Request, f *log.Filter) {
	if f == nil {
		return
	}
	r.Keys, r.Exclude = f.Keys, f.Exclude
	if r.Expr = f.Expr; r.Keys == nil && r.Expr == "" {
		r.Keys = []engine.Key{} // an empty list matches no row; nil would be no filter
	}
}
