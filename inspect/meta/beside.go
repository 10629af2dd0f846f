package meta

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// The keys beside the root (source.Beside) are read after all others, and of a live etcd only where something streams: a Milvus before 2.6 has
// no Woodpecker. They are no part of the watch, whose changes are those of one range in the order of their revisions: who follows
// a cluster reads them again now and then.

// besideParts are those that these keys are read for. None of them is unknown without those: a Milvus may have another queue.
const besideParts = model.PartChannels

// besideEvery is how often they are read again.
const besideEvery = 10 * time.Second

// streams reports whether the streaming service of 2.6 and later has left a key.
func (s *state) streams() bool {
	return len(s.facts[kindStreamingVersion])+len(s.facts[kindPChannel])+len(s.facts[kindWALCheckpoint]) > 0
}

// readBeside takes in what these keys are.
func (s *state) readBeside(ctx context.Context, snap source.Snapshot) error {
	list, err := besideOf(ctx, snap)
	if err != nil {
		return err
	}
	s.setBeside(list)
	return nil
}

// besideOf are these keys of a snapshot.
func besideOf(ctx context.Context, snap source.Snapshot) ([]source.KV, error) {
	var list []source.KV
	err := snap.Scan(ctx, source.Beside(), func(kv source.KV) error {
		kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
		list = append(list, kv)
		return nil
	})
	return list, err
}

// setBeside takes them in, and out those that are gone; changed says whether any is another than before.
func (s *state) setBeside(list []source.KV) (changed bool) {
	now := make(map[string]int64, len(list))
	for _, kv := range list {
		now[string(kv.Key)] = kv.ModRevision
		if had, ok := s.beside[string(kv.Key)]; !ok || had != kv.ModRevision {
			s.put(kv, !ok)
			changed = true
		}
	}
	for key := range s.beside {
		if _, ok := now[key]; !ok {
			s.remove([]byte(key))
			changed = true
		}
	}
	s.beside = now
	return changed
}

// followBeside reads them again until ctx ends. What cannot be read stays what it was: the watch says what became of etcd.
func (w *watching) followBeside(ctx context.Context) {
	if w.f.Want.complete().Parts&besideParts == 0 {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(w.f.beside, besideEvery)):
		}
		w.mu.Lock()
		streams := w.state.streams()
		w.mu.Unlock()
		if !streams {
			continue
		}
		list, err := w.pinBeside(ctx)
		if err != nil {
			continue
		}
		w.mu.Lock()
		if w.state.setBeside(list) {
			w.dirty = true
			select {
			case w.changed <- struct{}{}:
			default:
			}
		}
		w.mu.Unlock()
	}
}

func (w *watching) pinBeside(ctx context.Context) ([]source.KV, error) {
	snap, err := w.f.Source.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	return besideOf(ctx, snap)
}
