package meta

import (
	"context"
	"errors"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Moments calls visit with the store as it was at some revisions of a Past, which must rise: the first is read, and the changes
// between it and the last are applied once, so that a Cluster shares with the one before what did not change. next returns the
// points one after the other, ok false behind the last. newest is the header of the present. Of want, Collection is not used:
// which objects a name means changes.
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
	s, err := openScene(ctx, momentOf{snap, HeaderAt(snap.Header(), newest, p.Moment)}, want)
	if closing := snap.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	from := p.Revision
	// reach visits the points before a revision: what is written at it comes later.
	reach := func(revision int64) error {
		for ok && p.Revision < revision {
			s.head.revision, s.head.taken = p.Revision, p.Moment.Time
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
			s.take(&events[i], events[i].Version == 1)
		}
		return nil
	})
	if err != nil && !errors.Is(err, errReached) {
		return err
	}
	return reach(newest.Revision + 1)
}

// errReached ends reading changes.
var errReached = errors.New("reached")

// momentOf is a snapshot whose time is known.
type momentOf struct {
	source.Snapshot
	header source.Header
}

// Header implements source.Snapshot.
func (m momentOf) Header() source.Header { return m.header }
