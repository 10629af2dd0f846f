package record

import (
	"context"

	"kitescope/inspect/source"
)

// tee is a source that passes its snapshots and changes to a Recorder as well.
type tee struct {
	source.Live
	r *Recorder
}

// Pin implements source.Source. The caller follows the source from the snapshot, so the recording begins or
// continues there.
func (t tee) Pin(ctx context.Context) (source.Snapshot, error) {
	snap, err := t.Live.Pin(ctx)
	if err == nil {
		t.r.onPin(ctx, t.Live, snap)
	}
	return snap, err
}

// Watch implements source.Watcher.
func (t tee) Watch(
	ctx context.Context, h source.Header, yield func(revision int64, events []source.Event) error,
) error {
	return t.Live.Watch(ctx, h, func(revision int64, events []source.Event) error {
		t.r.onChanges(revision, events)
		return yield(revision, events)
	})
}
