package session

import (
	"bytes"
	"context"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// startsOf returns the processes that registered within model.StartsWindow before a revision, as far as the source
// has past revisions.
func startsOf(ctx context.Context, past source.Past, newest source.Header, revision int64) ([]model.Start, error) {
	from, err := revisionBefore(ctx, past, newest, revision, model.StartsWindow)
	if err != nil || from >= revision {
		return nil, err
	}
	decoder, err := meta.NewDecoder(newest)
	if err != nil {
		return nil, err
	}
	type registration struct {
		session  *model.Session
		revision int64
	}
	var list []registration
	clock, prefix := meta.ClockOf(newest.Root), []byte(newest.MetaPrefix()+"session/")
	err = past.Changes(ctx, newest, from, revision, func(revision int64, events []source.Event) error {
		for i := range events {
			e := &events[i]
			if e.Deleted || !bytes.HasPrefix(e.Key, prefix) {
				clock.Put(e.KV)
				continue
			}
			if s, ok := decoder.Decode(&e.KV, false).Object.(*model.Session); ok && e.Version == 1 {
				list = append(list, registration{s, revision})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	starts := []model.Start{}
	for _, r := range list {
		var at time.Time
		if m, known := clock.At(r.revision); known {
			at = m.Time
		}
		starts = model.AddStart(starts, r.session, at)
	}
	return starts, nil
}
