package source

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// A scan is a list of ranges, and each is one request unless it is large. Some
// are on their way while the oldest is consumed, so that etcd, the network and
// the decoder work at the same time; the keys still come in order.
const (
	// scanWindow is how many ranges are asked for at once.
	scanWindow = 8
	// scanBuffer stops asking for more ranges while so many bytes wait: a bound
	// on memory, not on one answer.
	scanBuffer = 24 << 20
	// pageKeys is the most keys of the first answers; later ones aim at pageBytes.
	// etcd walks the rest of the range for each page, to count it, so pages are
	// large, and those of a range that needs many grow up to pageBytesMax: a million
	// segments in one partition cost etcd 14 s of CPU in pages of 8 MiB, 8 s in 32.
	pageKeys     = 10_000
	pageKeysMin  = 256
	pageKeysMax  = 200_000
	pageBytes    = 8 << 20
	pageBytesMax = 32 << 20
	// pageHaste is the part of a request's timeout that a page may take for the next
	// one to be larger: a slow link gets small pages.
	pageHaste = 8
)

// etcdSnapshot is an etcd at one revision.
type etcdSnapshot struct {
	source *Etcd
	reader *reader
	header Header

	mu     sync.Mutex
	denied []Range
	// perKey is the size of a record in the last page, 0 as long as none was seen.
	perKey atomic.Int64
}

var _ Snapshot = (*etcdSnapshot)(nil)

func (s *etcdSnapshot) Header() Header { return s.header }

// Seekable is true: etcd reads a small range without touching the rest.
func (s *etcdSnapshot) Seekable() bool { return true }

// Close does nothing: etcd keeps no state for a reader.
func (s *etcdSnapshot) Close() error { return nil }

// Gaps lists the ranges that the account may not read.
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

// Scan yields the keys of the ranges in order. A KV is a part of the bytes that
// came from the wire and is gone when yield returns.
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
		// Only now is it known that the account sees a part, or less than before.
		// Nothing is yielded twice: the scan stopped before the range that was denied.
		if err = s.source.askGranted(ctx, s.reader); err == nil {
			err = s.scan(ctx, s.readable(parts[denied.index:]), m, yield)
		}
	}
	return err
}

// outcome is what a caller of Scan hears of an error.
func (s *etcdSnapshot) outcome(ctx context.Context, err error) error {
	if own, ok := errors.AsType[*yieldError](err); ok {
		return own.err
	}
	if err != nil {
		return s.source.explain(ctx, "read", err)
	}
	return nil
}

// errRangeDenied and yieldError keep etcd's errors apart from the caller's.
var errRangeDenied = rpctypes.ErrPermissionDenied

type deniedError struct{ index int }

func (*deniedError) Error() string { return "permission denied" }
func (*deniedError) Unwrap() error { return errRangeDenied }

type yieldError struct{ err error }

func (e *yieldError) Error() string { return e.err.Error() }

// readable cuts the ranges down to those that the account may read, and notes
// the rest as gaps. As long as nothing was denied, that is all of them.
func (s *etcdSnapshot) readable(ranges []Range) []Range {
	granted := s.source.grantedRanges()
	if granted == nil {
		return ranges
	}
	var parts []Range
	for _, r := range ranges {
		parts = append(parts, intersect(r, granted)...)
		for _, missing := range subtract(r, granted) {
			s.deny(subtract(missing, Beside()))
		}
	}
	return parts
}

// fetched is one page or the error that ended a range.
type fetched struct {
	page *page
	err  error
}

// rangeFetch reads one range in a goroutine of its own, page after page.
type rangeFetch struct {
	pages chan fetched
	// turn is closed when the consumer has come to this range: before that only
	// the first page is read ahead.
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
		for len(started) < len(ranges) && (len(started) <= i || len(started) < i+scanWindow && buffered.Load() < scanBuffer) {
			f := &rangeFetch{pages: make(chan fetched, 1), turn: make(chan struct{})}
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

// drain drops what a range has read when the scan ends early.
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

// fetch reads the pages of r into f.pages and closes it.
func (s *etcdSnapshot) fetch(ctx context.Context, r Range, f *rangeFetch, m *meter, buffered *atomic.Int64) {
	defer close(f.pages)
	size := int64(pageBytes)
	for first := true; ; first = false {
		if !first {
			select {
			case <-f.turn:
			case <-ctx.Done():
				f.pages <- fetched{err: ctx.Err()}
				return
			}
		}
		asked := s.source.opts.now()
		p, err := s.reader.rangePage(ctx, rangeRequest{keys: r, limit: s.pageLimit(size), revision: s.header.Revision})
		if err != nil {
			f.pages <- fetched{err: laterDenied(first, err)}
			return
		}
		if err := m.add(p.keys, len(p.raw)); err != nil {
			f.pages <- fetched{err: err}
			return
		}
		buffered.Add(int64(len(p.raw)))
		s.adapt(p)
		if !first && s.source.opts.now().Sub(asked) < s.reader.timeout/pageHaste {
			size = min(2*size, pageBytesMax)
		}
		more, next := p.more, p.lastKey+"\x00"
		f.pages <- fetched{page: p}
		if !more {
			return
		}
		if next <= r.From {
			f.pages <- fetched{err: fmt.Errorf("%s: etcd has more keys but returns none", r)}
			return
		}
		r.From = next
	}
}

// laterDenied makes sure that a right which is withdrawn in the middle of a
// range is an error, and not a reason to read the range again.
func laterDenied(first bool, err error) error {
	if !first && errors.Is(err, errRangeDenied) {
		return errors.New("the right to read was withdrawn while reading")
	}
	return err
}

// pageLimit is how many keys make a page of about so many bytes.
func (s *etcdSnapshot) pageLimit(size int64) int64 {
	if perKey := s.perKey.Load(); perKey > 0 {
		return min(max(size/perKey, pageKeysMin), pageKeysMax)
	}
	return pageKeys
}

// adapt remembers the size of records; a few keys say nothing about that of the rest.
func (s *etcdSnapshot) adapt(p *page) {
	const enough = 64
	if p.keys < enough {
		return
	}
	s.perKey.Store(int64(max(1, len(p.raw)/p.keys)))
}
