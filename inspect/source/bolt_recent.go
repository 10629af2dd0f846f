package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"time"
)

// A file of etcd's has every revision since the last compaction, and some of them are dated: Milvus reserves timestamps every few
// seconds. So it can be counted what was written between two reservations, as by Activity while someone watches.
const (
	// recentSpan is how far back is counted, recentLeaves how many pages are read for it at most.
	recentSpan   = time.Minute
	recentLeaves = 4096
)

// recent counts what was written before the last reservation up to a revision, over recentSpan or what there is of it. nil where
// fewer than two reservations are left, or pages are damaged before the second one.
func (s *boltSource) recent(ctx context.Context, root string, leaves []uint64, upTo int64) (*Activity, error) {
	compacted, err := s.compacted()
	if s.guessed || err != nil {
		return nil, nil //nolint:nilnil // unknown is no error
	}
	h := recentHistory{prefix: []byte(root + "/"), compacted: compacted, upTo: upTo, count: newWriteCount(0)}
	for _, key := range allocatorKeys(root) {
		h.allocators = append(h.allocators, []byte(key))
	}
	var buf []byte
	for i, id := range slices.Backward(leaves) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(leaves)-i > recentLeaves {
			break
		}
		n, next, err := s.file.read(id, buf)
		if err != nil || n.flags != flagLeaf || !h.leaf(n) {
			break // what is wrong with a page is said by who reads all
		}
		buf = next
	}
	return h.activity(), nil
}

// compacted is the revision up to which history may be gone, 0 if there was no compaction.
func (s *boltSource) compacted() (int64, error) {
	var at int64
	for _, name := range []string{"scheduledCompactRev", "finishedCompactRev"} {
		v, err := s.lookup(metaBucket, name)
		if err != nil {
			return 0, err
		}
		if len(v) >= revisionBytes {
			at = max(at, int64(binary.BigEndian.Uint64(v)))
		}
	}
	return at, nil
}

// recentHistory is read from the newest record to the oldest.
type recentHistory struct {
	prefix     []byte
	allocators [][]byte
	compacted  int64
	upTo       int64
	count      *writeCount
	// Records since the last reservation that was met wait for the one before it.
	waiting []string
	// last is the newest reservation, first the oldest so far, with their revisions.
	last, first   time.Time
	lastAt, until int64
}

// leaf takes the records of a page, and reports whether earlier ones are wanted.
func (h *recentHistory) leaf(n node) bool {
	for i := n.count - 1; i >= 0; i-- {
		revision, value, bucket, err := n.leaf(i)
		if err != nil || bucket || len(revision) < revisionBytes {
			return false
		}
		at := int64(binary.BigEndian.Uint64(revision))
		if at <= h.compacted {
			return false
		}
		if at > h.upTo {
			continue
		}
		key, err := keyOf(value)
		if err != nil {
			return false
		}
		if !h.last.IsZero() && bytes.HasPrefix(key, h.prefix) {
			h.waiting = append(h.waiting, string(key))
		}
		if !slices.ContainsFunc(h.allocators, func(a []byte) bool { return bytes.Equal(a, key) }) {
			continue
		}
		kv, err := parseKeyValue(value)
		if t := reservation(kv.Value); err != nil || t.IsZero() || !h.reserved(t, at, string(key)) {
			return false
		}
	}
	return true
}

// reserved takes a reservation, and reports whether earlier ones are wanted. A clock that went back ends history.
func (h *recentHistory) reserved(t time.Time, at int64, key string) bool {
	if h.last.IsZero() {
		h.last, h.lastAt, h.waiting = t, at, []string{key}
		return true
	}
	if t.After(h.last) || !h.first.IsZero() && t.After(h.first) || h.last.Sub(t) > recentSpan {
		return false
	}
	h.first, h.until = t, at
	for _, k := range h.waiting[:len(h.waiting)-1] { // this one is of before
		h.count.count(k)
	}
	h.waiting = append(h.waiting[:0], key)
	return true
}

func (h *recentHistory) activity() *Activity {
	if h.first.IsZero() {
		return nil
	}
	a := &Activity{Taken: h.last, Over: h.last.Sub(h.first), Revisions: h.lastAt - h.until}
	a.Writes, a.Hot, a.More = h.count.upTo(0)
	return a
}
