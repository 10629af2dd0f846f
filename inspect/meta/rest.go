package meta

import (
	"encoding/binary"
	"slices"
	"strings"

	"kitescope/inspect/source"
)

// rest is a store as it was at the beginning of a Film that grows: which keys will be written is not known yet, so that all are kept,
// packed as those of a keyspace are, but with their secrets: nobody sees them but who decodes them.
type rest struct {
	codec  *blockCodec
	writer *blockWriter // nil once all is there
	blocks []*block
	cache  *blockCache
	value  []byte // scratch
	// later is what keys came to be of which the writes are forgotten; nil: they are gone.
	later map[string]*source.KV
}

func newRest(bounds []string) (*rest, error) {
	codec, err := newBlockCodec(bounds)
	if err != nil {
		return nil, err
	}
	return &rest{codec: codec, writer: newBlockWriter(codec), cache: newBlockCache(), later: make(map[string]*source.KV)}, nil
}

// add keeps a key. What a block has no place for stands before its value.
func (r *rest) add(kv *source.KV) {
	r.value = binary.AppendUvarint(r.value[:0], uint64(kv.CreateRevision))
	r.value = binary.AppendUvarint(r.value, uint64(kv.Version))
	r.value = append(r.value, kv.Value...)
	r.writer.add(record{key: kv.Key, value: r.value, mod: kv.ModRevision, lease: kv.Lease})
}

func (r *rest) finish() { r.blocks, r.writer = r.writer.finish(), nil }

// find is a key as it was, nil if it was not there.
func (r *rest) find(key string) *source.KV {
	if kv, ok := r.later[key]; ok {
		return kv
	}
	n, found := slices.BinarySearchFunc(r.blocks, key, func(b *block, key string) int { return strings.Compare(b.first, key) })
	if !found {
		n--
	}
	if n < 0 {
		return nil
	}
	keys := r.cache.keys(r.codec, r.blocks[n])
	at, ok := slices.BinarySearchFunc(keys, key, func(e blockKey, key string) int { return strings.Compare(e.key, key) })
	if !ok {
		return nil
	}
	e := &keys[at]
	value := r.cache.value(r.codec, r.blocks[n], e)
	created, size := binary.Uvarint(value)
	version, more := binary.Uvarint(value[size:])
	return &source.KV{
		Key: []byte(key), Value: value[size+more:], CreateRevision: int64(created), ModRevision: e.mod, Version: int64(version), Lease: e.lease,
	}
}
