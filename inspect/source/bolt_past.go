package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"kitescope/internal/hints"
)

// The "key" bucket is a store's history: each revision since the last compaction, and of what was before it the newest of each key.
// Changes reads a part of it from the oldest to the newest, with the workers of a pass; nothing is held but the chunks that are
// read ahead and the changes of one revision.

// Oldest is the revision that the store was compacted at, which compaction leaves whole.
func (s *boltSource) Oldest(context.Context, Header) (int64, error) {
	const advice = "what can be read of the newest revision is read without the past"
	if s.swept || s.guessed {
		return 0, hints.Errorf(advice, "read the past of %s: the index of the file is lost", s.in.location)
	}
	compacted, err := s.compacted()
	if err != nil {
		return 0, hints.Errorf(advice, "read the past of %s: when etcd was compacted is not known: %w", s.in.location, err)
	}
	return max(1, compacted), nil // revision 1 is the empty store
}

// PinAt is the file as of a revision.
func (s *boltSource) PinAt(ctx context.Context, h Header, revision int64) (Snapshot, error) {
	if err := s.has(ctx, h, revision); err != nil {
		return nil, err
	}
	leaves, err := s.leavesOf(0, revision)
	if err != nil {
		return nil, s.explain(err)
	}
	return s.pinned(ctx, h, leaves, revision)
}

// GetAt reads from the revision back until it meets the key.
func (s *boltSource) GetAt(ctx context.Context, h Header, revision int64, key string) (*KV, error) {
	if err := s.has(ctx, h, revision); err != nil {
		return nil, err
	}
	leaves, err := s.leavesOf(0, revision)
	if err != nil {
		return nil, s.explain(err)
	}
	var buf []byte
	for _, id := range slices.Backward(leaves) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, next, err := s.file.read(id, buf)
		buf = next
		var kv *KV
		found := false
		if err == nil && n.flags == flagLeaf {
			kv, found, err = lastOf(n, revision, key)
		}
		switch {
		case err != nil && !(s.opts.Salvage && isPageError(err)):
			return nil, s.explain(err)
		case err != nil:
			s.file.gaps.add(err)
		case found:
			return kv, nil
		}
	}
	return nil, nil //nolint:nilnil // the key is not there
}

// lastOf looks for the newest record of a key in a leaf, up to a revision; kv is nil if that is a tombstone.
func lastOf(n node, upTo int64, key string) (kv *KV, found bool, err error) {
	for i := n.count - 1; i >= 0; i-- {
		revision, value, bucket, err := n.leaf(i)
		if err != nil {
			return nil, false, err
		}
		if bucket || !isRevision(revision) || int64(binary.BigEndian.Uint64(revision)) > upTo {
			continue
		}
		if k, err := keyOf(value); err != nil || string(k) != key {
			continue
		}
		if isTombstone(revision) {
			return nil, true, nil
		}
		if record, err := parseKeyValue(value); err == nil {
			record.Key, record.Value = bytes.Clone(record.Key), bytes.Clone(record.Value)
			return &record, true, nil
		}
	}
	return nil, false, nil
}

func (s *boltSource) has(ctx context.Context, h Header, wanted ...int64) error {
	oldest, err := s.Oldest(ctx, h)
	if err != nil {
		return err
	}
	return checkRevisions(s.in.location, oldest, s.revision, wanted...)
}

// Changes reads the records of revisions behind from, up to to. A revision of which the file has nothing is a gap: each
// revision of a store has changed something.
func (s *boltSource) Changes(ctx context.Context, h Header, from, to int64, yield func(revision int64, events []Event) error) error {
	if err := s.has(ctx, h, from, to); err != nil {
		return err
	}
	leaves, err := s.leavesOf(from+1, to)
	if err != nil {
		return s.explain(err)
	}
	prefix := []byte(h.Root + "/")
	load := func() func(*chunk) {
		return func(c *chunk) {
			f := &collector{chunk: c, from: from, to: to, prefix: prefix}
			s.file.load(c, f.collect)
		}
	}
	told := &telling{yield: yield}
	seen := revisionRun{last: from}
	err = s.file.chunks(ctx, forward(leaves), load, func(c *chunk) error {
		if err := s.follow(&seen, c.revisions); err != nil {
			return err
		}
		return told.take(c.changes)
	})
	if err == nil {
		s.lost(revisionSpan{seen.last + 1, to})
		err = told.flush()
	}
	if own, ok := errors.AsType[*yieldError](err); ok {
		return own.err
	}
	if err != nil {
		return s.explain(err)
	}
	return s.unchanged()
}

// forward cuts leaves into chunks from the first to the last.
func forward(leaves []uint64) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		for at := 0; at < len(leaves); at += chunkLeaves {
			if !yield(leaves[at:min(at+chunkLeaves, len(leaves))]) {
				return
			}
		}
	}
}

