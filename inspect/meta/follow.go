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

// Follower loads a store and then follows its changes. Successive clusters share unchanged objects.
type Follower struct {
	Source source.Watcher
	Want   Want
	// Interval is the shortest time between two clusters. Changes in between are batched.
	Interval time.Duration
	// Emit receives each new cluster, or the error if there is none. After an error Run retries.
	// Emit is never called concurrently.
	Emit func(*model.Cluster, error)
	// Flush requests the pending changes without waiting for Interval. Run closes the received channel after it
	// has emitted them. A nil Flush is never used.
	Flush <-chan chan struct{}
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// outsideInterval is the polling interval of the keys outside the root; zero means defaultOutsideInterval.
	outsideInterval time.Duration
	// growth is the volume that changes may add, beyond the volume of the load, before the store is read again.
	// Zero means growthKeys and growthBytes.
	growth volume
}

const (
	// debounce is a delay for the other keys of a transaction and its neighbours to arrive before a cluster is
	// built.
	debounce = 20 * time.Millisecond
	// maxBackoff limits the wait before the store is read again.
	maxBackoff = 15 * time.Second
)

// errScopeChanged means that Want.Collection now matches other collections than before.
var errScopeChanged = errors.New("the collection name now means another collection")

// errGrowthLimit means that the watch brought more than the growth limit. The source bounds the volume of a load.
// Changes are unbounded, and only etcd can determine whether a key is new.
var errGrowthLimit = errors.New("the store is read again")

// These limits are an hour of a livelock's writes at about 500 a second, and a quarter of the bytes that a load
// may bring.
const (
	growthKeys  = 2_000_000
	growthBytes = 1 << 30
)

// volume is a number of keys, and their size in bytes with values.
type volume struct{ keys, bytes int64 }

func (v *volume) add(kv *source.KV) {
	v.keys++
	v.bytes += int64(len(kv.Key) + len(kv.Value))
}

// Run follows the store until ctx ends, and returns its error. Only the first load can fail permanently. If the
// watch breaks later, Run pins and reads the store again.
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
		case errors.Is(err, errScopeChanged), errors.Is(err, errGrowthLimit):
			continue
		case err != nil:
			f.Emit(nil, err)
		}
		wait = min(max(2*wait, f.Interval, debounce), maxBackoff)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// once loads the store, emits a cluster and watches until the watch ends.
func (f *Follower) once(ctx context.Context, loaded func()) error {
	snap, err := f.Source.Pin(ctx)
	if err != nil {
		return err
	}
	header := snap.Header()
	w := &watchState{f: f, changed: make(chan struct{}, 1)}
	w.clusterBuilder, err = newClusterBuilder(ctx, &meteredSnapshot{snap, &w.loaded}, f.Want)
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
	done.Go(func() { w.pollOutside(watchCtx) })
	err = f.Source.Watch(watchCtx, header, w.apply)
	stop(nil)
	done.Wait()
	if cause := context.Cause(watchCtx); errors.Is(cause, errScopeChanged) {
		return errScopeChanged
	}
	return err
}

// watchState is one load and the changes since. The watch applies each change immediately, and emitLoop builds
// a cluster once an interval. Therefore the receiver never waits for decoding, and a key that is written ten
// times in an interval costs one object.
type watchState struct {
	f       *Follower
	changed chan struct{}

	mu sync.Mutex // guards the fields below
	*clusterBuilder
	// loaded is the volume of the load, grown the volume that the watch added.
	loaded, grown volume
}

// meteredSnapshot is a snapshot that counts the keys and bytes read.
type meteredSnapshot struct {
	source.Snapshot
	sum *volume
}

// Scan implements source.Snapshot and adds each key to sum.
func (s *meteredSnapshot) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	return s.Snapshot.Scan(ctx, ranges, func(kv source.KV) error {
		s.sum.add(&kv)
		return yield(kv)
	})
}

// apply applies the changes of a revision.
func (w *watchState) apply(revision int64, events []source.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if revision > w.info.revision {
		w.info.revision = revision
	}
	for i := range events {
		// The version reports whether the key is new: it restarts at 1 when a removed key is created again. Most
		// kinds have no set of known keys to look it up in.
		if e := &events[i]; w.applyEvent(e, e.Version == 1) {
			w.grown.add(&e.KV)
		}
	}
	if w.grown.keys > w.loaded.keys+w.f.growth.keys || w.grown.bytes > w.loaded.bytes+w.f.growth.bytes {
		return errGrowthLimit
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
	return nil
}

// emitLoop emits at most one cluster per interval, soon after the first change, or at once if Flush requests it.
func (w *watchState) emitLoop(ctx context.Context, stop context.CancelCauseFunc) {
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

// wait waits for a change and then for the interval. hastened is the channel to close after the next cluster is
// emitted, nil if there was no request. ok is false if ctx ended.
func (w *watchState) wait(ctx context.Context, last time.Time) (hastened chan struct{}, ok bool) {
	select {
	case <-ctx.Done():
		return nil, false
	case hastened = <-w.f.Flush:
		return hastened, true
	case <-w.changed:
	}
	pause := max(w.f.Interval-w.f.Now().Sub(last), debounce)
	select {
	case <-ctx.Done():
		return nil, false
	case hastened = <-w.f.Flush:
	case <-time.After(min(pause, max(w.f.Interval, debounce))):
	}
	return hastened, true
}

// next builds the current cluster. It returns nil if nothing changed since the last one.
func (w *watchState) next(now time.Time) (*model.Cluster, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dirty && w.info.revision == w.cluster.Origin.Revision {
		return nil, nil
	}
	w.info.taken = now
	changed := w.dirty
	c := w.build()
	// The load was restricted to the collections that the name matched at that time. After a rename, a re-creation
	// or an alter alias the name matches others, whose segments were never read.
	if changed && w.state.scope != nil &&
		!maps.Equal(w.state.scope, w.state.matchCollections(w.state.want.Collection)) {
		return nil, errScopeChanged
	}
	return c, nil
}
