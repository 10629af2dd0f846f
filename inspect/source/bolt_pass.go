package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
)

// A pass reads all leaves of the "key" bucket, which holds every revision of every key in revision order. It
// reads from the newest to the oldest. Therefore only the first record of each key counts, and the key is
// deleted if that record is a tombstone. Workers read chunks of leaves, parse the keys and drop keys that do
// not match. One consumer receives their results in order. bolt_past.go reads in the opposite direction.
const (
	chunkLeaves = 96
	// chunkBytes is the maximum size of a single read.
	chunkBytes = 1 << 20
	// readAhead is the number of chunks that are read ahead.
	readAhead  = 4
	maxWorkers = 4
)

// Revision keys (etcd server/storage/mvcc/revision.go) consist of the main revision as 8 bytes, big-endian,
// '_', the sub revision as 8 bytes, and 't' at the end of a tombstone.
const (
	revisionBytes  = 17
	tombstoneBytes = 18
)

// record is one revision of a key.
type record struct {
	hash      keyHash
	revision  int64
	value     []byte
	tombstone bool
	// class is the result of the classifier for the key.
	class class
}

// class is the reason why a key is selected.
type class uint8

const (
	classNone class = 0
	// classWanted marks keys in the ranges of a Scan.
	classWanted class = 1
	// classRoot marks keys that identify a root.
	classRoot class = 2
)

// chunk is a unit of work for a worker.
type chunk struct {
	leaves []uint64
	// buf holds the pages that the records refer to.
	buf     []byte
	records []record
	// changes holds the result of a pass from the oldest to the newest revision, instead of records.
	changes []Event
	errs    []error
	bad     []badRecords
	ready   chan struct{}
}

// badRecords counts the records of a page that are not key-values.
type badRecords struct {
	page  uint64
	count int64
}

// noKeyValues is the reason of gaps for records that cannot be parsed.
const noKeyValues = "records that are not key-values"

// allRevisions is the upper bound of a pass over all revisions of a file.
const allRevisions = math.MaxInt64

// pass visits the newest revision, up to and including upTo, of each selected live key. It skips later
// revisions.
func (f *boltFile) pass(
	ctx context.Context, leaves []uint64, upTo int64, classify func() func([]byte) class, visit func(KV, class) error,
) error {
	hasher := newKeyHasher()
	var seen seenKeys
	var odd int64
	defer func() {
		if odd > 0 {
			f.gaps.put(Gap{Where: "records", Reason: noKeyValues, Count: odd})
		}
	}()
	load := func() func(*chunk) {
		classifier := classify()
		return func(c *chunk) {
			f.load(c, func(n node) (int64, error) { return collect(c, n, upTo, hasher, classifier) })
		}
	}
	return f.chunks(ctx, backward(leaves), load, func(c *chunk) error {
		for _, r := range c.records {
			if !seen.add(r.hash) || r.tombstone {
				continue
			}
			kv, err := parseKeyValue(r.value)
			if err != nil || kv.ModRevision != r.revision {
				odd++
				continue
			}
			if err := visit(kv, r.class); err != nil {
				return err
			}
		}
		return nil
	})
}

// backward splits leaves into chunks from the last to the first, with the leaves of each chunk in reverse
// order.
func backward(leaves []uint64) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		for end := len(leaves); end > 0; end -= chunkLeaves {
			part := slices.Clone(leaves[max(0, end-chunkLeaves):end])
			slices.Reverse(part)
			if !yield(part) {
				return
			}
		}
	}
}

// chunks loads chunks of leaves in workers and passes them to take in order. It returns an error for damage, or
// adds a gap in salvage mode.
func (f *boltFile) chunks(
	ctx context.Context, parts iter.Seq[[]uint64], loader func() func(*chunk), take func(*chunk) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()

	work := make(chan *chunk)
	order := make(chan *chunk, readAhead)
	free := make(chan *chunk, readAhead+maxWorkers+1)
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		wg.Go(func() {
			load := loader()
			for c := range work {
				load(c)
				close(c.ready)
			}
		})
	}
	wg.Go(func() {
		defer close(order)
		defer close(work)
		for leaves := range parts {
			c := nextChunk(free, leaves)
			select {
			case order <- c:
			case <-ctx.Done():
				return
			}
			select {
			case work <- c:
			case <-ctx.Done():
				close(c.ready)
				return
			}
		}
	})
	return f.consume(ctx, order, free, take)
}

// nextChunk returns a used chunk with its buffers, or a new one.
func nextChunk(free chan *chunk, leaves []uint64) *chunk {
	var c *chunk
	select {
	case c = <-free:
	default:
		c = new(chunk)
	}
	c.leaves, c.ready = leaves, make(chan struct{})
	c.records, c.changes, c.errs, c.bad = c.records[:0], c.changes[:0], c.errs[:0], c.bad[:0]
	return c
}

