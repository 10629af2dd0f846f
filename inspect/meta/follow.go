package meta

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Follower loads a store and then follows its changes. Clusters that it emits share
// what did not change.
type Follower struct {
	Source source.Watcher
	Want   Want
	// Interval is the shortest time between two clusters; changes in between are gathered.
	Interval time.Duration
	// Emit receives each new cluster, or why there is none at the moment: then following
	// goes on by itself. It is never called concurrently.
	Emit func(*model.Cluster, error)
	// Hasten asks for what has changed so far without waiting for Interval; the channel that is sent is closed once that was
	// emitted. nil: nobody asks.
	Hasten <-chan chan struct{}
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// beside is how often the keys beside the root are read again; zero is besideEvery.
	beside time.Duration
	// growth is what changes may bring beyond as much as was read, before the store is read again; zero is
	// growthKeys and growthBytes.
	growth volume
}

const (
	// settle lets the keys of one transaction and its neighbours arrive before a cluster is built.
	settle = 20 * time.Millisecond
	// maxBackoff bounds the wait between attempts to read again.
	maxBackoff = 15 * time.Second
)

// errScope says that Want.Collection means other collections than before.
var errScope = errors.New("the collection's name changed its meaning")

// errGrown says that the watch brought more than is kept of a store without counting it again. What a reading may bring is
// bounded by its source; changes have no end, and whether a key is new only etcd knows.
var errGrown = errors.New("the store is read again")

// An hour of a livelock's writes, 500 a second, and a quarter of the bytes that a reading may bring.
const (
	growthKeys  = 2_000_000
	growthBytes = 1 << 30
)

// volume is a number of keys and the bytes of them and their values.
type volume struct{ keys, bytes int64 }

func (v *volume) add(kv *source.KV) {
	v.keys++
	v.bytes += int64(len(kv.Key) + len(kv.Value))
}

// Run follows until ctx ends, and returns its error. Only the first load can fail for
// good; when the watch breaks later, the store is pinned and read again.
func (f *Follower) Run(ctx context.Context) error {
	if f.Now == nil {
		f.Now = time.Now
	}
	if f.growth == (volume{}) {
		f.growth = volume{keys: growthKeys, bytes: growthBytes}
	}
	loaded := false
	for wait := time.Duration(0); ; {
		err := f.once(ctx, func() { loaded, wait = true, 0 })
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !loaded:
			return err
		case errors.Is(err, errScope), errors.Is(err, errGrown):
			continue
		case err != nil:
			f.Emit(nil, err)
		}
		wait = min(max(2*wait, f.Interval, settle), maxBackoff)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// once loads, emits and watches until the watch ends.
func (f *Follower) once(ctx context.Context, loaded func()) error {
	snap, err := f.Source.Pin(ctx)
	if err != nil {
		return err
	}
	header := snap.Header()
	w := &watching{f: f, changed: make(chan struct{}, 1)}
	w.scene, err = openScene(ctx, &weighed{snap, &w.loaded}, f.Want)
	if closing := snap.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	loaded()
	f.Emit(w.cluster, nil)

	watchCtx, stop := context.WithCancelCause(ctx)
	var done sync.WaitGroup
	done.Go(func() { w.emitLoop(watchCtx, stop) })
	done.Go(func() { w.followBeside(watchCtx) })
	err = f.Source.Watch(watchCtx, header, w.apply)
	stop(nil)
	done.Wait()
	if cause := context.Cause(watchCtx); errors.Is(cause, errScope) {
		return errScope
	}
	return err
}

// watching is one load and the changes since. The watch takes each change in as it comes, and emitLoop builds a cluster of them once an
// interval: what is decoded is never waited for by who draws, and a key that is written ten times in between costs one object.
type watching struct {
	f       *Follower
	changed chan struct{}

	mu sync.Mutex // guards what follows
	*scene
	// loaded is what the reading brought, grown what the watch did since.
	loaded, grown volume
}

// weighed is a snapshot that adds up what is read of it.
type weighed struct {
	source.Snapshot
	sum *volume
}

// Scan adds up and passes on.
func (s *weighed) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	return s.Snapshot.Scan(ctx, ranges, func(kv source.KV) error {
		s.sum.add(&kv)
		return yield(kv)
	})
}

// apply takes the changes of one revision in.
func (w *watching) apply(revision int64, events []source.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if revision > w.head.revision {
		w.head.revision = revision
	}
	for i := range events {
		// Only etcd knows whether a key is new: of most kinds no set of keys is kept that could tell. Its version says so, and starts
		// anew when a key that was removed comes back.
		if e := &events[i]; w.take(e, e.Version == 1) {
			w.grown.add(&e.KV)
		}
	}
	if w.grown.keys > w.loaded.keys+w.f.growth.keys || w.grown.bytes > w.loaded.bytes+w.f.growth.bytes {
		return errGrown
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
	return nil
}

// emitLoop emits at most one cluster per interval, soon after the first change, and at once where that is asked for.
func (w *watching) emitLoop(ctx context.Context, stop context.CancelCauseFunc) {
	last := w.f.Now()
	for {
		hastened, ok := w.wait(ctx, last)
		if !ok {
			return
		}
		last = w.f.Now()
		cluster, err := w.next(last)
		switch {
		case err != nil:
			stop(err)
			return
		case cluster != nil:
			w.f.Emit(cluster, nil)
		}
		if hastened != nil {
			close(hastened)
		}
	}
}

// wait waits for a change, and then until it may be emitted. hastened is whom to tell then; ok is false if ctx ended.
func (w *watching) wait(ctx context.Context, last time.Time) (hastened chan struct{}, ok bool) {
	select {
	case <-ctx.Done():
		return nil, false
	case hastened = <-w.f.Hasten:
		return hastened, true
	case <-w.changed:
	}
	pause := max(w.f.Interval-w.f.Now().Sub(last), settle)
	select {
	case <-ctx.Done():
		return nil, false
	case hastened = <-w.f.Hasten:
	case <-time.After(min(pause, max(w.f.Interval, settle))):
	}
	return hastened, true
}

// next builds the cluster of now; nil if it is the one that was emitted last.
func (w *watching) next(now time.Time) (*model.Cluster, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dirty && w.head.revision == w.cluster.Origin.Revision {
		return nil, nil
	}
	w.head.taken = now
	changed := w.dirty
	c := w.build()
	// What was read was cut to the collections that the name meant then. Renamed, recreated or given to an alias, it means others,
	// whose segments were never read.
	if changed && w.state.only != nil && !maps.Equal(w.state.only, w.state.named(w.state.want.Collection)) {
		return nil, errScope
	}
	return c, nil
}
