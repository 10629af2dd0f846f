package meta

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// The keys beside the root (source.OutsideRoot) are read last. On a live etcd they are read only if the streaming
// service is in use, because Milvus before 2.6 has no Woodpecker. The watch does not cover them, because it
// reports a single range in order of revision. A Follower polls them instead.

// outsideParts are the parts that need these keys. No part is incomplete without them, because Milvus may use
// another queue.
const outsideParts = model.PartChannels

// defaultOutsideInterval is the interval at which a Follower polls these keys.
const defaultOutsideInterval = 10 * time.Second

// hasStreaming reports whether the state has a key of the streaming service (2.6 and later).
func (s *state) hasStreaming() bool {
	return len(s.facts[kindStreamingVersion])+len(s.facts[kindPChannel])+len(s.facts[kindWALCheckpoint]) > 0
}

// readOutside reads these keys of a snapshot into the state.
func (s *state) readOutside(ctx context.Context, snap source.Snapshot) error {
	list, err := scanOutside(ctx, snap)
	if err != nil {
		return err
	}
	s.setOutside(list)
	return nil
}

// scanOutside reads these keys of a snapshot.
func scanOutside(ctx context.Context, snap source.Snapshot) ([]source.KV, error) {
	var list []source.KV
	err := snap.Scan(ctx, source.OutsideRoot(), func(kv source.KV) error {
		kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
		list = append(list, kv)
		return nil
	})
	return list, err
}

// setOutside puts new and changed keys into the state and removes missing ones. It reports whether anything
// changed.
func (s *state) setOutside(list []source.KV) (changed bool) {
	now := make(map[string]int64, len(list))
	for _, kv := range list {
		now[string(kv.Key)] = kv.ModRevision
		if had, ok := s.outside[string(kv.Key)]; !ok || had != kv.ModRevision {
			s.put(kv, !ok)
			changed = true
		}
	}
	for key := range s.outside {
		if _, ok := now[key]; !ok {
			s.remove([]byte(key))
			changed = true
		}
	}
	s.outside = now
	return changed
}

// pollOutside polls these keys until ctx ends. After an error it keeps the last state, because the watch reports
// errors of etcd.
func (w *watchState) pollOutside(ctx context.Context) {
	if w.f.Want.complete().Parts&outsideParts == 0 {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(w.f.outsideInterval, defaultOutsideInterval)):
		}
		w.mu.Lock()
		streams := w.state.hasStreaming()
		w.mu.Unlock()
		if !streams {
			continue
		}
		list, err := w.pinOutside(ctx)
		if err != nil {
			continue
		}
		w.mu.Lock()
		if w.state.setOutside(list) {
			w.dirty = true
			select {
			case w.changed <- struct{}{}:
			default:
			}
		}
		w.mu.Unlock()
	}
}

func (w *watchState) pinOutside(ctx context.Context) ([]source.KV, error) {
	snap, err := w.f.Source.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	return scanOutside(ctx, snap)
}
