package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kitescope/internal/hints"
)

// Past is a Source with past revisions. An etcd file and a live etcd have all revisions since the last
// compaction; a bundle may have been saved with past revisions. Use PastOf to get it, because PastOf returns
// the reason if a source has no past revisions.
//
// The header arguments are headers of a Snapshot of the source; they provide the root. Unreadable parts of past
// revisions are Gaps of the snapshots of the source, as with any scan: call Gaps after Changes.
type Past interface {
	Source
	// Oldest returns the oldest revision with a readable state; Changes continues from there. etcd dropped
	// earlier revisions when it was compacted at that revision. Without a compaction it is 1, the empty store.
	Oldest(ctx context.Context, h Header) (int64, error)
	// Changes calls yield with the changes below the root for each revision in (from, to], in order, as Watch
	// does. The events of a revision may come in several calls. They are valid only until yield returns.
	// Revisions without changes below the root are skipped. It returns a *RevisionError if the source does not
	// have a revision.
	Changes(ctx context.Context, h Header, from, to int64, yield func(revision int64, events []Event) error) error
	// PinAt returns the store at a revision. It returns a *RevisionError if the source does not have the
	// revision.
	PinAt(ctx context.Context, h Header, revision int64) (Snapshot, error)
	// GetAt returns one key at a revision, or nil if the key did not exist. It is cheap enough for a search
	// over many revisions.
	GetAt(ctx context.Context, h Header, revision int64, key string) (*KV, error)
}

// Timestamped is a Past that has the wall-clock times of some revisions, independent of the Milvus clock, as a
// recording does.
type Timestamped interface {
	// WriteTimes yields the dated revisions in (from, to], in order. The revisions after the previous dated
	// revision, up to and including this one, were written before the time at.
	WriteTimes(ctx context.Context, from, to int64, yield func(revision int64, at time.Time)) error
}

var (
	_ Past        = (*boltSource)(nil)
	_ Timestamped = (*Recording)(nil)
	_ Timestamped = (*Bundle)(nil)
)

// ErrNoHistory reports that a source holds only one moment.
var ErrNoHistory = errors.New("it has no history")

// PastOf returns the past revisions of a source. It returns ErrNoHistory if the source has none.
func PastOf(src Source) (Past, error) {
	p, ok := src.(Past)
	if b, isBundle := src.(*Bundle); isBundle {
		ok = b.manifest.History != nil
	}
	if ok {
		return p, nil
	}
	return nil,
		hints.Errorf("past revisions are in an etcd, a file of etcdctl snapshot save, an etcd member's db, a "+
			"recording, and a bundle of snapshot save --history",
			"read %s: %w: a %s holds one moment", src.Origin().Location, ErrNoHistory, src.Origin().Kind)
}

// RevisionError reports that a source does not have a revision because it is compacted or not yet written.
type RevisionError struct {
	Where string
	// Wanted is outside the range from Oldest to Newest.
	Wanted, Oldest, Newest int64
}

func (e *RevisionError) Error() string {
	if e.Wanted > e.Newest {
		return fmt.Sprintf("read %s: there is no revision %d: the newest is %d", e.Where, e.Wanted, e.Newest)
	}
	return fmt.Sprintf("read %s: revision %d no longer exists: the oldest is %d, etcd was compacted there",
		e.Where, e.Wanted, e.Oldest)
}

// Unwrap returns ErrCompacted if the revision was compacted.
func (e *RevisionError) Unwrap() error {
	if e.Wanted < e.Oldest {
		return ErrCompacted
	}
	return nil
}

// CheckRevisions returns an error if a revision is not in [oldest, newest] or is less than the preceding one.
func CheckRevisions(where string, oldest, newest int64, wanted ...int64) error {
	for i, r := range wanted {
		if r < oldest || r > newest {
			return &RevisionError{Where: where, Wanted: r, Oldest: oldest, Newest: newest}
		}
		if i > 0 && r < wanted[i-1] {
			return fmt.Errorf("read %s: revision %d is before %d", where, r, wanted[i-1])
		}
	}
	return nil
}
