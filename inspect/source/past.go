package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kitescope/internal/hints"
)

// Past is a Source that keeps past revisions: a file of etcd's or a live etcd, which have all since the last compaction, and a
// bundle that was saved with them. Take it from PastOf, which says why a source has none.
//
// A header is that of a Snapshot of the source: it names the root. What could not be read of the past is a Gap of the snapshots
// of the source, as of any reading: ask for Gaps behind Changes.
type Past interface {
	Source
	// Oldest is the oldest revision whose state can be read; Changes goes on from there. What was before it, etcd has dropped when
	// it was compacted at that revision. It is 1, the store without a key, where there was no compaction.
	Oldest(ctx context.Context, h Header) (int64, error)
	// Changes calls yield with the changes below the root of each revision in (from, to], in order, as Watch does: the events of
	// one revision may come in several calls, and are valid only until yield returns. It is not called for
	// revisions that changed nothing below the root. A revision that the source does not have is a *RevisionError.
	Changes(ctx context.Context, h Header, from, to int64, yield func(revision int64, events []Event) error) error
	// PinAt is the store as it was at a revision. One that the source does not have is a *RevisionError.
	PinAt(ctx context.Context, h Header, revision int64) (Snapshot, error)
	// GetAt is one key as it was at a revision, nil if it was not there: cheap, for who looks for a revision among many.
	GetAt(ctx context.Context, h Header, revision int64, key string) (*KV, error)
}

// Dated is a Past that knows by another clock than Milvus's when it had come to some revisions: a recording.
type Dated interface {
	// Recorded yields those in (from, to], in order: what is behind the one before was written until then.
	Recorded(ctx context.Context, from, to int64, yield func(revision int64, at time.Time)) error
}

var (
	_ Past  = (*boltSource)(nil)
	_ Dated = (*Recording)(nil)
	_ Dated = (*Bundle)(nil)
)

// ErrNoHistory says that a source holds one moment only.
var ErrNoHistory = errors.New("it has no history")

// PastOf is what a source keeps of past revisions; ErrNoHistory where that is nothing.
func PastOf(src Source) (Past, error) {
	p, ok := src.(Past)
	if b, isBundle := src.(*Bundle); isBundle {
		ok = b.manifest.History != nil
	}
	if ok {
		return p, nil
	}
	return nil, hints.Errorf("past revisions are in an etcd, a file of etcdctl snapshot save, an etcd member's db, a recording, and a bundle of snapshot save --history",
		"read %s: %w: a %s holds one moment", src.Origin().Location, ErrNoHistory, src.Origin().Kind)
}

// RevisionError says that a source does not have a revision: it is compacted, or not written yet.
type RevisionError struct {
	Where string
	// Wanted is outside of Oldest to Newest.
	Wanted, Oldest, Newest int64
}

func (e *RevisionError) Error() string {
	if e.Wanted > e.Newest {
		return fmt.Sprintf("read %s: there is no revision %d: the newest is %d", e.Where, e.Wanted, e.Newest)
	}
	return fmt.Sprintf("read %s: there is no revision %d any more: the oldest is %d, etcd was compacted there", e.Where, e.Wanted, e.Oldest)
}

// Unwrap is ErrCompacted of a revision that was there.
func (e *RevisionError) Unwrap() error {
	if e.Wanted < e.Oldest {
		return ErrCompacted
	}
	return nil
}

// CheckRevisions refuses revisions that are not there, and a way back.
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
