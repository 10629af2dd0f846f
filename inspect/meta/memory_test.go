package meta

import (
	"bytes"
	"context"
	"slices"

	"kitescope/inspect/source"
)

// memory is a Snapshot of sorted keys in memory.
type memory struct {
	header   source.Header
	kvs      []source.KV
	seekable bool
	scans    [][]source.Range
	gaps     []source.Gap // their keys are not yielded
}

func (m *memory) Header() source.Header { return m.header }
func (m *memory) Seekable() bool        { return m.seekable }
func (m *memory) Gaps() []source.Gap    { return m.gaps }
func (m *memory) Close() error          { return nil }

func (m *memory) Scan(_ context.Context, ranges []source.Range, yield func(source.KV) error) error {
	m.scans = append(m.scans, ranges)
	for _, r := range ranges {
		i, _ := slices.BinarySearchFunc(m.kvs, r.From, func(kv source.KV, from string) int {
			return bytes.Compare(kv.Key, []byte(from))
		})
		for ; i < len(m.kvs) && r.Contains(m.kvs[i].Key); i++ {
			if slices.ContainsFunc(m.gaps, func(g source.Gap) bool { return g.Keys.Contains(m.kvs[i].Key) }) {
				continue
			}
			if err := yield(m.kvs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// newMemory sorts keys into a snapshot.
func newMemory(kvs []source.KV) *memory {
	slices.SortFunc(kvs, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	return &memory{header: testHeader(), kvs: kvs, seekable: true}
}
