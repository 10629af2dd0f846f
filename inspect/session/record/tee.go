package record

import (
	"context"

	"kitescope/inspect/source"
)

// tee is a source that tells the Recorder what is read of it.
type tee struct {
	source.Live
	r *Recorder
}

// Pin implements source.Source. Whoever pins it follows it from there: what is recorded goes on there, or begins.
func (t tee) Pin(ctx context.Context) (source.Snapshot, error) {
	snap, err := t.Live.Pin(ctx)
	if err == nil {
		t.r.pinned(ctx, t.Live, snap)
	}
	return snap, err
}

// Watch implements source.Watcher.
func (t tee) Watch(ctx context.Context, h source.Header, yield func(revision int64, events []source.Event) error) error {
	return t.Live.Watch(ctx, h, func(revision int64, events []source.Event) error {
		t.r.changed(revision, events)
		return yield(revision, events)
	})
}
