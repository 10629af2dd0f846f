package meta

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// keyspace is one state of all keys: compressed blocks in key order. They are packed on first use.
type keyspace struct {
	grammar      *grammar
	packing      *packing
	cache        *blockCache
	codec        *blockCodec
	decompressor *decompressor
	parts        model.Parts // of the same state, to find the keys of objects
}

func newKeyspace(r *recordStore, parts model.Parts) *keyspace {
	parts.Keyspace = nil // otherwise every state would retain the previous one
	return &keyspace{
		grammar: r.grammar, packing: r.packing, cache: r.cache, codec: r.codec, decompressor: r.decompressor,
		parts: parts,
	}
}

// Len returns the number of keys.
func (k *keyspace) Len() int {
	_, starts := k.packing.pack()
	return starts[len(starts)-1]
}

// blockOf returns the block of the i-th key and the key's position in it.
func (k *keyspace) blockOf(i int) (b *block, at int) {
	blocks, starts := k.packing.pack()
	n, found := slices.BinarySearch(starts, i)
	if !found {
		n--
	}
	return blocks[n], i - starts[n]
}

// Info describes the i-th key.
func (k *keyspace) Info(i int) model.KeyInfo {
	b, at := k.blockOf(i)
	return k.info(&k.cache.keys(k.codec, b)[at])
}

// Collection returns the collection that the i-th key names, 0 if there is none.
func (k *keyspace) Collection(i int) model.CollectionID {
	b, at := k.blockOf(i)
	parts, err := k.grammar.parse([]byte(k.cache.keys(k.codec, b)[at].key))
	if err != nil {
		return 0
	}
	return k.grammar.collection(&parts)
}

func (k *keyspace) info(e *blockKey) model.KeyInfo {
	parts, err := k.grammar.parse([]byte(e.key))
	info := model.KeyInfo{
		Key: k.grammar.safeKey(&parts, err, e.key), Size: e.size, ModRevision: e.mod, Lease: e.lease,
		Tombstone: e.flags&flagTombstone != 0,
	}
	switch kind := k.grammar.kinds[e.kind]; {
	case e.flags&flagHistory != 0:
		info.Kind = "history"
	case kind != nil:
		info.Kind = kind.name
	}
	return info
}

// Find returns the position of key, or its insertion point if it is missing.
func (k *keyspace) Find(key string) (i int, ok bool) {
	blocks, starts := k.packing.pack()
	n, found := slices.BinarySearchFunc(blocks, key, func(b *block, key string) int {
		return strings.Compare(b.first, key)
	})
	if !found {
		n--
	}
	if n < 0 {
		return 0, false
	}
	at, ok := slices.BinarySearchFunc(k.cache.keys(k.codec, blocks[n]), key, func(e blockKey, key string) int {
		return strings.Compare(e.key, key)
	})
	return starts[n] + at, ok
}

// Record decodes the i-th key's value.
func (k *keyspace) Record(i int) model.Record {
	b, at := k.blockOf(i)
	e := k.cache.keys(k.codec, b)[at]
	r := model.Record{KeyInfo: k.info(&e), Raw: k.cache.value(k.codec, b, &e)}
	parsed, err := k.grammar.parse([]byte(e.key))
	switch {
	case err != nil:
		r.Problem = err.Error()
		describePlain(&r)
	case e.flags&flagTombstone != 0:
		r.Message, r.Text = "text", "tombstone: dropped"
		if parsed.history {
			r.Text += " at " + parsed.at.Time().Format(time.RFC3339Nano)
		}
	default:
		k.describe(&r, k.grammar.kinds[parsed.kind])
	}
	return r
}

// describe decodes a value in the encoding of its kind.
func (k *keyspace) describe(r *model.Record, kind *kind) {
	kv := source.KV{Key: []byte(r.Key), Value: r.Raw}
	r.Problem = k.problem(kv)
	s := state{grammar: k.grammar, decompressor: k.decompressor, undecoded: make(map[string][]*model.Undecoded)}
	value, err := s.decode(kind, kv)
	if err != nil {
		r.Problem = err.Error()
		describePlain(r)
		return
	}
	switch kind.enc {
	case encProto, encZstdProto:
		if m, ok := value.(proto.Message); ok {
			r.Message, r.Text = string(m.ProtoReflect().Descriptor().FullName()), messageJSON(m)
		}
	case encJSON:
		r.Message, r.Text = "json", indentJSON(r.Raw)
	case encNumber:
		r.Message, r.Text = "int", string(r.Raw)
	case encTime:
		r.Message, r.Text = "time", value.(time.Time).Format(time.RFC3339Nano)
	default:
		describePlain(r)
	}
}

// problem returns the reasons why a load would list the key as undecoded: unknown fields, and ids that
// contradict the key.
func (k *keyspace) problem(kv source.KV) string {
	s := emptyState(k.grammar, k.decompressor)
	s.put(kv, false)
	var reasons []string
	for _, u := range s.undecoded[string(kv.Key)] {
		reasons = append(reasons, u.Reason)
	}
	return strings.Join(reasons, "; ")
}

// describePlain formats a value of unknown type as JSON, as text or as hex.
func describePlain(r *model.Record) {
	switch {
	case len(r.Raw) > 1 && (r.Raw[0] == '{' || r.Raw[0] == '[') && utf8.Valid(r.Raw):
		r.Message, r.Text = "json", indentJSON(r.Raw)
	case printable(r.Raw):
		r.Message, r.Text = "text", string(r.Raw)
	default:
		r.Message, r.Text = "binary", hex.EncodeToString(r.Raw)
	}
}

func printable(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\n' && c != '\t' })
}

// cachedBlocks is the number of unpacked blocks in the cache: enough for a page and its neighbours.
const cachedBlocks = 12

// blockCache holds the most recently unpacked blocks.
type blockCache struct {
	mu     sync.Mutex
	recent []*cachedBlock // most recently used first
}

type cachedBlock struct {
	block  *block
	keys   []blockKey
	values []byte // nil until a value is requested
}

func newBlockCache() *blockCache { return &blockCache{} }

func (c *blockCache) get(codec *blockCodec, b *block) *cachedBlock {
	for i, x := range c.recent {
		if x.block == b {
			copy(c.recent[1:i+1], c.recent[:i])
			c.recent[0] = x
			return x
		}
	}
	x := &cachedBlock{block: b, keys: codec.keys(b)}
	if len(c.recent) < cachedBlocks {
		c.recent = append(c.recent, nil)
	}
	copy(c.recent[1:], c.recent)
	c.recent[0] = x
	return x
}

func (c *blockCache) keys(codec *blockCodec, b *block) []blockKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.get(codec, b).keys
}

func (c *blockCache) value(codec *blockCodec, b *block, e *blockKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.get(codec, b)
	if x.values == nil {
		x.values = codec.values(b)
	}
	return bytes.Clone(x.values[e.at : e.at+e.size])
}

var _ model.Keyspace = (*keyspace)(nil)
