package meta

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/klauspost/compress/zstd"
)

const (
	// blockSize is how many bytes of keys and values go into a block before compression.
	blockSize = 256 << 10
	// runSize is how many bytes are sorted in memory while a store is read in any order.
	runSize = 8 << 20
)

const (
	flagTombstone = 1 << iota
	flagHistory
)

// record is one key on its way into a block.
type record struct {
	key, value []byte
	mod, lease int64
	kind       kindID
	flags      byte
}

// block holds consecutive keys, front-coded, apart from their values: looking for a
// key need not unpack values.
type block struct {
	first        string
	n            int
	keys, values []byte // compressed
}

// blockKey is one key of an unpacked block; its value is at values[at:at+size].
type blockKey struct {
	key        string
	at, size   int
	mod, lease int64
	kind       kindID
	flags      byte
}

// blockCodec packs and unpacks blocks. It is safe for concurrent use.
type blockCodec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func newBlockCodec() (*blockCodec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(blockSize), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("make a zstd encoder: %w", err)
	}
	decoder, err := newUnzip()
	if err != nil {
		return nil, err
	}
	return &blockCodec{encoder, decoder}, nil
}

// newUnzip makes a decoder for DecodeAll. What a damaged value can make it allocate is
// bounded: QueryCoord's targets, the largest values, are far smaller.
func newUnzip() (*zstd.Decoder, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<28))
	if err != nil {
		return nil, fmt.Errorf("make a zstd decoder: %w", err)
	}
	return decoder, nil
}

