package source

import (
	"bytes"
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"kitescope/internal/hints"
)

var _ Past = (*Etcd)(nil)

// Oldest returns the revision at which etcd was compacted. etcd rejects a read of an older revision without
// returning the compaction revision; a watch returns it.
func (s *Etcd) Oldest(ctx context.Context, h Header) (int64, error) {
	r, err := s.connect(ctx)
	if err != nil {
		return 0, err
	}
	_, err = s.reservationAt(ctx, r, h, 1)
	if err == nil {
		return 1, nil // the empty store
	}
	if errors.Is(err, rpctypes.ErrCompacted) {
		var oldest int64
		if oldest, err = r.compactedRevision(ctx, s.probeKey(h)); err == nil {
			return oldest, nil
		}
	}
	return 0, s.explain(ctx, "read the past of", err)
}

// probeKey returns a key that the account may read. It is the timestamp allocator key, because its value is
// useful, unless that key is not permitted.
func (s *Etcd) probeKey(h Header) Range {
	key := singleKey(AllocatorKeys(h.Root)[0])
	if granted := s.grantedRanges(); len(granted) > 0 && len(intersect(key, granted)) == 0 {
		return singleKey(granted[0].From)
	}
	return key
}

// reservation is the result of a small read at a revision: the last timestamp that Milvus reserved, and the
// revision of the reservation. It is zero without a reservation.
type reservation struct {
	reserved time.Time
	written  int64
}

// reservationAt reads one key at a revision. etcd returns an error if it does not have the revision.
func (s *Etcd) reservationAt(ctx context.Context, r *reader, h Header, revision int64) (reservation, error) {
	var g reservation
	p, err := r.rangePage(ctx, rangeRequest{keys: s.probeKey(h), revision: revision})
	if errors.Is(err, rpctypes.ErrPermissionDenied) && s.grantedRanges() == nil {
		if err := s.requestGranted(ctx, r); err != nil {
			return g, err
		}
		return s.reservationAt(ctx, r, h, revision)
	}
	if err != nil {
		return g, err
	}
	return g, p.each(func(kv KV) error {
		g = reservation{reserved: Reservation(kv.Value), written: kv.ModRevision}
		return nil
	})
}

// compactedRevision returns the revision at which etcd was compacted, if it was. A watch from revision 1 ends with this
// revision.
func (r *reader) compactedRevision(ctx context.Context, key Range) (oldest int64, err error) {
	err = r.retry(ctx, func(ctx context.Context) error {
		err := r.watch(ctx, watchRequest{keys: key, from: 1}, func(*watchMessage) error { return nil })
		if gone, ok := errors.AsType[*compactedError](err); ok {
			oldest, err = gone.oldest, nil
		}
		return err
	})
	return oldest, err
}

// compactedError is ErrCompacted with the oldest available revision.
type compactedError struct{ oldest int64 }

func (e *compactedError) Error() string { return ErrCompacted.Error() }
func (e *compactedError) Unwrap() error { return ErrCompacted }

// checkRevision checks that etcd has a revision.
func (s *Etcd) checkRevision(ctx context.Context, r *reader, h Header, revision int64) (g reservation, err error) {
	if revision > 0 { // etcd interprets other values as the current revision
		g, err = s.reservationAt(ctx, r, h, revision)
	}
	switch {
	case revision <= 0, errors.Is(err, rpctypes.ErrCompacted), errors.Is(err, rpctypes.ErrFutureRev):
		return g, s.revisionError(ctx, r, h, revision)
	case err != nil:
		return g, s.explain(ctx, "read the past of", err)
	}
	return g, nil
}

// revisionError returns the error for a revision that etcd does not have, with the available revisions.
func (s *Etcd) revisionError(ctx context.Context, r *reader, h Header, revision int64) error {
	oldest, err := s.Oldest(ctx, h)
	if err != nil {
		return err
	}
	newest, err := s.revision(ctx, r)
	if err != nil {
		return s.explain(ctx, "read the past of", err)
	}
	if err := CheckRevisions(s.address.location(), oldest, newest, revision); err != nil {
		return err
	}
	return hints.Errorf("try again",
		"read %s: revision %d did not exist at first, and then it did", s.address.location(), revision)
}

// PinAt returns the store at a revision that etcd still has. Nothing prevents compaction, so etcd may be
// compacted while the snapshot is read.
func (s *Etcd) PinAt(ctx context.Context, h Header, revision int64) (Snapshot, error) {
	r, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	g, err := s.checkRevision(ctx, r, h, revision)
	if err != nil {
		return nil, err
	}
	h.Revision, h.Taken, h.ByClock, h.Recent = revision, g.reserved, false, nil
	return &etcdSnapshot{source: s, reader: r, header: h}, nil
}