func (f *boltFile) consume(ctx context.Context, order, free chan *chunk, take func(*chunk) error) error {
	for c := range order {
		<-c.ready
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, err := range c.errs {
			if !f.salvage {
				return err
			}
			f.gaps.add(err)
		}
		for _, b := range c.bad {
			f.gaps.put(Gap{Where: fmt.Sprintf("page %d", b.page), Reason: noKeyValues, Count: b.count})
		}
		if err := take(c); err != nil {
			return err
		}
		select {
		case free <- c:
		default:
		}
	}
	return ctx.Err()
}

// load reads the leaves of the chunk and calls collect for each leaf in order.
func (f *boltFile) load(c *chunk, collect func(node) (bad int64, err error)) {
	nodes := f.readRun(c)
	for _, id := range c.leaves {
		n := nodes[id]
		if n.data == nil {
			continue
		}
		if n.flags != flagLeaf {
			c.errs = append(c.errs, &pageError{n.id, "a branch among leaves"})
			continue
		}
		bad, err := collect(n)
		if err != nil {
			c.errs = append(c.errs, err)
		}
		if bad > 0 {
			c.bad = append(c.bad, badRecords{n.id, bad})
		}
	}
}

// collect appends the records of a leaf, newest first.
func collect(c *chunk, n node, upTo int64, hasher keyHasher, classify func([]byte) class) (bad int64, err error) {
	for i := n.count - 1; i >= 0; i-- {
		revision, value, bucket, err := n.leaf(i)
		if err != nil {
			return bad, err
		}
		if bucket || len(revision) != revisionBytes && len(revision) != tombstoneBytes {
			bad++
			continue
		}
		at := int64(binary.BigEndian.Uint64(revision))
		if at > upTo {
			continue
		}
		key, err := keyOf(value)
		if err != nil || isTombstone(revision) && !bytes.HasSuffix(value, key) { // a tombstone holds only a key
			bad++
			continue
		}
		if cl := classify(key); cl != classNone {
			c.records = append(c.records, record{
				hash: hasher.sum(key), revision: at, value: value, class: cl, tombstone: isTombstone(revision),
			})
		}
	}
	return bad, nil
}

// isTombstone reports whether a record marks its key as deleted.
func isTombstone(revision []byte) bool {
	return len(revision) == tombstoneBytes && revision[revisionBytes] == 't'
}

// readRun reads the pages of the chunk, with one call for each run of neighboring pages.
func (f *boltFile) readRun(c *chunk) map[uint64]node {
	ids := slices.Clone(c.leaves)
	slices.Sort(ids)
	nodes := make(map[uint64]node, len(ids))
	size := uint64(f.meta.pageSize)
	total := 0
	runs := f.runs(ids)
	for _, r := range runs {
		total += int((r.to - r.from) * size)
	}
	c.buf = grow(c.buf[:0], total)
	rest := c.buf
	// after is the first page after the nodes so far. Overlapping nodes are invalid. They would let a small
	// file use an unlimited amount of memory.
	var after uint64
	for _, r := range runs {
		data := rest[:(r.to-r.from)*size]
		rest = rest[len(data):]
		if err := f.readAt(data, r.from, int64(r.from*size)); err != nil {
			// Read page by page instead, so that one bad sector costs only one page.
			data = nil
		}
		for _, id := range r.ids {
			n, err := f.nodeIn(data, r.from, id)
			if err == nil && id < after {
				err = &pageError{id, "it is inside another page"}
			}
			if err != nil {
				c.errs = append(c.errs, err)
				continue
			}
			after = id + uint64(len(n.data))/size
			nodes[id] = n
		}
	}
	return nodes
}

// run is a contiguous range of pages [from, to) that contains the given leaves.
type run struct {
	from, to uint64
	ids      []uint64
}

// runs groups sorted pages that are close to each other.
func (f *boltFile) runs(ids []uint64) []run {
	const hole = 4
	most := uint64(chunkBytes / f.meta.pageSize)
	var out []run
	for i, id := range ids {
		if !f.inFile(id) {
			out = append(out, run{from: id, to: id, ids: ids[i : i+1]})
			continue
		}
		last := len(out) - 1
		if last < 0 || out[last].to == out[last].from || id-out[last].to > hole || id+1-out[last].from > most {
			out = append(out, run{from: id, to: id + 1, ids: ids[i : i+1]})
			continue
		}
		r := &out[last]
		r.to, r.ids = id+1, r.ids[:len(r.ids)+1]
	}
	return out
}

// nodeIn returns node id from data, which starts at page from. It reads the node from the file if it is not
// completely in data.
func (f *boltFile) nodeIn(data []byte, from, id uint64) (node, error) {
	size := uint64(f.meta.pageSize)
	if at := (id - from) * size; at+size <= uint64(len(data)) {
		page := data[at:]
		whole := nodeSize(page, f.meta.pageSize)
		if binary.LittleEndian.Uint64(page) == id && whole <= int64(len(page)) {
			return parseNode(id, page[:whole])
		}
	}
	n, _, err := f.read(id, nil)
	return n, err
}

// isPageError reports whether err is about the content of the file.
func isPageError(err error) bool {
	var page *pageError
	return errors.As(err, &page)
}
