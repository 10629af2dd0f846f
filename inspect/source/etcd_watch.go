package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// watchPause is how long a broken watch waits before it starts again.
const watchPause = time.Second

// Watch follows the keys below header's root. Events come by revision, in order,
// none twice and none lost: the client reconnects by itself, and a watch that
// the server ends (no leader) goes on behind the last revision that was yielded.
// With a role that may read only part of the root, each permitted range is
// followed; the events of one revision may then come in several calls.
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
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrCompacted):
		return hint(fmt.Errorf("watch %s: %w", s.address.location(), err), "read the cluster again")
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
}

// answer is a response and the range that it is about.
type answer struct {
	index    int
	response clientv3.WatchResponse
	closed   bool
}

// follow watches the ranges until something ends it for good.
func (w *watch) follow(ctx context.Context, r *reader, ranges []Range) error {
	if len(ranges) == 0 {
		return rpctypes.ErrPermissionDenied
	}
	// next is for each range the revision to go on from.
	next := make([]int64, len(ranges))
	for i := range next {
		next[i] = w.revision + 1
	}
	for {
		err := w.session(ctx, r, ranges, next)
		if !transient(err) || ctx.Err() != nil {
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
func (w *watch) session(ctx context.Context, r *reader, ranges []Range, next []int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer)
	for i, keys := range ranges {
		responses := r.watch(ctx, keys, next[i])
		go func() {
			for response := range responses {
				if !send(ctx, answers, answer{index: i, response: response}) {
					return
				}
			}
			send(ctx, answers, answer{index: i, closed: true})
		}()
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a := <-answers:
			if a.closed {
				return errWatchEnded
			}
			if err := w.take(a.response, &next[a.index]); err != nil {
				return err
			}
		}
	}
}

func send(ctx context.Context, answers chan<- answer, a answer) bool {
	select {
	case answers <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// take yields the events of one response, revision by revision.
func (w *watch) take(response clientv3.WatchResponse, next *int64) error {
	if response.CompactRevision != 0 {
		return ErrCompacted
	}
	if err := response.Err(); err != nil {
		return err
	}
	for events := response.Events; len(events) > 0; {
		revision := events[0].Kv.ModRevision
		n := 1
		for n < len(events) && events[n].Kv.ModRevision == revision {
			n++
		}
		if err := w.emit(revision, convert(events[:n])); err != nil {
			return err
		}
		*next = revision + 1
		events = events[n:]
	}
	if response.IsProgressNotify() {
		*next = response.Header.Revision + 1
		return w.emit(response.Header.Revision, nil)
	}
	return nil
}

func (w *watch) emit(revision int64, events []Event) error {
	w.revision = max(w.revision, revision)
	if err := w.yield(w.revision, events); err != nil {
		return &yieldError{err}
	}
	return nil
}

func convert(events []*clientv3.Event) []Event {
	out := make([]Event, len(events))
	for i, e := range events {
		out[i] = Event{Deleted: e.Type == mvccpb.Event_DELETE, KV: KV{Key: e.Kv.Key, ModRevision: e.Kv.ModRevision}}
		if !out[i].Deleted {
			out[i].KV = KV{
				Key: e.Kv.Key, Value: e.Kv.Value, CreateRevision: e.Kv.CreateRevision,
				ModRevision: e.Kv.ModRevision, Version: e.Kv.Version, Lease: e.Kv.Lease,
			}
		}
	}
	return out
}