// GetAt requests one key at a revision.
func (s *Etcd) GetAt(ctx context.Context, h Header, revision int64, key string) (found *KV, err error) {
	r, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if revision <= 0 {
		return nil, s.revisionError(ctx, r, h, revision)
	}
	p, err := r.rangePage(ctx, rangeRequest{keys: singleKey(key), revision: revision})
	switch {
	case errors.Is(err, rpctypes.ErrCompacted), errors.Is(err, rpctypes.ErrFutureRev):
		return nil, s.revisionError(ctx, r, h, revision)
	case err != nil:
		return nil, s.explain(ctx, "read the past of", err)
	}
	return found, p.each(func(kv KV) error {
		kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
		found = &kv
		return nil
	})
}

// Changes watches etcd from one revision to another; etcd must have both. It watches the whole store, because
// each revision changes a key, so that the last revision always arrives. An account that may not do so requests
// progress notifications from etcd.
func (s *Etcd) Changes(
	ctx context.Context, h Header, from, to int64, yield func(revision int64, events []Event) error,
) error {
	r, err := s.connect(ctx)
	if err != nil {
		return err
	}
	if _, err := s.checkRevision(ctx, r, h, from); err != nil {
		return err
	}
	last, err := s.checkRevision(ctx, r, h, to)
	if err != nil {
		return err
	}
	if from >= to {
		return CheckRevisions(s.address.location(), 1, from, from, to)
	}
	prefix := []byte(h.Root + "/")
	w := &watch{
		revision: from, bounds: watchBounds{until: to, limit: r.timeout},
		yield: func(revision int64, events []Event) error {
			if below := below(prefix, events); revision <= to && len(below) > 0 {
				return yield(revision, below)
			}
			return nil
		},
	}
	if s.grantedRanges() == nil {
		err = w.follow(ctx, r, []Range{{}})
		if denied(err) {
			err = s.requestGranted(ctx, r)
		}
	}
	if granted := s.grantedRanges(); err == nil && granted != nil {
		parts := intersect(Prefix(h.Root+"/"), granted)
		if len(parts) > 1 { // one part would have to wait for the other
			return hints.Errorf("use an account that may read everything under one prefix",
				"read the past of %s: the account may read only %d parts of it", s.address.location(), len(parts))
		}
		w.bounds.progressInterval, w.bounds.awaited = progressPause, last.written
		err = w.follow(ctx, r, parts)
	}
	switch own, ok := errors.AsType[*yieldError](err); {
	case ok:
		return own.err
	case errors.Is(err, errReached):
		return nil
	case errors.Is(err, ErrCompacted) && ctx.Err() == nil:
		return s.revisionError(ctx, r, h, from)
	}
	return s.explain(ctx, "read the past of", err)
}

// below filters events by a key prefix.
func below(prefix []byte, events []Event) []Event {
	kept := events[:0]
	for _, e := range events {
		if bytes.HasPrefix(e.Key, prefix) {
			kept = append(kept, e)
		}
	}
	return kept
}

// errReached ends a watch that has reached its last revision.
var errReached = errors.New("reached")

// watchBounds holds the end condition of a watch of past revisions.
type watchBounds struct {
	// until is the last requested revision, limit the maximum time without a message.
	until int64
	limit time.Duration
	// progressInterval is the interval of progress requests, or 0 if the watch receives every revision. awaited is a
	// revision that must arrive.
	progressInterval time.Duration
	awaited          int64
	// lastEvent is the time of the last event. responses is the number of progress responses since then that report no
	// further events.
	lastEvent time.Time
	responses int
}

const (
	// progressPause is the interval at which etcd serves watches that are behind (mvcc.watchableStore,
	// syncWatchersLoop).
	progressPause = 100 * time.Millisecond
	// progressResponses is the required number of progress responses. Before 3.5.8 a response could overtake
	// pending events.
	progressResponses = 2
)

// countProgress counts a progress response; next is the next revision of the watch.
func (b *watchBounds) countProgress(revision, next int64) {
	if revision >= b.until && next > b.awaited {
		b.responses++
	}
}

func (b *watchBounds) reached(next int64) bool {
	return b.until > 0 && (next > b.until || b.progressInterval > 0 && b.responses >= progressResponses)
}

// timeout returns a channel that receives when there was no event for too long.
func (b *watchBounds) timeout() <-chan time.Time {
	if b.until == 0 {
		return nil
	}
	return time.After(time.Until(b.lastEvent.Add(b.limit)))
}

func (b *watchBounds) timedOut() bool { return b.until > 0 && time.Since(b.lastEvent) >= b.limit }
