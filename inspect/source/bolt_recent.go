package source

import (
	"context"
	"encoding/binary"
	"slices"

	"kitescope/inspect/model"
)

// recentLeaves is the maximum number of pages to read when counting the most recent writes.
const recentLeaves = 4096

// recentWrites counts the writes before the last reservation up to a revision, over at most RecentSpan. It returns
// nil if there are fewer than two reservations or if pages before the second one are damaged.
func (s *boltSource) recentWrites(
	ctx context.Context, root string, leaves []uint64, upTo int64,
) (*model.EtcdActivity, error) {
	compacted, err := s.compactedRevision()
	if s.metaGuessed || err != nil {
		return nil, nil //nolint:nilnil // unknown is no error
	}
	h := NewRecent(root)
	var buf []byte
	for i, id := range slices.Backward(leaves) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(leaves)-i > recentLeaves {
			break
		}
		n, next, err := s.file.read(id, buf)
		if err != nil || n.flags != flagLeaf || !recentLeaf(h, n, compacted, upTo) {
			break // damage is reported when all pages are read
		}
		buf = next
	}
	return h.Activity(), nil
}

// compactedRevision returns the revision of the last compaction, up to which revisions may be missing. It returns 0 if
// there was no compaction.
func (s *boltSource) compactedRevision() (int64, error) {
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

// recentLeaf passes the records of a page to h, newest first, and reports whether earlier records are needed.
func recentLeaf(h *Recent, n node, compacted, upTo int64) bool {
	for i := n.count - 1; i >= 0; i-- {
		revision, value, bucket, err := n.leaf(i)
		if err != nil || bucket || len(revision) < revisionBytes {
			return false
		}
		at := int64(binary.BigEndian.Uint64(revision))
		if at <= compacted {
			return false
		}
		if at > upTo {
			continue
		}
		key, err := keyOf(value)
		if err != nil {
			return false
		}
		var reserved []byte
		if h.IsReservation(key) {
			kv, err := parseKeyValue(value)
			if err != nil {
				return false
			}
			reserved = kv.Value
		}
		if !h.Add(at, key, reserved) {
			return false
		}
	}
	return true
}
