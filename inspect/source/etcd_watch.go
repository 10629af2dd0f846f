package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"kitescope/internal/hints"
)

// watchPause is the pause before a failed watch is restarted.
const watchPause = time.Second

// Watch follows the keys below the root in header. It yields events in revision order, without duplicates or
// losses. A watch that fails or is ended by the server (no leader) continues after the last yielded event.
// The events of a revision may come in several calls if there are very many. The same applies if the role may
// read only part of the root, because each permitted range is then followed separately.
func (s *Etcd) Watch(ctx context.Context, header Header, yield func(revision int64, events []Event) error) error {
	r, err := s.connect(ctx)
	if err != nil {
		return err
	}
	ranges := []Range{Prefix(header.Root + "/")}
	if granted := s.grantedRanges(); granted != nil {
		ranges = intersect(ranges[0], granted)
	}
	w := &watch{revision: header.Revision, yield: yield}
	err = w.follow(ctx, r, ranges)
	if denied(err) && s.grantedRanges() == nil {
		if err = s.requestGranted(ctx, r); err == nil {
			err = w.follow(ctx, r, intersect(ranges[0], s.grantedRanges()))
		}
	}
	var own *yieldError
	switch {
	case errors.As(err, &own):
		return own.err
	case errors.Is(err, ErrCompacted) && ctx.Err() == nil:
		return hints.Attach(fmt.Errorf("watch %s: %w", s.address.location(), err), "read the cluster again")
	}
	return s.explain(ctx, "watch", err)
}

// denied reports whether etcd refused a watch. etcd cancels a watch with the text of its error, wrapped in an
// error with another code (server/etcdserver/api/v3rpc/watch.go).
func denied(err error) bool {
	return errors.Is(err, rpctypes.ErrPermissionDenied) ||
		err != nil && strings.Contains(err.Error(), rpctypes.ErrPermissionDenied.Error())
}

// watch is the state of a call of Watch.
type watch struct {
	// revision is the highest yielded revision.
	revision int64
	yield    func(int64, []Event) error
	// bounds ends a watch of past revisions. If it is zero, the watch does not end.
	bounds watchBounds
}

// watchPlace is the position of a watch in its range.
type watchPlace struct {
	// next is the revision at which to continue. Its first yielded events were already yielded, because a revision
	// with more than maxBuffered bytes is yielded in parts.
	next    int64
	yielded int
}

// maxBuffered bounds the bytes that are buffered until a revision is complete.
const maxBuffered = 64 << 20

// rangeResult is a message or an error from the watch of a range.
type rangeResult struct {
	index   int
	message *watchMessage
	err     error
}

// follow watches the ranges until a permanent error.
func (w *watch) follow(ctx context.Context, r *reader, ranges []Range) error {
	if len(ranges) == 0 {
		return rpctypes.ErrPermissionDenied
	}
	places := make([]watchPlace, len(ranges))
	for i := range places {
		places[i].next = w.revision + 1
	}
	w.bounds.lastEvent = time.Now()
	for {
		err := w.session(ctx, r, ranges, places)
		if !transient(err) || ctx.Err() != nil || w.bounds.timedOut() {
			return err
		}
		if err := pause(ctx, watchPause); err != nil {
			return err
		}
	}
}

func transient(err error) bool {
	return errors.Is(err, errWatchEnded) || errors.Is(err, rpctypes.ErrNoLeader) || worthRetry(err)
}

var errWatchEnded = errors.New("watch ended")

// session runs watches until the first failure.
func (w *watch) session(ctx context.Context, r *reader, ranges []Range, places []watchPlace) error {
	ctx, cancel := context.WithCancel(ctx)
	var receiving sync.WaitGroup
	defer receiving.Wait()
	defer cancel()
	answers := make(chan rangeResult)
	for i, keys := range ranges {
		receiving.Go(func() {
			err := r.watch(ctx,
				watchRequest{keys: keys, from: places[i].next, progressInterval: w.bounds.progressInterval},
				func(m *watchMessage) error {
					return send(ctx, answers, rangeResult{index: i, message: m})
				})
			_ = send(ctx, answers, rangeResult{index: i, err: err}) // the receiver may be gone
		})
	}
	parts := make([]part, len(ranges))
	for i := range parts {
		parts[i].skip = places[i].yielded
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.bounds.timeout():
			return context.DeadlineExceeded
		case a := <-answers:
			if a.err != nil {
				return a.err
			}
			at := &places[a.index]
			if w.bounds.until > 0 && a.message.isProgress() {
				w.bounds.countProgress(a.message.revision, at.next)
			} else if err := w.take(a.message, at, &parts[a.index]); err != nil {
				return err
			} else if a.message.events > 0 {
				w.bounds.lastEvent, w.bounds.responses = time.Now(), 0
			}
			if w.bounds.reached(at.next) {
				return errReached
			}
		}
	}
}

func send(ctx context.Context, answers chan<- rangeResult, a rangeResult) error {
	select {
	case answers <- a:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// part is the buffered part of a revision, because its next events may come in the next message.
type part struct {
	events []Event
	bytes  int
	// skip is the number of events of the first revision that were yielded before the watch failed.
	skip int
}

// take yields the events of a message, one revision at a time.
func (w *watch) take(m *watchMessage, at *watchPlace, buffered *part) error {
	err := m.each(func(e Event) error { return w.buffer(e, at, buffered) })
	switch {
	case err != nil || m.fragment:
		return err
	case m.events > 0:
		return w.finish(at, buffered, at.next+1)
	case !m.created: // a progress notification: everything up to this revision was sent
		if err := w.finish(at, buffered, max(at.next, m.revision+1)); err != nil {
			return err
		}
		return w.emit(m.revision, nil)
	}
	return nil
}

// buffer buffers an event until its revision is complete.
func (w *watch) buffer(e Event, at *watchPlace, held *part) error {
	switch {
	case e.ModRevision < at.next:
		return fmt.Errorf("%w: revision %d after %d", errBadWatch, e.ModRevision, at.next)
	case e.ModRevision > at.next:
		if err := w.finish(at, held, e.ModRevision); err != nil {
			return err
		}
	case held.skip > 0:
		held.skip--
		return nil
	}
	held.events = append(held.events, e)
	held.bytes += len(e.Key) + len(e.Value) + eventBytes
	if held.bytes > maxBuffered {
		return w.flush(at, held)
	}
	return nil
}

// eventBytes is the approximate size of an Event without its key and value.
const eventBytes = 96

// finish yields the buffered events and advances to revision next.
func (w *watch) finish(at *watchPlace, held *part, next int64) error {
	if err := w.flush(at, held); err != nil {
		return err
	}
	*at, held.skip = watchPlace{next: next}, 0
	return nil
}

func (w *watch) flush(at *watchPlace, held *part) error {
	if len(held.events) == 0 {
		return nil
	}
	events := held.events
	at.yielded += len(events)
	held.events, held.bytes = nil, 0
	return w.emit(at.next, events)
}

func (w *watch) emit(revision int64, events []Event) error {
	w.revision = max(w.revision, revision)
	if err := w.yield(w.revision, events); err != nil {
		return &yieldError{err}
	}
	return nil
}
