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

// The "key" bucket is the history of a store. It holds each revision since the last compaction, and the
// newest revision of each key at that time. Changes reads a part of the bucket from the oldest to the newest
// revision, with the workers of a pass. It holds in memory only the chunks that are read ahead and the
// changes of one revision.

// Oldest returns the revision of the last compaction, whose state compaction keeps complete.
func (s *boltSource) Oldest(context.Context, Header) (int64, error) {
	const advice = "the newest revision can still be read, without the past"
	if s.indexLost || s.metaGuessed {
		return 0, hints.Errorf(advice, "read the past of %s: the index of the file is lost", s.in.location)
	}
	compacted, err := s.compactedRevision()
	if err != nil {
		return 0, hints.Errorf(advice, "read the past of %s: unknown when etcd was compacted: %w", s.in.location, err)
	}
	return max(1, compacted), nil // revision 1 is the empty store
}

// PinAt returns the file at a revision.
func (s *boltSource) PinAt(ctx context.Context, h Header, revision int64) (Snapshot, error) {
	if err := s.checkRevisions(ctx, h, revision); err != nil {
		return nil, err
	}
	leaves, err := s.leavesOf(0, revision)
	if err != nil {
		return nil, s.explain(err)
	}
	return s.snapshotAt(ctx, h, leaves, revision)
}

// GetAt reads backward from the revision until it finds the key.
func (s *boltSource) GetAt(ctx context.Context, h Header, revision int64, key string) (found *KV, err error) {
	if err := s.checkRevisions(ctx, h, revision); err != nil {
		return nil, err
	}
	leaves, err := s.leavesOf(0, revision)
	if err != nil {
		return nil, s.explain(err)
	}
	err = s.file.pass(ctx, leaves, revision, classifyKeys(key), func(kv KV, _ class) error {
		found = cloneKV(kv)
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return nil, s.explain(err)
	}
	return found, nil
}

// classifyKeys returns a classifier that selects the given keys.
func classifyKeys(keys ...string) func() func([]byte) class {
	return func() func([]byte) class {
		return func(k []byte) class {
			if slices.Contains(keys, string(k)) {
				return classWanted
			}
			return classNone
		}
	}
}

func (s *boltSource) checkRevisions(ctx context.Context, h Header, wanted ...int64) error {
	oldest, err := s.Oldest(ctx, h)
	if err != nil {
		return err
	}
	return CheckRevisions(s.in.location, oldest, s.revision, wanted...)
}

// Changes reads the records of revisions in (from, to].
func (s *boltSource) Changes(
	ctx context.Context, h Header, from, to int64, yield func(revision int64, events []Event) error,
) error {
	if err := s.checkRevisions(ctx, h, from, to); err != nil {
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
	last := from
	err = s.file.chunks(ctx, forward(leaves), load, func(c *chunk) error {
		return byRevision(c.changes, func(revision int64, events []Event) error {
			if revision < last {
				return &pageError{s.file.meta.root, fmt.Sprintf("revision %d comes after %d", revision, last)}
			}
			last = revision
			return wrapYield(yield(revision, events))
		})
	})
	if own, ok := errors.AsType[*yieldError](err); ok {
		return own.err
	}
	if err != nil {
		return s.explain(err)
	}
	return s.checkUnchanged()
}

// forward splits leaves into chunks from the first to the last.
func forward(leaves []uint64) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		for at := 0; at < len(leaves); at += chunkLeaves {
			if !yield(leaves[at:min(at+chunkLeaves, len(leaves))]) {
				return
			}
		}
	}
}

// leavesOf returns the leaves with the revisions from first to last, and at most a few others. It reads the
// first records of leaves, because the index is not kept. It returns all leaves if a damaged leaf prevents the
// search.
func (s *boltSource) leavesOf(first, last int64) ([]uint64, error) {
	var broken error
	begin := func(i int) int64 { // the first revision of a leaf
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
	// A revision with many keys may span several leaves. It may start in the leaf before the first leaf that
	// begins with the revision.
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

// collector appends the changes of leaves to a chunk, oldest first.
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
			if event.KV, err = parseKeyValue(value); err != nil || event.ModRevision != at {
				bad++
				continue
			}
		}
		f.chunk.changes = append(f.chunk.changes, event)
	}
	return bad, nil
}

// byRevision calls yield for each revision with its changes.
func byRevision(changes []Event, yield func(revision int64, events []Event) error) error {
	for len(changes) > 0 {
		at, n := changes[0].ModRevision, 1
		for n < len(changes) && changes[n].ModRevision == at {
			n++
		}
		if err := yield(at, changes[:n:n]); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}
