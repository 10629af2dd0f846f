package source

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// A scan is a list of ranges. Each range is one request unless it is large. Several requests are in flight
// while the oldest response is consumed, so that etcd, the network and the decoder work in parallel. The keys
// are yielded in order.
const (
	// scanWindow is the maximum number of ranges in flight.
	scanWindow = 8
	// scanBuffer is the number of buffered bytes above which no further range is requested. It bounds the
	// memory, not a single response.
	scanBuffer = 24 << 20
	// pageKeys is the maximum number of keys in the first responses; later responses target pageBytes. For each
	// page, etcd walks the rest of the range to count it. Therefore pages are large, and grow up to
	// pageBytesMax in a range that needs many: a million segments in one partition cost etcd 14 s of CPU in
	// pages of 8 MiB, and 8 s in pages of 32 MiB.
	pageKeys     = 10_000
	pageKeysMin  = 256
	pageKeysMax  = 200_000
	pageBytes    = 8 << 20
	pageBytesMax = 32 << 20
	// adaptRate limits the growth of pages: a page must take less than 1/adaptRate of the request timeout for
	// the next one to be larger. So pages stay small on a slow link.
	adaptRate = 8
)

// etcdSnapshot is an etcd at one revision.
type etcdSnapshot struct {
	source *Etcd
	reader *reader
	header Header

	mu     sync.Mutex
	denied []Range
	// perKey is the record size in bytes of the last page, or 0 before the first page.
	perKey atomic.Int64
}

var _ Snapshot = (*etcdSnapshot)(nil)

func (s *etcdSnapshot) Header() Header { return s.header }

// Seekable returns true because etcd reads a small range without reading the rest.
func (s *etcdSnapshot) Seekable() bool { return true }

// Close does nothing, because etcd keeps no state for a reader.
func (s *etcdSnapshot) Close() error { return nil }

// Gaps returns the ranges that the account may not read.
func (s *etcdSnapshot) Gaps() []Gap {
	s.mu.Lock()
	defer s.mu.Unlock()
	gaps := make([]Gap, len(s.denied))
	for i, r := range s.denied {
		gaps[i] = Gap{Where: r.String(), Reason: "permission denied", Keys: r}
	}
	return gaps
}

func (s *etcdSnapshot) deny(ranges []Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = mergeRanges(append(s.denied, ranges...))
}

// Scan yields the keys of the ranges in order. A KV is a slice of the received bytes and is invalid after yield
// returns.
func (s *etcdSnapshot) Scan(ctx context.Context, ranges []Range, yield func(KV) error) error {
	m := newMeter(s.source.opts.Limits, s.source.address.location())
	limited, cancel := m.deadline(ctx)
	defer cancel()
	return s.outcome(ctx, m.explain(limited, s.scanParts(limited, s.readable(ranges), m, yield)))
}

// scanParts reads range by range.
func (s *etcdSnapshot) scanParts(ctx context.Context, parts []Range, m *meter, yield func(KV) error) error {
	err := s.scan(ctx, parts, m, yield)
	if denied, ok := errors.AsType[*deniedError](err); ok {
		// Only now is it known that the account may read only a part, or less than before. No key is yielded
		// twice, because the scan stopped before the denied range.
		if err = s.source.requestGranted(ctx, s.reader); err == nil {
			err = s.scan(ctx, s.readable(parts[denied.index:]), m, yield)
		}
	}
	return err
}

// outcome converts an error for the caller of Scan.
func (s *etcdSnapshot) outcome(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*yieldError](err); ok {
		return own.err
	}
	if err != nil {
		return s.source.explain(ctx, "read", err)
	}
	return nil
}

// errRangeDenied and yieldError distinguish errors of etcd from errors of the caller.
var errRangeDenied = rpctypes.ErrPermissionDenied

type deniedError struct{ index int }

func (*deniedError) Error() string { return "permission denied" }
func (*deniedError) Unwrap() error { return errRangeDenied }

type yieldError struct{ err error }

func (e *yieldError) Error() string { return e.err.Error() }

// readable reduces the ranges to the ranges that the account may read, and adds the rest to the gaps. It
// returns all ranges if no restriction is known.
func (s *etcdSnapshot) readable(ranges []Range) []Range {
	granted := s.source.grantedRanges()
	if granted == nil {
		return ranges
	}
	var parts []Range
	for _, r := range ranges {
		parts = append(parts, intersect(r, granted)...)
		for _, missing := range subtract(r, granted) {
			s.deny(subtract(missing, OutsideRoot()))
		}
	}
	return parts
}

