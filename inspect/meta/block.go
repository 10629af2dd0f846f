package meta

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	// blockSize is the size of a block's keys and values before compression, in bytes.
	blockSize = 256 << 10
	// runSize is the number of bytes that are sorted in memory while a store is read in any order.
	runSize = 8 << 20
)

const (
	flagTombstone = 1 << iota
	flagHistory
)

// record is one key to be packed into a block.
type record struct {
	key, value []byte
	mod, lease int64
	kind       kindID
	flags      byte
}

// block holds consecutive keys, front-coded. Values are compressed apart from the keys, so a key lookup does not
// unpack values.
type block struct {
	first, last  string
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

// blockCodec packs and unpacks blocks. At most one goroutine may pack; any number may unpack.
type blockCodec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	// bounds are sorted keys at which a block must end. A store is read in two passes, and a block must not span
	// keys of both.
	bounds []string
	// scratch buffers of pack
	keyBytes, valueBytes, packed []byte
}

func newBlockCodec(bounds []string) (*blockCodec, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(blockSize), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("make a zstd encoder: %w", err)
	}
	// No memory limit is needed, because only blocks that were packed here are unpacked.
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("make a zstd decoder: %w", err)
	}
	return &blockCodec{encoder: encoder, decoder: decoder, bounds: bounds}, nil
}

// pack packs sorted records into one block.
func (c *blockCodec) pack(records []record) *block {
	keys, values := c.keyBytes[:0], c.valueBytes[:0]
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
	c.keyBytes, c.valueBytes = keys, values
	return &block{
		first: string(records[0].key), last: string(before), n: len(records), keys: c.compress(keys),
		values: c.compress(values),
	}
}

func (c *blockCodec) compress(b []byte) []byte {
	c.packed = c.encoder.EncodeAll(b, c.packed[:0])
	return bytes.Clone(c.packed)
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

// keys unpacks the keys of a block.
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
	var text []byte // all keys, concatenated
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

// records unpacks the keys and values of a block.
func (c *blockCodec) records(b *block) []record {
	keys, values := c.keys(b), c.values(b)
	out := make([]record, len(keys))
	for i := range keys {
		k := &keys[i]
		out[i] = record{[]byte(k.key), values[k.at : k.at+k.size], k.mod, k.lease, k.kind, k.flags}
	}
	return out
}

// packAll packs sorted records into blocks of about blockSize, and also splits them at the bounds.
func (c *blockCodec) packAll(records []record) []*block {
	var blocks []*block
	size, from := 0, 0
	bounds := c.bounds
	for i := range records {
		passed := len(bounds)
		for len(bounds) > 0 && string(records[i].key) >= bounds[0] {
			bounds = bounds[1:]
		}
		if from < i && (size >= blockSize || len(bounds) < passed) {
			blocks = append(blocks, c.pack(records[from:i]))
			size, from = 0, i
		}
		size += len(records[i].key) + len(records[i].value)
	}
	if from < len(records) {
		blocks = append(blocks, c.pack(records[from:]))
	}
	return blocks
}

// apply returns the blocks after changes are applied. A nil change removes the key. Only blocks with a changed key
// are packed again.
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
		at, found := slices.BinarySearchFunc(records, []byte(key), func(r record, key []byte) int {
			return bytes.Compare(r.key, key)
		})
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

// blockWriter turns records that arrive in any order into sorted blocks. It holds at most runSize bytes unpacked
// (or one larger record): it sorts and packs each run, and finally merges overlapping blocks of different runs.
type blockWriter struct {
	codec   *blockCodec
	pending []record
	arena   []byte
	blocks  []*block
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
	byKey := func(a, b record) int { return bytes.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(w.pending, byKey) {
		slices.SortFunc(w.pending, byKey)
	}
	w.blocks = append(w.blocks, w.codec.packAll(w.pending)...)
	w.pending, w.arena = w.pending[:0], w.arena[:0]
}

// finish returns all blocks in key order.
func (w *blockWriter) finish() []*block {
	w.flush()
	w.pending, w.arena = nil, nil
	slices.SortFunc(w.blocks, func(a, b *block) int { return strings.Compare(a.first, b.first) })
	var out []*block
	for from := 0; from < len(w.blocks); {
		to, last := from+1, w.blocks[from].last
		for to < len(w.blocks) && w.blocks[to].first <= last {
			last = max(last, w.blocks[to].last)
			to++
		}
		if to == from+1 {
			out = append(out, w.blocks[from])
		} else {
			out = append(out, w.merge(w.blocks[from:to])...)
		}
		from = to
	}
	return out
}

// merge merges overlapping blocks, which are sorted by first key. It unpacks only the blocks that may hold the
// current key: one of each run.
func (w *blockWriter) merge(blocks []*block) []*block {
	var out []*block
	var open [][]record // by the key of their first record
	var ready []record
	size := 0
	for len(blocks) > 0 || len(open) > 0 {
		for len(blocks) > 0 && (len(open) == 0 || blocks[0].first <= string(open[0][0].key)) {
			open = insertByKey(open, w.codec.records(blocks[0]))
			blocks = blocks[1:]
		}
		list := open[0]
		ready = append(ready, list[0])
		size += len(list[0].key) + len(list[0].value)
		open = open[1:]
		if list = list[1:]; len(list) > 0 {
			open = insertByKey(open, list)
		}
		if size >= runSize {
			out = append(out, w.codec.packAll(ready)...)
			ready, size = ready[:0], 0
		}
	}
	return append(out, w.codec.packAll(ready)...)
}

func insertByKey(open [][]record, list []record) [][]record {
	at, _ := slices.BinarySearchFunc(open, list[0].key, func(l []record, key []byte) int {
		return bytes.Compare(l[0].key, key)
	})
	return slices.Insert(open, at, list)
}
