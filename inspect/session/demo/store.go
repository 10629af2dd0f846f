package demo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// etcdVersion is the version of the captured etcd.
const etcdVersion = "3.4.23"

// store is an in-memory key-value store with revisions. It behaves like an etcd with one member.
type store struct {
	header source.Header // at the start

	mu  sync.Mutex
	kvs []source.KV // sorted by key; neither the slice nor its elements are changed in place
	log []change    // one for each revision after the header's revision
	// changed is closed on the next change.
	changed chan struct{}

	// base holds the keys at the start, past the history before it.
	base       []source.KV
	past       source.Past
	pastHeader source.Header
	adapt      func(source.KV) []byte
}

// change is the event of a revision.
type change struct{ event source.Event }

// newStore returns a store with the keys of a snapshot. adapt maps their values.
func newStore(ctx context.Context, snap source.Snapshot, adapt func(source.KV) []byte) (*store, error) {
	s := &store{header: snap.Header(), changed: make(chan struct{}), adapt: adapt}
	err := snap.Scan(ctx, []source.Range{{}}, func(kv source.KV) error {
		kv.Value, kv.Key = adapt(kv), bytes.Clone(kv.Key)
		s.kvs = append(s.kvs, kv)
		return nil
	})
	s.header.Origin = source.Origin{
		Kind: source.KindEtcd, Location: From + s.header.Root, Detail: "etcd " + etcdVersion,
	}
	s.header.Taken, s.header.FileDate, s.header.ByClock = Now(), false, true
	s.base = s.kvs
	return s, err
}

// Put sets the value of a key.
func (s *store) Put(key string, value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.revision() + 1
	kv := source.KV{Key: []byte(key), Value: bytes.Clone(value), CreateRevision: now, ModRevision: now, Version: 1}
	at, found := s.find(key)
	next := slices.Clone(s.kvs)
	if found {
		kv.CreateRevision, kv.Version = next[at].CreateRevision, next[at].Version+1
		next[at] = kv
	} else {
		next = slices.Insert(next, at, kv)
	}
	s.change(next, source.Event{KV: kv})
}

// Delete removes a key if it exists.
func (s *store) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, found := s.find(key); found {
		gone := source.KV{Key: []byte(key), ModRevision: s.revision() + 1}
		s.change(slices.Delete(slices.Clone(s.kvs), at, at+1), source.Event{KV: gone, Deleted: true})
	}
}

func (s *store) change(next []source.KV, e source.Event) {
	s.kvs, s.log = next, append(s.log, change{e})
	close(s.changed)
	s.changed = make(chan struct{})
}

// revision returns the newest revision. The caller must hold s.mu.
func (s *store) revision() int64 { return s.header.Revision + int64(len(s.log)) }

func (s *store) find(key string) (at int, found bool) {
	return slices.BinarySearchFunc(s.kvs, key, func(kv source.KV, key string) int {
		return cmp.Compare(string(kv.Key), key)
	})
}

// since returns the changes after a revision, and a channel that is closed on the next change. It returns
// source.ErrCompacted if the revision is before the start.
func (s *store) since(revision int64) (changes []change, moved <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := revision - s.header.Revision
	if at < 0 {
		return nil, nil, source.ErrCompacted
	}
	return slices.Clip(s.log)[min(at, int64(len(s.log))):], s.changed, nil
}

// Source returns the store as a source. root is the wanted root path, or "" for any. It returns a *source.RootError
// if the store has another root.
func (s *store) Source(root string) (source.Live, error) {
	h := &s.header
	if root != "" && root != h.Root && root != h.Root+"/"+h.MetaPath {
		return nil, &source.RootError{Wanted: root, Found: []string{h.Root + "/" + h.MetaPath}, Where: From}
	}
	return view{s}, nil
}

// view is the read-only view of a store.
type view struct{ s *store }

var _ source.Live = view{}

// Origin implements source.Source.
func (v view) Origin() source.Origin { return v.s.header.Origin }

// Close implements source.Source. It does nothing, because the Cluster owns the store.
func (v view) Close() error { return nil }

// Pin implements source.Source.
func (v view) Pin(context.Context) (source.Snapshot, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	h := v.s.header
	h.Revision = v.s.revision()
	return snapshot{h, v.s.kvs}, nil
}

// Watch implements source.Watcher.
func (v view) Watch(
	ctx context.Context, header source.Header, yield func(revision int64, events []source.Event) error,
) error {
	revision := header.Revision
	for {
		changes, moved, err := v.s.since(revision)
		if err != nil {
			return fmt.Errorf("watch %s: %w", v.s.header.Origin.Location, err)
		}
		for _, c := range changes {
			if err := ctx.Err(); err != nil {
				return err
			}
			revision = c.event.ModRevision
			var events []source.Event
			if strings.HasPrefix(string(c.event.Key), header.Root+"/") {
				events = []source.Event{c.event}
			}
			if err := yield(revision, events); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		}
	}
}

// Alive implements source.Live.
func (v view) Alive(ctx context.Context) error { return ctx.Err() }

// Health implements source.Live. It reports one member, the leader.
func (v view) Health(ctx context.Context) (*model.Etcd, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	size := int64(0)
	for _, kv := range v.s.kvs {
		size += int64(len(kv.Key) + len(kv.Value))
	}
	// etcd 3.4 does not report its quota
	m := model.EtcdMember{
		Name: "default", Endpoint: From, Version: etcdVersion, Leader: true, DBSize: size, DBInUse: size,
	}
	return &model.Etcd{At: v.s.header.Taken, Members: []model.EtcdMember{m}}, ctx.Err()
}

// Activity implements source.Live. It reports no keys, because only tests write to the demo.
func (v view) Activity(ctx context.Context, window time.Duration) (*model.EtcdActivity, error) {
	v.s.mu.Lock()
	from := len(v.s.log)
	v.s.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(window):
	}
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	n := int64(len(v.s.log) - from)
	return &model.EtcdActivity{Over: window, Revisions: n, Writes: n}, nil
}

// snapshot is the store at one revision.
type snapshot struct {
	header source.Header
	kvs    []source.KV
}

// Header implements source.Snapshot.
func (s snapshot) Header() source.Header { return s.header }

// Seekable implements source.Snapshot. It returns true, because ranges are found by binary search.
func (s snapshot) Seekable() bool { return true }

// Scan implements source.Snapshot.
func (s snapshot) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	for i, r := range ranges {
		if i > 0 && (ranges[i-1].To == "" || ranges[i-1].To > r.From) {
			return fmt.Errorf("scan: %v overlaps %v", r, ranges[i-1])
		}
		from, _ := slices.BinarySearchFunc(s.kvs, r.From, func(kv source.KV, key string) int {
			return cmp.Compare(string(kv.Key), key)
		})
		for _, kv := range s.kvs[from:] {
			if r.To != "" && string(kv.Key) >= r.To {
				break
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := yield(kv); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Gaps implements source.Snapshot.
func (s snapshot) Gaps() []source.Gap { return nil }

// Close implements source.Snapshot.
func (s snapshot) Close() error { return nil }
