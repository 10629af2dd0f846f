package demo

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"time"

	"kitescope/inspect/source"
)

var _ source.Past = view{}

// openPast opens the history before the captured state. The bundle has all revisions that the etcd had then, which
// cover the minutes before. It is in memory and need not be closed.
func openPast(ctx context.Context) (source.Past, source.Header, error) {
	src, err := source.Open(ctx, "-", source.Options{Stdin: bytes.NewReader(capturedBundle), Now: time.Now})
	if err != nil {
		return nil, source.Header{}, err
	}
	past, err := source.PastOf(src)
	if err != nil {
		return nil, source.Header{}, err
	}
	snap, err := src.Pin(ctx)
	if err != nil {
		return nil, source.Header{}, err
	}
	return past, snap.Header(), snap.Close()
}

// adaptPast returns the pair at a past revision with the value that adapt returns, except that RootCoord's timestamp
// advances, up to the frozen time of the demo's clock.
func (s *store) adaptPast(kv source.KV) source.KV {
	if bytes.HasSuffix(kv.Key, []byte(clockKey)) && len(kv.Value) == 8 {
		last := uint64(Now().Add(reservedAhead).UnixNano())
		if binary.BigEndian.Uint64(kv.Value) > last {
			kv.Value = binary.BigEndian.AppendUint64(nil, last)
		}
		return kv
	}
	kv.Value = s.adapt(kv)
	return kv
}

// checkRevisions returns an error unless all wanted revisions are available.
func (s *store) checkRevisions(ctx context.Context, wanted ...int64) error {
	oldest, err := s.past.Oldest(ctx, s.pastHeader)
	if err != nil {
		return err
	}
	s.mu.Lock()
	newest := s.revision()
	s.mu.Unlock()
	return source.CheckRevisions(From, oldest, newest, wanted...)
}

// Oldest implements source.Past.
func (v view) Oldest(ctx context.Context, _ source.Header) (int64, error) {
	return v.s.past.Oldest(ctx, v.s.pastHeader)
}

// Changes implements source.Past. It yields the captured changes, followed by those since the demo was started.
func (v view) Changes(
	ctx context.Context, h source.Header, from, to int64, yield func(revision int64, events []source.Event) error,
) error {
	s := v.s
	if err := s.checkRevisions(ctx, from, to); err != nil {
		return err
	}
	if captured := s.header.Revision; from < captured {
		err := s.past.Changes(ctx, s.pastHeader, from, min(to, captured),
			func(revision int64, events []source.Event) error {
				told := make([]source.Event, len(events))
				for i, e := range events {
					if told[i] = e; !e.Deleted {
						told[i].KV = s.adaptPast(e.KV)
					}
				}
				return yield(revision, told)
			})
		if err != nil {
			return err
		}
		from = captured
	}
	changes, _, err := s.since(from)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.event.ModRevision > to {
			break
		}
		if strings.HasPrefix(string(c.event.Key), h.Root+"/") {
			if err := yield(c.event.ModRevision, []source.Event{c.event}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// PinAt implements source.Past.
func (v view) PinAt(ctx context.Context, _ source.Header, revision int64) (source.Snapshot, error) {
	s := v.s
	if err := s.checkRevisions(ctx, revision); err != nil {
		return nil, err
	}
	h := s.header
	h.Revision, h.Taken, h.ByClock = revision, time.Time{}, false
	if revision < s.header.Revision {
		snap, err := s.past.PinAt(ctx, s.pastHeader, revision)
		if err != nil {
			return nil, err
		}
		h.Taken, h.Recent = snap.Header().Taken, snap.Header().Recent
		return &pastSnapshot{Snapshot: snap, header: h, store: s}, nil
	}
	return snapshot{h, s.at(revision)}, nil
}

// at returns the keys as of a revision since the demo was started.
func (s *store) at(revision int64) []source.KV {
	s.mu.Lock()
	defer s.mu.Unlock()
	then := &store{header: s.header, kvs: s.base, changed: make(chan struct{})}
	for _, c := range s.log[:revision-s.header.Revision] {
		if c.event.Deleted {
			then.Delete(string(c.event.Key))
		} else {
			then.Put(string(c.event.Key), c.event.Value)
		}
	}
	return then.kvs
}

// GetAt implements source.Past.
func (v view) GetAt(ctx context.Context, _ source.Header, revision int64, key string) (*source.KV, error) {
	s := v.s
	if err := s.checkRevisions(ctx, revision); err != nil {
		return nil, err
	}
	if revision >= s.header.Revision {
		then := &store{kvs: s.at(revision)}
		if at, found := then.find(key); found {
			return &then.kvs[at], nil
		}
		return nil, nil //nolint:nilnil // the key is not there
	}
	kv, err := s.past.GetAt(ctx, s.pastHeader, revision, key)
	if err != nil || kv == nil {
		return nil, err
	}
	then := s.adaptPast(*kv)
	return &then, nil
}

// pastSnapshot is a snapshot of a captured revision with the values adapted to the demo.
type pastSnapshot struct {
	source.Snapshot
	header source.Header
	store  *store
}

// Header implements source.Snapshot.
func (p *pastSnapshot) Header() source.Header { return p.header }

// Scan implements source.Snapshot.
func (p *pastSnapshot) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	return p.Snapshot.Scan(ctx, ranges, func(kv source.KV) error { return yield(p.store.adaptPast(kv)) })
}
