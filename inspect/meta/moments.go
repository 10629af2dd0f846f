package meta

import (
	"context"
	"errors"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Moments calls visit with the store at some revisions of a Past, in increasing order. It reads the store at the
// first revision and then applies the changes up to the last once, so a Cluster shares unchanged objects with the
// one before. next returns the points one by one, with ok false after the last. newest is the header of the
// present. Moments ignores want.Collection, because the objects that a name matches change over time.
func Moments(
	ctx context.Context, past source.Past, newest source.Header, want Want, next func() (p Point, ok bool, err error),
	visit func(*model.Cluster) error,
) error {
	p, ok, err := next()
	if err != nil || !ok {
		return err
	}
	want.Collection = ""
	snap, err := past.PinAt(ctx, newest, p.Revision)
	if err != nil {
		return err
	}
	s, err := newClusterBuilder(ctx, datedSnapshot{snap, HeaderAt(snap.Header(), newest, p.Moment)}, want)
	if closing := snap.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	from := p.Revision
	// reach visits the points before a revision, whose changes are not applied yet.
	reach := func(revision int64) error {
		for ok && p.Revision < revision {
			s.info.revision, s.info.taken = p.Revision, p.Moment.Time
			if err := visit(s.build()); err != nil {
				return err
			}
			if p, ok, err = next(); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	if err := reach(from + 1); err != nil || !ok {
		return err
	}
	err = past.Changes(ctx, newest, from, newest.Revision, func(revision int64, events []source.Event) error {
		if err := reach(revision); err != nil {
			return err
		}
		if !ok {
			return errReached
		}
		for i := range events {
			s.applyEvent(&events[i], events[i].Version == 1)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errReached) {
		return err
	}
	return reach(newest.Revision + 1)
}

// errReached stops reading changes after the last point.
var errReached = errors.New("reached")

// datedSnapshot is a snapshot with the header of a known time.
type datedSnapshot struct {
	source.Snapshot
	header source.Header
}

// Header implements source.Snapshot.
func (m datedSnapshot) Header() source.Header { return m.header }