// pack makes a block of sorted records.
func (c *blockCodec) pack(records []record) *block {
	var keys, values []byte
	var before []byte
	for i := range records {
		r := &records[i]
		shared := commonPrefix(before, r.key)
		keys = binary.AppendUvarint(keys, uint64(shared))
		keys = binary.AppendUvarint(keys, uint64(len(r.key)-shared))
		keys = append(keys, r.key[shared:]...)
		keys = append(keys, byte(r.kind), r.flags)
		keys = binary.AppendUvarint(keys, uint64(len(r.value)))
		keys = binary.AppendUvarint(keys, uint64(r.mod))
		keys = binary.AppendUvarint(keys, uint64(r.lease))
		values = append(values, r.value...)
		before = r.key
	}
	return &block{
		first: string(records[0].key), n: len(records),
		keys: bytes.Clone(c.encoder.EncodeAll(keys, nil)), values: bytes.Clone(c.encoder.EncodeAll(values, nil)),
	}
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// keys unpacks the keys of a block that pack made.
func (c *blockCodec) keys(b *block) []blockKey {
	packed, err := c.decoder.DecodeAll(b.keys, nil)
	if err != nil {
		panic("meta: a block that was packed here does not unpack: " + err.Error())
	}
	read := func() int {
		v, n := binary.Uvarint(packed)
		packed = packed[n:]
		return int(v)
	}
	out := make([]blockKey, b.n)
	var text []byte // all keys, one after the other
	ends := make([]int, b.n)
	start, at := 0, 0
	for i := range out {
		shared, fresh := read(), read()
		next := len(text)
		text = append(text, text[start:start+shared]...)
		text = append(text, packed[:fresh]...)
		packed = packed[fresh:]
		start, ends[i] = next, len(text)
		e := &out[i]
		e.kind, e.flags = kindID(packed[0]), packed[1]
		packed = packed[2:]
		e.at, e.size = at, read()
		e.mod, e.lease = int64(read()), int64(read())
		at += e.size
	}
	all := string(text)
	from := 0
	for i, end := range ends {
		out[i].key = all[from:end]
		from = end
	}
	return out
}

// values unpacks the values of a block.
func (c *blockCodec) values(b *block) []byte {
	out, err := c.decoder.DecodeAll(b.values, make([]byte, 0, blockSize))
	if err != nil {
		panic("meta: a block that was packed here does not unpack: " + err.Error())
	}
	return out
}

// records unpacks a block whole.
func (c *blockCodec) records(b *block) []record {
	keys, values := c.keys(b), c.values(b)
	out := make([]record, len(keys))
	for i := range keys {
		k := &keys[i]
		out[i] = record{[]byte(k.key), values[k.at : k.at+k.size], k.mod, k.lease, k.kind, k.flags}
	}
	return out
}

// packAll packs sorted records into blocks.
func (c *blockCodec) packAll(records []record) []*block {
	var blocks []*block
	size, from := 0, 0
	for i := range records {
		size += len(records[i].key) + len(records[i].value)
		if size >= blockSize {
			blocks = append(blocks, c.pack(records[from:i+1]))
			size, from = 0, i+1
		}
	}
	if from < len(records) {
		blocks = append(blocks, c.pack(records[from:]))
	}
	return blocks
}

// apply returns the blocks after some changes; nil removes a key. Only blocks with a
// changed key are packed anew.
func (c *blockCodec) apply(blocks []*block, changes map[string]*record) []*block {
	keys := slices.Sorted(maps.Keys(changes))
	if len(blocks) == 0 {
		return c.packAll(mergeChanges(nil, keys, changes))
	}
	out := make([]*block, 0, len(blocks)+1)
	for i, b := range blocks {
		n := len(keys)
		if i+1 < len(blocks) {
			n, _ = slices.BinarySearch(keys, blocks[i+1].first)
		}
		if n == 0 {
			out = append(out, b)
			continue
		}
		out = append(out, c.packAll(mergeChanges(c.records(b), keys[:n], changes))...)
		keys = keys[n:]
	}
	return out
}

// mergeChanges applies sorted changes to sorted records.
func mergeChanges(records []record, keys []string, changes map[string]*record) []record {
	out := make([]record, 0, len(records)+len(keys))
	for _, key := range keys {
		at, found := slices.BinarySearchFunc(records, []byte(key), func(r record, key []byte) int { return bytes.Compare(r.key, key) })
		out = append(out, records[:at]...)
		records = records[at:]
		if found {
			records = records[1:]
		}
		if change := changes[key]; change != nil {
			out = append(out, *change)
		}
	}
	return append(out, records...)
}

// blockWriter turns records that arrive in any order into sorted blocks, holding
// runSize of them unpacked: each run is sorted and packed; if runs overlap, they are merged.
type blockWriter struct {
	codec   *blockCodec
	pending []record
	arena   []byte
	runs    [][]*block
	ends    []string // the last key of each run
}

func newBlockWriter(codec *blockCodec) *blockWriter { return &blockWriter{codec: codec} }

func (w *blockWriter) add(r record) {
	size := len(r.key) + len(r.value)
	if len(w.arena)+size > cap(w.arena) {
		w.flush()
		if w.arena == nil || size > cap(w.arena) {
			w.arena = make([]byte, 0, max(runSize, size))
		}
	}
	at := len(w.arena)
	w.arena = append(append(w.arena, r.key...), r.value...)
	r.key, r.value = w.arena[at:at+len(r.key)], w.arena[at+len(r.key):]
	w.pending = append(w.pending, r)
}

func (w *blockWriter) flush() {
	if len(w.pending) == 0 {
		return
	}
	byKey := func(a, b record) int { return bytes.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(w.pending, byKey) {
		slices.SortFunc(w.pending, byKey)
	}
	w.runs = append(w.runs, w.codec.packAll(w.pending))
	w.ends = append(w.ends, string(w.pending[len(w.pending)-1].key))
	w.pending, w.arena = w.pending[:0], w.arena[:0]
}

// finish returns all blocks in order.
func (w *blockWriter) finish() []*block {
	w.flush()
	w.pending, w.arena = nil, nil
	order := make([]int, len(w.runs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare([]byte(w.runs[a][0].first), []byte(w.runs[b][0].first)) })
	overlap := false
	for i := 1; i < len(order); i++ {
		overlap = overlap || w.runs[order[i]][0].first <= w.ends[order[i-1]]
	}
	if overlap {
		return w.merge()
	}
	var blocks []*block
	for _, i := range order {
		blocks = append(blocks, w.runs[i]...)
	}
	return blocks
}

// merge joins runs that overlap, one block of each unpacked at a time.
func (w *blockWriter) merge() []*block {
	cursors := make([]runCursor, len(w.runs))
	for i, run := range w.runs {
		cursors[i] = runCursor{codec: w.codec, blocks: run}
	}
	var blocks []*block
	var records []record
	size := 0
	for {
		var next *runCursor
		for i := range cursors {
			if c := &cursors[i]; c.load() && (next == nil || bytes.Compare(c.records[0].key, next.records[0].key) < 0) {
				next = c
			}
		}
		if next == nil {
			break
		}
		r := next.records[0]
		next.records = next.records[1:]
		records = append(records, r)
		if size += len(r.key) + len(r.value); size >= blockSize {
			blocks = append(blocks, w.codec.pack(records))
			records, size = records[:0], 0
		}
	}
	if len(records) > 0 {
		blocks = append(blocks, w.codec.pack(records))
	}
	return blocks
}

// runCursor walks a run.
type runCursor struct {
	codec   *blockCodec
	blocks  []*block
	records []record
}

// load makes sure that a record is at hand; false at the end of the run.
func (c *runCursor) load() bool {
	for len(c.records) == 0 {
		if len(c.blocks) == 0 {
			return false
		}
		c.records = c.codec.records(c.blocks[0])
		c.blocks = c.blocks[1:]
	}
	return true
}
