package faulttest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/source"
)

// Keys returns the keys in the base's etcd in order, relative to its root.
func (b *Base) Keys() []source.KV {
	kvs := make([]source.KV, 0, len(b.store.keys))
	for _, key := range slices.Sorted(maps.Keys(b.store.keys)) {
		if relative, ok := strings.CutPrefix(key, b.store.header.Root+"/"); ok {
			kv := b.store.keys[key]
			kv.Key = []byte(relative)
			kvs = append(kvs, kv)
		}
	}
	return kvs
}

// Changes applies a case's edits and returns the changed etcd keys with their values, relative to the root. A
// nil value is a removed key. at is the time of the judge's clock, at which the changes are a fault.
func (c *Case) Changes(ctx context.Context, b *Base) (changes map[string][]byte, at time.Time, err error) {
	w, err := b.world(ctx)
	if err != nil {
		return nil, at, err
	}
	w.now = w.now.Add(c.Now)
	for _, l := range c.Edits {
		if err := w.apply(l); err != nil {
			return nil, at, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	changes = make(map[string][]byte)
	root := b.store.header.Root + "/"
	for key, kv := range w.store.keys {
		if old, ok := b.store.keys[key]; (!ok || !bytes.Equal(old.Value, kv.Value)) && strings.HasPrefix(key, root) {
			changes[strings.TrimPrefix(key, root)] = append([]byte{}, kv.Value...)
		}
	}
	for key := range b.store.keys {
		if _, ok := w.store.keys[key]; !ok && strings.HasPrefix(key, root) {
			changes[strings.TrimPrefix(key, root)] = nil
		}
	}
	return changes, w.now, nil
}
