package meta

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// packing is one state of all keys as blocks. Blocks never change; a later state shares the unchanged ones.
// Changes are packed on first use, or when there are many. So following a store costs little if nobody reads its
// keys.
type packing struct {
	codec *blockCodec

	mu *sync.Mutex // shared by all states of a store; guards the fields below
	// before is an earlier state, to which changes apply; nil after this state is packed.
	before  *packing
	changes map[string]*record
	// pending is the volume of changes since the last state that was packed when this one was made.
	pending volume
	blocks  []*block
	starts  []int // position of each block's first key, plus the total
}

// Limits of changes that wait to be packed: keys, counted once per write, and bytes.
const (
	pendingKeys  = 1 << 16
	pendingBytes = 32 << 20
)

func newPacking(codec *blockCodec, blocks []*block) *packing {
	p := &packing{codec: codec, mu: new(sync.Mutex)}
	p.set(blocks)
	return p
}

// next returns the state after some changes. It takes ownership of changes.
func (p *packing) next(changes map[string]*record) *packing {
	next := &packing{codec: p.codec, mu: p.mu, before: p, changes: changes}
	for key, r := range changes {
		next.pending.keys++
		next.pending.bytes += int64(len(key))
		if r != nil {
			next.pending.bytes += int64(len(r.key) + len(r.value))
		}
	}
	p.mu.Lock()
	next.pending.keys += p.pending.keys
	next.pending.bytes += p.pending.bytes
	p.mu.Unlock()
	if next.pending.keys > pendingKeys || next.pending.bytes > pendingBytes {
		next.pack()
	}
	return next
}

// pack returns the blocks and the positions of their first keys. A packed state drops its predecessors, because
// otherwise each state would retain all earlier ones and their changes. States in between are left unpacked and
// are packed separately if they are used.
func (p *packing) pack() (blocks []*block, starts []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.before == nil {
		return p.blocks, p.starts
	}
	var waiting []map[string]*record // newest first
	from := p
	for ; from.before != nil; from = from.before {
		waiting = append(waiting, from.changes)
	}
	changes := make(map[string]*record)
	for _, later := range slices.Backward(waiting) {
		maps.Copy(changes, later)
	}
	p.set(p.codec.apply(from.blocks, changes))
	return p.blocks, p.starts
}

func (p *packing) set(blocks []*block) {
	p.before, p.changes, p.pending = nil, nil, volume{}
	p.blocks, p.starts = blocks, make([]int, len(blocks)+1)
	for i, b := range blocks {
		p.starts[i+1] = p.starts[i] + b.n
	}
}

// recordStore collects keys for a keyspace: first all keys in any order, later the changes. It must be used by one
// goroutine. Its keyspaces may be used by any.
type recordStore struct {
	grammar      *grammar
	codec        *blockCodec
	decompressor *decompressor
	cache        *blockCache
	writer       *blockWriter       // nil after the store was read
	packing      *packing           // of the last keyspace
	changes      map[string]*record // since then; nil: removed
}

func newRecordStore(g *grammar, values *decompressor) (*recordStore, error) {
	var bounds []string
	for _, h := range g.hot {
		r := source.Prefix(string(g.meta) + string(h.prefix))
		bounds = append(bounds, r.From, r.To)
	}
	slices.Sort(bounds)
	codec, err := newBlockCodec(bounds)
	if err != nil {
		return nil, err
	}
	return &recordStore{
		grammar: g, codec: codec, decompressor: values, cache: newBlockCache(), writer: newBlockWriter(codec),
		changes: make(map[string]*record),
	}, nil
}

// put stores a key with its secrets redacted.
func (r *recordStore) put(kv source.KV, k *keyParts, err error) {
	e := record{key: kv.Key, value: r.grammar.redact(kv, k, err), mod: kv.ModRevision, lease: kv.Lease, kind: k.kind}
	if k.history {
		e.flags |= flagHistory
	}
	if err != nil {
		e.kind = kindUnknown
	} else if isTombstone(kv.Value) {
		e.flags |= flagTombstone
	}
	if r.writer != nil {
		r.writer.add(e)
		return
	}
	e.key, e.value = bytes.Clone(e.key), bytes.Clone(e.value)
	r.changes[string(e.key)] = &e
}

func (r *recordStore) remove(key []byte) { r.changes[string(key)] = nil }

// keyspace returns the current keys.
func (r *recordStore) keyspace(parts model.Parts) *keyspace {
	if r.writer != nil {
		r.packing, r.writer = newPacking(r.codec, r.writer.finish()), nil
	}
	if len(r.changes) > 0 {
		r.packing = r.packing.next(r.changes)
		r.changes = make(map[string]*record)
	}
	return newKeyspace(r, parts)
}
