package faulttest

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/source"
)

// store holds the keys of an etcd in memory. It is a source.Snapshot for edits.
type store struct {
	header source.Header
	keys   map[string]source.KV
	gaps   []source.Gap
}

// readStore reads all keys of a snapshot into memory.
func readStore(ctx context.Context, snap source.Snapshot) (*store, error) {
	s := &store{header: snap.Header(), keys: make(map[string]source.KV)}
	s.header.Recent = nil // the file represents a live cluster, and edits are not revisions in it
	err := snap.Scan(ctx, []source.Range{{}}, func(kv source.KV) error {
		kv.Key, kv.Value = bytes.Clone(kv.Key), bytes.Clone(kv.Value)
		s.keys[string(kv.Key)] = kv
		return nil
	})
	return s, err
}

// clone returns a copy for edits. It shares the values, which are never changed in place.
func (s *store) clone() *store {
	return &store{header: s.header, keys: maps.Clone(s.keys), gaps: slices.Clone(s.gaps)}
}

// absolute returns the full key of a relative one, as in meta.KindInfo.Pattern. A key is relative to the
// metadata prefix, with a leading slash to the root, and with two it is absolute.
func (s *store) absolute(key string) string {
	if rest, ok := strings.CutPrefix(key, "//"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(key, "/"); ok {
		return s.header.Root + "/" + rest
	}
	return s.header.MetaPrefix() + key
}

// below returns the full keys of a relative key or prefix, in order. A prefix ends in a slash.
func (s *store) below(key string) []string {
	key = s.absolute(key)
	if !strings.HasSuffix(key, "/") {
		if _, ok := s.keys[key]; ok {
			return []string{key}
		}
		return nil
	}
	var found []string
	for k := range s.keys {
		if strings.HasPrefix(k, key) {
			found = append(found, k)
		}
	}
	slices.Sort(found)
	return found
}

// put writes one absolute key with a new revision, later than all others in the store.
func (s *store) put(key string, value []byte) {
	kv, old := s.keys[key]
	s.header.Revision++
	kv.Key, kv.Value, kv.ModRevision, kv.Version = []byte(key), value, s.header.Revision, kv.Version+1
	if !old {
		kv.CreateRevision = s.header.Revision
	}
	s.keys[key] = kv
}

// Header implements source.Snapshot.
func (s *store) Header() source.Header { return s.header }

// Seekable implements source.Snapshot.
func (s *store) Seekable() bool { return true }

// Scan implements source.Snapshot. It skips keys inside a gap.
func (s *store) Scan(ctx context.Context, ranges []source.Range, yield func(source.KV) error) error {
	inside := func(list []source.Range, key []byte) bool {
		return slices.ContainsFunc(list, func(r source.Range) bool { return r.Contains(key) })
	}
	var hidden []source.Range
	for _, g := range s.gaps {
		hidden = append(hidden, g.Keys)
	}
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		kv := s.keys[key]
		if !inside(ranges, kv.Key) || inside(hidden, kv.Key) {
			continue
		}
		if err := yield(kv); err != nil {
			return err
		}
	}
	return nil
}

// Gaps implements source.Snapshot.
func (s *store) Gaps() []source.Gap { return s.gaps }

// Close implements source.Snapshot.
func (s *store) Close() error { return nil }
