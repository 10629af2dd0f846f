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

// watchPause is how long a broken watch waits before it starts again.
const watchPause = time.Second

// Watch follows the keys below header's root. Events come by revision, in order,
// none twice and none lost: a watch that breaks, or that the server ends (no leader), goes
// on behind the last event that was yielded. The events of one revision may come in several
// calls: where they are very many, and with a role that may read only part of the root,
// of which each permitted range is then followed.
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
		if err = s.askGranted(ctx, r); err == nil {
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

// denied reports whether a watch was refused. etcd cancels a watch with the text of
// its error, wrapped in one of another code (server/etcdserver/api/v3rpc/watch.go).
func denied(err error) bool {
	return errors.Is(err, rpctypes.ErrPermissionDenied) ||
		err != nil && strings.Contains(err.Error(), rpctypes.ErrPermissionDenied.Error())
}

// watch is the state of one Watch.
type watch struct {
	// revision is the highest that was yielded.
	revision int64
	yield    func(int64, []Event) error
	// bounds end a watch of the past; zero: it goes on for ever.
	bounds watchBounds
}

// watchPlace is how far the watch of one range has come.
type watchPlace struct {
	// next is the revision to go on from. The first told events of it were yielded: a revision of which there is
	// more than maxHeld is yielded in parts.
	next int64
	told int
}

// maxHeld bounds what is held of one revision until all of it is there, in bytes.
const maxHeld = 64 << 20

// answer is a message and the range that it is about.
type answer struct {
	index   int
	message *watchMessage
	err     error
}

// follow watches the ranges until something ends it for good.
func (w *watch) follow(ctx context.Context, r *reader, ranges []Range) error {
	if len(ranges) == 0 {
		return rpctypes.ErrPermissionDenied
	}
	places := make([]watchPlace, len(ranges))
	for i := range places {
		places[i].next = w.revision + 1
	}
	w.bounds.heard = time.Now()
	for {
		err := w.session(ctx, r, ranges, places)
		if !transient(err) || ctx.Err() != nil || w.bounds.over() {
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

// session runs watches until one of them breaks.
func (w *watch) session(ctx context.Context, r *reader, ranges []Range, places []watchPlace) error {
	ctx, cancel := context.WithCancel(ctx)
	var receiving sync.WaitGroup
	defer receiving.Wait()
	defer cancel()
	answers := make(chan answer)
	for i, keys := range ranges {
		receiving.Go(func() {
			err := r.watch(ctx, watchRequest{keys: keys, from: places[i].next, ask: w.bounds.ask}, func(m *watchMessage) error {
				return send(ctx, answers, answer{index: i, message: m})
			})
			_ = send(ctx, answers, answer{index: i, err: err}) // nobody waits for it any more
		})
	}
	parts := make([]part, len(ranges))
	for i := range parts {
		parts[i].skip = places[i].told
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.bounds.late():
			return context.DeadlineExceeded
		case a := <-answers:
			if a.err != nil {
				return a.err
			}
			at := &places[a.index]
			if w.bounds.until > 0 && a.message.isProgress() {
				w.bounds.hear(a.message.revision, at.next)
			} else if err := w.take(a.message, at, &parts[a.index]); err != nil {
				return err
			} else if a.message.events > 0 {
				w.bounds.heard, w.bounds.answers = time.Now(), 0
			}
			if w.bounds.reached(at.next) {
				return errReached
			}
		}
	}
}

func send(ctx context.Context, answers chan<- answer, a answer) error {
	select {
	case answers <- a:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// part is what is held of a revision: its next events may come with the next message.
type part struct {
	events []Event
	bytes  int
	// skip is how many events of the first revision were yielded before the watch broke.
	skip int
}

// take yields the events of one message, revision by revision.
func (w *watch) take(m *watchMessage, at *watchPlace, held *part) error {
	err := m.each(func(e Event) error { return w.hold(e, at, held) })
	switch {
	case err != nil || m.fragment:
		return err
	case m.events > 0:
		return w.finish(at, held, at.next+1)
	case !m.created: // progress: all up to this revision was sent
		if err := w.finish(at, held, max(at.next, m.revision+1)); err != nil {
			return err
		}
		return w.emit(m.revision, nil)
	}
	return nil
}

// hold keeps an event until its revision is whole.
func (w *watch) hold(e Event, at *watchPlace, held *part) error {
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
	if held.bytes > maxHeld {
		return w.flush(at, held)
	}
	return nil
}

// eventBytes is about what an Event takes beside its key and value.
const eventBytes = 96

// finish yields what is held, and goes on to the next revision.
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
	at.told += len(events)
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