// leavesOf are the leaves that have the revisions of first to last, and little beside them: the index that leads there was
// not kept, so that the first records are looked at. All of them where one that is damaged hides the way.
func (s *boltSource) leavesOf(first, last int64) ([]uint64, error) {
	var broken error
	begin := func(i int) int64 { // of a leaf
		n, _, err := s.file.read(s.leaves[i], nil)
		var revision []byte
		if err == nil && n.flags == flagLeaf && n.count > 0 {
			revision, _, _, err = n.leaf(0)
		}
		if err == nil && len(revision) < 8 {
			err = &pageError{s.leaves[i], "it does not begin with a revision"}
		}
		if err != nil {
			broken = err
			return 0
		}
		return int64(binary.BigEndian.Uint64(revision))
	}
	// A revision of many keys may go over several leaves, and begin in the one before that which begins with it.
	from := sort.Search(len(s.leaves), func(i int) bool { return begin(i) >= first })
	to := from + sort.Search(len(s.leaves)-from, func(i int) bool { return begin(from+i) > last })
	if broken != nil && len(s.leaves) > 1 {
		if !s.opts.Salvage || !isPageError(broken) {
			return nil, broken
		}
		return s.leaves, nil
	}
	return s.leaves[max(0, from-1):to], nil
}

// revisionSpan are the revisions of first to last.
type revisionSpan struct{ first, last int64 }

// revisionRun is which revisions a part of a file has.
type revisionRun struct {
	// first and last are 0 where it has none; lost are between them.
	first, last int64
	lost        []revisionSpan
}

// add takes the next record's revision, and reports whether it may come here.
func (r *revisionRun) add(revision int64) bool {
	switch {
	case r.first == 0:
		r.first = revision
	case revision < r.last:
		return false
	case revision > r.last+1:
		r.lost = append(r.lost, revisionSpan{r.last + 1, revision - 1})
	}
	r.last = revision
	return true
}

// follow notes what a part has, behind the ones before it.
func (s *boltSource) follow(seen *revisionRun, part revisionRun) error {
	if part.first == 0 {
		return nil
	}
	if part.first < seen.last {
		err := &pageError{s.file.meta.root, fmt.Sprintf("revision %d comes behind %d", part.first, seen.last)}
		if !s.opts.Salvage {
			return err
		}
		s.file.gaps.add(err)
	}
	s.lost(revisionSpan{seen.last + 1, part.first - 1})
	for _, gone := range part.lost {
		s.lost(gone)
	}
	seen.last = max(seen.last, part.last)
	return nil
}

func (s *boltSource) lost(gone revisionSpan) {
	if gone.first > gone.last {
		return
	}
	where := fmt.Sprintf("revisions %d to %d", gone.first, gone.last)
	if gone.first == gone.last {
		where = fmt.Sprintf("revision %d", gone.first)
	}
	s.file.gaps.put(Gap{Where: where, Reason: "not in the file", Count: gone.last - gone.first + 1})
}

// collector takes the changes of leaves into a chunk, oldest first.
type collector struct {
	chunk    *chunk
	from, to int64
	prefix   []byte
}

func (f *collector) collect(n node) (bad int64, err error) {
	for i := range n.count {
		revision, value, bucket, err := n.leaf(i)
		if err != nil {
			return bad, err
		}
		if bucket || len(revision) != revisionBytes && len(revision) != tombstoneBytes {
			bad++
			continue
		}
		at := int64(binary.BigEndian.Uint64(revision))
		if at <= f.from || at > f.to {
			continue
		}
		if !f.chunk.revisions.add(at) {
			return bad, &pageError{n.id, "its revisions are out of order"}
		}
		key, err := keyOf(value)
		if err != nil {
			bad++
			continue
		}
		if !bytes.HasPrefix(key, f.prefix) {
			continue
		}
		event := Event{KV: KV{Key: key, ModRevision: at}, Deleted: isTombstone(revision)}
		if !event.Deleted {
			if event.KV, err = parseKeyValue(value); err != nil {
				bad++
				continue
			}
			event.ModRevision = at // what the record says of itself too, in a file that is whole
		}
		f.chunk.changes = append(f.chunk.changes, event)
	}
	return bad, nil
}

// telling yields changes by revision.
type telling struct {
	yield func(int64, []Event) error
	// held are the events of a revision that may go on in the next chunk. They are copies, of so many bytes.
	held  []Event
	bytes int
}

// take yields what a chunk has, and holds the last revision of it.
func (t *telling) take(changes []Event) error {
	for len(changes) > 0 {
		at := changes[0].ModRevision
		n := sort.Search(len(changes), func(i int) bool { return changes[i].ModRevision > at })
		if len(t.held) > 0 && t.held[0].ModRevision != at {
			if err := t.flush(); err != nil {
				return err
			}
		}
		if len(t.held) > 0 || n == len(changes) {
			if err := t.hold(changes[:n]); err != nil {
				return err
			}
		} else if err := t.tell(at, changes[:n]); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

func (t *telling) hold(events []Event) error {
	for _, e := range events {
		e.Key, e.Value = bytes.Clone(e.Key), bytes.Clone(e.Value)
		t.held = append(t.held, e)
		if t.bytes += len(e.Key) + len(e.Value) + eventBytes; t.bytes > maxHeld {
			if err := t.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *telling) flush() error {
	if len(t.held) == 0 {
		return nil
	}
	err := t.tell(t.held[0].ModRevision, t.held)
	t.held, t.bytes = t.held[:0], 0
	return err
}

func (t *telling) tell(revision int64, events []Event) error {
	if err := t.yield(revision, events); err != nil {
		return &yieldError{err}
	}
	return nil
}