// pageResult is one page, or the error that ended a range.
type pageResult struct {
	page *page
	err  error
}

// rangeFetch reads the pages of a range in its own goroutine.
type rangeFetch struct {
	pages chan pageResult
	// turn is closed when the consumer reaches this range. Before that, only the first page is read ahead.
	turn chan struct{}
}

func (s *etcdSnapshot) scan(ctx context.Context, ranges []Range, m *meter, yield func(KV) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var buffered atomic.Int64
	started := make([]*rangeFetch, 0, len(ranges))
	defer func() {
		cancel()
		for _, f := range started {
			f.drain()
		}
		wg.Wait()
	}()
	for i := range ranges {
		for len(started) < len(ranges) &&
			(len(started) <= i || len(started) < i+scanWindow && buffered.Load() < scanBuffer) {
			f := &rangeFetch{pages: make(chan pageResult, 1), turn: make(chan struct{})}
			r := ranges[len(started)]
			started = append(started, f)
			wg.Go(func() { s.fetch(ctx, r, f, m, &buffered) })
		}
		close(started[i].turn)
		if err := consume(started[i], &buffered, yield); err != nil {
			if errors.Is(err, errRangeDenied) {
				return &deniedError{index: i}
			}
			return err
		}
		started[i] = nil
	}
	return nil
}

// drain discards the pages of a range when the scan ends early.
func (f *rangeFetch) drain() {
	if f == nil {
		return
	}
	for range f.pages {
	}
}

func consume(f *rangeFetch, buffered *atomic.Int64, yield func(KV) error) error {
	for got := range f.pages {
		if got.err != nil {
			return got.err
		}
		err := got.page.each(func(kv KV) error {
			if err := yield(kv); err != nil {
				return &yieldError{err}
			}
			return nil
		})
		buffered.Add(-int64(len(got.page.raw)))
		if err != nil {
			return err
		}
	}
	return nil
}

// fetch sends the pages of r to f.pages and closes it.
func (s *etcdSnapshot) fetch(ctx context.Context, r Range, f *rangeFetch, m *meter, buffered *atomic.Int64) {
	defer close(f.pages)
	size := int64(pageBytes)
	for first := true; ; first = false {
		if !first {
			select {
			case <-f.turn:
			case <-ctx.Done():
				f.pages <- pageResult{err: ctx.Err()}
				return
			}
		}
		asked := s.source.opts.now()
		p, err := s.reader.rangePage(ctx, rangeRequest{keys: r, limit: s.pageLimit(size), revision: s.header.Revision})
		if err != nil {
			f.pages <- pageResult{err: laterDenied(first, err)}
			return
		}
		if err := m.add(p.keys, len(p.raw)); err != nil {
			f.pages <- pageResult{err: err}
			return
		}
		buffered.Add(int64(len(p.raw)))
		s.adapt(p)
		if !first && s.source.opts.now().Sub(asked) < s.reader.timeout/adaptRate {
			size = min(2*size, pageBytesMax)
		}
		more, next := p.more, p.lastKey+"\x00"
		f.pages <- pageResult{page: p}
		if !more {
			return
		}
		if next <= r.From {
			f.pages <- pageResult{err: fmt.Errorf("%s: etcd has more keys but returns none", r)}
			return
		}
		r.From = next
	}
}

// laterDenied replaces a denial after the first page with another error, so that the range is not read again.
func laterDenied(first bool, err error) error {
	if !first && errors.Is(err, errRangeDenied) {
		return errors.New("the permission to read was revoked while reading")
	}
	return err
}

// pageLimit returns the number of keys in a page of about size bytes.
func (s *etcdSnapshot) pageLimit(size int64) int64 {
	if perKey := s.perKey.Load(); perKey > 0 {
		return min(max(size/perKey, pageKeysMin), pageKeysMax)
	}
	return pageKeys
}

// adapt stores the record size of a page, unless the page has too few keys to be representative.
func (s *etcdSnapshot) adapt(p *page) {
	const enough = 64
	if p.keys < enough {
		return
	}
	s.perKey.Store(int64(max(1, len(p.raw)/p.keys)))
}
